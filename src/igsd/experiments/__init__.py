"""Experiments: an Exhibit names Runs, and every Run leaves a Record."""

ALGORITHM = 2
"""Version of what is trained and scored. Raise it when the same settings give other numbers."""

FEW_LABELS_PROTOCOLS = {
    "semi": """\
few labels: 10 % test, 5 % of the training part labelled; methods are trained inside each
split, for a number of epochs fixed in advance. The protocol hides the other labels.
Graphs whose class (with --targets: number) is unknown are trained on without a label and
never tested; both shares refer to the other graphs""",
    "qm9": """\
properties of molecules: 5,000 labelled, 10,000 for validation and for the test each; mean
absolute error, and its ratio to --method supervised (mean-teacher, infograph,
infograph-star and igsd are the others)""",
    "semi-paper": "as semi, but the best epoch on the test part; optimistic, printed beside semi",
}
"""The protocols that train inside their splits, and their texts in ``igsd evaluate --help``.

They stand here because the modules of the protocols are too heavy for a help text."""
