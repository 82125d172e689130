"""``represent``: what a method makes of graphs, vectors or a kernel, and what that took."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.baselines.registry import build, has_kernel
from igsd.errors import IGSDWarning
from igsd.experiments.scoring import KernelMatrix, Vectors
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class Represented:
    """Graphs as a method sees them.

    ``values``: vectors [G, d], or with ``is_kernel`` the kernel of all pairs [G, G]. ``seconds``:
    of fitting (``train``) and of making the values (``embed``), and what both took of the processor
    alone. ``notes``: what was done otherwise than asked, e.g. degrees in place of node labels.
    ``history``: losses per epoch, empty for methods without any.
    """

    values: np.ndarray
    is_kernel: bool
    seconds: dict[str, float]
    notes: tuple[str, ...]
    history: list[dict[str, float]]

    def vectors(self) -> Vectors:
        """Return the values as ``score_seed`` takes them."""
        return KernelMatrix(self.values) if self.is_kernel else self.values


def represent(graphs: GraphSet, method: str, config: Any) -> Represented:
    """Return what the method, fitted on ``graphs`` with these settings, makes of them.

    A plain function of plain data, so that ``run_measured`` can run it in a process of its own.
    Classes are not read: the graphs may well come without.
    """
    estimator = build(method, config)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", IGSDWarning)
        begin, used = time.perf_counter(), time.process_time()
        estimator.fit(graphs)
        middle = time.perf_counter()
        is_kernel = has_kernel(estimator)
        values = estimator.kernel(graphs) if is_kernel else estimator.transform(graphs)
        end, used = time.perf_counter(), time.process_time() - used
    texts = [str(warning.message) for warning in said if issubclass(warning.category, IGSDWarning)]
    seconds = {"train": middle - begin, "embed": end - middle, "processor": used}
    seconds = {key: round(value, 3) for key, value in seconds.items()}
    history = list(getattr(estimator, "history_", []))
    return Represented(values, is_kernel, seconds, tuple(dict.fromkeys(texts)), history)
