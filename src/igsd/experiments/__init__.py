"""Experiments: what is run, and a record of every run.

From a table of the paper to its records, file by file:

- ``exhibit``: a table or figure as data (``paper/NAME.toml``);
- ``runs``: the runs it is made of, each one method, data set, protocol and seed;
- ``work``: those that have no record yet, and why others are left alone;
- ``job``: the runs that one process makes; ``schedule`` and ``workers``: many jobs side by side;
- ``dispatch``: the plan of a run. ``plan`` says what all plans offer: ``recipe_plan`` (IGSD),
  ``method_plan`` (any method without labels), ``split_plan`` and its kinds (few labels);
- ``identity`` and ``records``: what makes two runs the same, and the file that one leaves.

``scoring`` and ``rows`` turn vectors into the rows of a record. ``run_folder`` holds what
`igsd train` leaves, ``tuning`` and its files a search for settings.
"""

ALGORITHM = 2
"""Version of what is trained and scored. Raise it when the same settings give other numbers."""
