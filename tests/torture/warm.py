"""Imported once by the process that all others are forked from: everything a training needs.

A fork with everything imported starts in a hundredth of the time of a new interpreter.
"""

from __future__ import annotations

import contextlib
import io
import tempfile

from igsd.cli.main import main
from tests.torture.materials import toy_graphs, train

with tempfile.TemporaryDirectory() as _folder, contextlib.redirect_stdout(io.StringIO()):
    toy_graphs().save(f"{_folder}/toy.graphs")
    main(train(f"{_folder}/toy.graphs", f"{_folder}/run"))
