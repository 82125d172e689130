"""Experiments: what is run, and a record of every run. Three nouns: Exhibit, Run, Record.

- ``exhibits``: a table or figure as data (``paper/NAME.toml``), and the runs it is made of;
- ``run``: one method on one data set under one protocol with one seed, which knows its settings,
  its place and whether a record is its own, and executes itself into a record;
- ``protocols``: how a run is split and scored (``vector_protocols``: by an SVM under folds);
- ``records``: the file that a run leaves, and what makes two runs the same;
- ``work`` and ``execute``: which runs are left, and the one executor that makes them;
- ``scoring``: vectors under folds; ``tune``: a search for settings;
- ``run_folder`` and ``trained``: what `igsd train` leaves.
"""

ALGORITHM = 2
"""Version of what is trained and scored. Raise it when the same settings give other numbers."""
