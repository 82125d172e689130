"""The student, its moving-average teacher, and the two wired together."""
