"""Views of graphs, which student and teacher compare with the graph itself."""
