"""What a set of graphs is: packed columns, readers, named data sets, features, batches."""
