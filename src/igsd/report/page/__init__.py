"""The page: tables, figures, records and runs in one HTML file that loads nothing."""
