"""Encoders: a batch of graphs in, one vector per graph out."""
