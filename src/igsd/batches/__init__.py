"""Batches: graphs as tensors, ready for an encoder."""
