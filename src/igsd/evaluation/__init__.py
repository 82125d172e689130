"""Scores of embeddings by protocols with honest folds, their neighbours, and twins."""

PROTOCOLS = ("nested", "paper", "gckn")
"""The protocols that score vectors or a kernel; ``semi`` and ``qm9`` train inside their splits."""

SPLITS = ("random", "scaffold")
"""How graphs are divided into a training and a test part, see ``evaluation.splits``."""
