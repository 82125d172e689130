"""Sets of graphs: packed columns, readers, named data sets and labels."""
