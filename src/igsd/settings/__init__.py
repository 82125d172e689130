"""Settings: the fields by group with their rules, TOML and ``key=value`` texts, the recipes."""
