"""Baselines that learn from few labels."""
