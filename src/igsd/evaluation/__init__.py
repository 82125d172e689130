"""Embeddings: their files, their neighbours, and their scores by protocols with honest folds."""
