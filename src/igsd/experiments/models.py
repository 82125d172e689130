"""``load_model``: what the command line calls MODEL, a run folder or a file written by ``save``."""

from __future__ import annotations

import os
from typing import Any

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.semi_methods import SEMI_METHODS
from igsd.estimators import IGSD
from igsd.estimators.label_estimator import LabelEstimator
from igsd.model_file import model_path
from igsd.storage import read_header

Model = IGSD | LabelDegreeHistogram | LabelEstimator


def load_model(path: str | os.PathLike[str]) -> Model:
    """Return the fitted estimator in a run folder or a file; raises ``StorageError`` for others."""
    source = model_path(path)
    header = read_header(source) or {}
    kind = _estimators().get(str(header.get("estimator")), IGSD)
    return kind.load(source)


def _estimators() -> dict[str, Any]:
    """Return the estimators that a file may hold, by name; any other name is left to ``IGSD``."""
    labelled = [kind for m in SEMI_METHODS.values() for kind in (m.classifier, m.regressor)]
    return {kind.__name__: kind for kind in (LabelDegreeHistogram, *labelled)}
