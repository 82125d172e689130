"""Shipped recipes: one TOML file each, with the reasons for its values."""
