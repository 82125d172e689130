"""The command line: one file per command, which is imported when it is asked for."""

COMMANDS = {
    "data": "list, show and import data sets",
    "train": "train a model on graphs, with few labels or none",
    "pretrain": "train an encoder of molecules on a corpus of SMILES",
    "embed": "write the vectors of graphs to a file",
    "predict": "write the predicted class or value of each graph to a file",
    "evaluate": "score a model, embeddings, or a recipe over seeds",
    "compare": "score several methods on the same folds",
    "tune": "search for settings on a data set and write them as a recipe",
    "reproduce": "run and print a table or figure of the paper",
    "report": "make one HTML page from records and runs",
    "index": "build a search index of graph vectors",
    "neighbors": "list the graphs most similar to one",
    "map": "project graphs to two dimensions",
    "cluster": "cluster similar graphs",
    "outliers": "rank graphs by how far they are from all others",
    "cache": "show or clear the cache",
}
"""The commands in the order of ``igsd --help``; each is the module of its name in ``igsd.cli``."""

MAKE_RUNS = ("evaluate", "compare", "tune", "reproduce")
"""The commands whose parsers are in ``igsd.cli.run_parsers``: their own modules are heavy."""

OUTPUTS = {
    "output": "-o",
    "json": "--json",
    "plot": "--plot",
    "records": "--records",
    "log_dir": "--log-dir",
}
"""The arguments that name what a command writes, and their options."""
