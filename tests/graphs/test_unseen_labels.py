from __future__ import annotations

import warnings

import numpy as np
import pytest

from igsd.errors import IGSDWarning
from igsd.graphs.build import from_edges
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.unseen_labels import warn_of_unseen_labels


def dots(labels: list[int], names: tuple[str | int, ...]) -> GraphSet:
    """Return a graph of isolated nodes with these labels."""
    none = np.zeros(0, np.int64)
    return from_edges(
        [len(labels)],
        none,
        none,
        node_labels=np.array(labels, np.int32),
        node_label_names=names,
        name="new",
    )


FEATURES = FeatureMap.fit(dots([0, 1], ("C", "N")), "label")


def test_some_are_unseen() -> None:
    new = dots([0, 1, 1, 2, -1], ("C", "Xx", "Yy"))
    message = r"3 of 5 nodes of 'new' .* not seen \(Xx, Yy\): they count as no label"
    with pytest.warns(IGSDWarning, match=message):
        warn_of_unseen_labels(FEATURES, new)


def test_all_are_unseen() -> None:
    message = r"Not one node label of 'new' .*: it has 6, 7, the model knows C, N"
    with pytest.warns(IGSDWarning, match=message):
        warn_of_unseen_labels(FEATURES, dots([0, 1, -1], (6, 7)))


@pytest.mark.parametrize(
    ("features", "graphs"),
    [
        (FEATURES, dots([0, -1], ("N", "Xx"))),
        (FEATURES, dots([-1, -1], ("Xx",))),
        (FeatureMap.fit(dots([0], ("C",)), "degree"), dots([0], ("Xx",))),
    ],
)
def test_nothing_to_say(features: FeatureMap, graphs: GraphSet) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_unseen_labels(features, graphs)
