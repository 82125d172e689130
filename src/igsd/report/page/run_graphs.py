"""What is known of the graphs of a run: their classes, and a line of text for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from igsd.errors import IGSDError
from igsd.graphs.label_column import find_labels
from igsd.report.page.run_data import RunData, source_of


def graph_classes(run: RunData) -> tuple[np.ndarray, list[str]]:
    """Return (codes [G], names) of the classes, -1 where unknown: the run's own, or the data's."""
    unknown = np.full(0 if run.vectors is None else len(run.vectors), -1, np.int64)
    if run.graphs is None:
        return unknown, []
    labels, source = run.metrics.get("labels"), str(source_of(run.metrics))
    if labels is None:
        if run.graphs.classes is None:
            return unknown, []
        return np.asarray(run.graphs.classes), [str(name) for name in run.graphs.class_names]
    if labels.get("task") != "classes":
        return unknown, []
    try:
        given = find_labels(run.graphs, source, str(labels["source"]), "classes").y
    except IGSDError:
        return unknown, []
    names = sorted({str(value) for value in given if value is not None})
    return np.array([-1 if v is None else names.index(str(v)) for v in given]), names


def graph_texts(run: RunData, codes: np.ndarray, names: Sequence[str]) -> list[str]:
    """Return what is said of each graph: number, line, class and size, those there are."""
    graphs = run.graphs
    texts = []
    for index, code in enumerate(codes.tolist()):
        parts = [f"graph {index}"]
        if graphs is not None and graphs.lines is not None:
            parts.append(f"line {int(graphs.lines[index])}")
        if code >= 0:
            parts.append(f"class {names[code]}")
        if graphs is not None:
            parts.append(f"{int(graphs.node_ptr[index + 1] - graphs.node_ptr[index])} nodes")
        texts.append(", ".join(parts))
    return texts
