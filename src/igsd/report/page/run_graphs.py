"""What is known of the graphs of a run: their classes or numbers, and a line of text for each."""

from __future__ import annotations

import numpy as np

from igsd.errors import IGSDError
from igsd.graphs.build import encode_categories
from igsd.graphs.given_labels import GivenLabels
from igsd.graphs.label_column import find_labels
from igsd.report.page.map_classes import MapClasses
from igsd.report.page.map_numbers import MapNumbers
from igsd.report.page.run_data import RunData, source_of
from igsd.wording import enumerated


def graph_labels(run: RunData) -> MapClasses | MapNumbers:
    """Return the classes or numbers that the run learned, or else the classes of its data."""
    unknown = MapClasses(np.full(0 if run.vectors is None else len(run.vectors), -1), [])
    if run.graphs is None:
        return unknown
    labels = run.metrics.get("labels")
    if labels is None:
        if run.graphs.classes is None:
            return unknown
        return MapClasses(run.graphs.classes, [str(name) for name in run.graphs.class_names])
    try:
        asked = str(source_of(run.metrics)), str(labels["source"]), labels["task"]
        given = find_labels(run.graphs, *asked, told=False)
    except (IGSDError, KeyError):
        return unknown
    return _classes(given) if given.are_classes else _numbers(given)


def _classes(given: GivenLabels) -> MapClasses:
    codes, names = encode_categories(given.y)
    return MapClasses(codes, [str(name) for name in names])


def _numbers(given: GivenLabels) -> MapNumbers:
    """Return the first column of numbers, with a note where there are more."""
    name, *others = given.names
    note = f"The colours tell {name}; learned as well: {enumerated(others)}." if others else ""
    return MapNumbers(given.y.reshape(len(given.y), -1)[:, 0], name, note)


def graph_texts(run: RunData, labels: MapClasses | MapNumbers, count: int) -> list[str]:
    """Return what is said of each graph: number, line, class or number learned, and size."""
    graphs = run.graphs
    texts = []
    for index in range(count):
        parts = [f"graph {index}"]
        if graphs is not None and graphs.lines is not None:
            parts.append(f"line {int(graphs.lines[index])}")
        if said := labels.text(index):
            parts.append(said)
        if graphs is not None:
            parts.append(f"{int(graphs.node_ptr[index + 1] - graphs.node_ptr[index])} nodes")
        texts.append(", ".join(parts))
    return texts
