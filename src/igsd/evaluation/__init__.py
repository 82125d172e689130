"""Scores of embeddings: SVM protocols, their folds, and rows to compare with."""
