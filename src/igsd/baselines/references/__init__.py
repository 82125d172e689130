"""Reference rows: what a gain is measured against."""
