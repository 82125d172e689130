"""Experiments: what is run, and a record of every run. Three nouns: Exhibit, Run, Record."""

ALGORITHM = 2
"""Version of what is trained and scored. Raise it when the same settings give other numbers."""

SPLIT_PROTOCOLS = {
    "semi": """\
few labels: 10 % test, 5 % of the training part labelled; methods are trained inside each
split, for a number of epochs fixed in advance. Labels are hidden for you. Graphs of an
unknown class (--targets: number) are trained on without one and never tested; the shares
are of the others""",
    "qm9": """\
properties of molecules: 5,000 labelled, 10,000 for validation and for the test each; mean
absolute error, and its ratio to --method supervised (mean-teacher, infograph,
infograph-star and igsd are the others)""",
}
"""The protocols that train inside their splits, and their texts in ``igsd evaluate --help``.

They stand here because the modules of the protocols are too heavy for a help text."""
