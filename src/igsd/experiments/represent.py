"""``represent``: what a method makes of graphs, vectors or a kernel, and what that took."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.baselines.registry import build
from igsd.errors import IGSDWarning
from igsd.experiments.vectors import Vectors, compared_by, delivered
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class Represented:
    """Graphs as a method sees them.

    ``values``: vectors [G, d], or the kernel of all pairs [G, G] where ``kernel``, which says how
    an SVM takes them (``svm_kernel``), is ``precomputed``. ``seconds``: of fitting (``train``) and
    of making the values (``embed``), and what both took of the processor alone. ``notes``: what was
    done otherwise than asked, e.g. degrees in place of node labels. ``history``: losses per epoch,
    empty for methods without any.
    """

    values: np.ndarray
    kernel: str
    seconds: dict[str, float]
    notes: tuple[str, ...]
    history: list[dict[str, float]]

    def vectors(self) -> Vectors:
        """Return the values as ``score_seed`` takes them."""
        return compared_by(self.values, self.kernel)


def represent(graphs: GraphSet, method: str, config: Any, protocol: str) -> Represented:
    """Return what the method, fitted on ``graphs`` with these settings, makes of them.

    ``protocol``: the one that it is for, which decides between kernel and vectors.

    A plain function of plain data, so that ``run_measured`` can run it in a process of its own.
    Classes are not read: the graphs may well come without.
    """
    estimator = build(method, config)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", IGSDWarning)
        begin, used = time.perf_counter(), time.process_time()
        estimator.fit(graphs)
        middle = time.perf_counter()
        values, kernel = delivered(estimator, graphs, protocol)
        end, used = time.perf_counter(), time.process_time() - used
    texts = [str(warning.message) for warning in said if issubclass(warning.category, IGSDWarning)]
    seconds = {"train": middle - begin, "embed": end - middle, "processor": used}
    seconds = {key: round(value, 3) for key, value in seconds.items()}
    history = list(getattr(estimator, "history_", []))
    return Represented(values, kernel, seconds, tuple(dict.fromkeys(texts)), history)
