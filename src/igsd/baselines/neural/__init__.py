"""Baselines that train a network without labels."""
