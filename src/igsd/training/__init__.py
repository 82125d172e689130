"""Training: one loop, what a step does, and checkpoints that resume to the same result."""
