"""Methods without a network: kernels on graphs, and embeddings of subtrees."""
