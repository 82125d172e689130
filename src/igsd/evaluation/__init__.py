"""Embeddings: their files, their neighbours, and their scores by protocols with honest folds."""

PROTOCOLS = ("nested", "paper", "gckn")
"""The protocols that score vectors or a kernel; ``semi`` and ``qm9`` train inside their splits."""
