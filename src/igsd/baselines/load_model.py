"""``load_model``: what the command line calls MODEL, a run folder or a file written by ``save``."""

from __future__ import annotations

import os
from typing import Any

from igsd.baselines.kernel_base import PatternKernel, VectorKernel
from igsd.baselines.registry import has_kernel, load
from igsd.baselines.semi_methods import SEMI_METHODS
from igsd.model_file import model_path
from igsd.storage import read_header


def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator in a run folder or a file, of whatever method it is.

    Raises ``StorageError`` for anything else.
    """
    source = model_path(path)
    kind = str((read_header(source) or {}).get("estimator"))
    labelled = {c.__name__: c for m in SEMI_METHODS.values() for c in (m.classifier, m.regressor)}
    return labelled[kind].load(source) if kind in labelled else load(source)


def note_on_vectors(model: Any) -> str | None:
    """Return what must be known of the vectors of a model, None where they are what they seem."""
    if not has_kernel(model) or isinstance(model, VectorKernel | PatternKernel):
        return None
    return (
        f"{type(model).__name__} compares graphs and has no vectors of its own: each column is the "
        "similarity to one graph of its training."
    )
