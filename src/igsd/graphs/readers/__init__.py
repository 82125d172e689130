"""Readers: one file for each form of input."""
