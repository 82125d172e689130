from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from igsd import IGSD
from igsd.batches import subtrees
from igsd.batches.subtrees import SubtreeTargets
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import HOST, TINY, make_graphs, relabelled


def bags(graphs: GraphSet, height: int) -> list[Counter[object]]:
    """Return the subtrees of each graph with their counts, as nested tuples."""
    found = []
    for number in range(len(graphs)):
        one = graphs.take([number])
        rows, columns = one.adjacency.rows(), one.adjacency.global_columns(one.node_ptr)
        neighbours = [columns[rows == v].tolist() for v in range(one.num_nodes)]
        names: list[object] = [one.node_label_names[code] for code in one.node_labels]
        bag: Counter[object] = Counter(names)
        for _ in range(height):
            names = [
                (own, tuple(sorted(map(repr, (names[u] for u in around)))))
                for own, around in zip(names, neighbours, strict=True)
            ]
            bag.update(names)
        found.append(bag)
    return found


def test_weights_are_tf_idf_of_the_subtrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtrees, "FEWEST_GRAPHS", 2)
    graphs = make_graphs(12)
    targets, found = SubtreeTargets.count(graphs, 2), bags(graphs, 2)
    held_by = Counter(name for bag in found for name in bag)
    kept = [name for name, count in held_by.items() if 2 <= count < len(graphs)]
    assert targets.width == len(kept)
    rows = targets.rows(np.arange(12), HOST)
    for row, bag in zip(rows, found, strict=True):
        weights = [
            (1 + math.log(count)) * math.log(12 / held_by[name])
            for name, count in bag.items()
            if name in kept
        ]
        expected = sorted(weight / sum(weights) for weight in weights)
        assert sorted(row[row > 0].tolist()) == pytest.approx(expected, rel=1e-5)


def test_some_rows_are_those_of_all() -> None:
    targets = SubtreeTargets.count(make_graphs(20), 1)
    chosen = np.array([7, 0, 19])
    assert torch.equal(targets.rows(chosen, HOST), targets.rows(np.arange(20), HOST)[chosen])


def test_rows_of_a_large_set_are_counted_on_the_way() -> None:
    """Recipe molecules would otherwise need memory in proportion to millions of molecules."""
    graphs = make_graphs(30)
    whole = SubtreeTargets.count(graphs, 2)
    large = replace(whole, stored=None)
    chosen = np.array([3, 29, 0])
    assert torch.equal(large.rows(chosen, HOST), whole.rows(chosen, HOST))
    sampled = SubtreeTargets.count(graphs, 2, most_nodes=graphs.num_nodes // 2)
    assert sampled.stored is None
    assert 0 < sampled.width < whole.width
    assert sampled.rows(chosen, HOST).sum(dim=1).max() == pytest.approx(1.0)


def test_relabelled_nodes_change_nothing() -> None:
    graphs = make_graphs(15)
    one, other = (SubtreeTargets.count(g, 2) for g in (graphs, relabelled(graphs)))
    assert np.array_equal(one.keys, other.keys)
    every = np.arange(15)
    torch.testing.assert_close(one.rows(every, HOST), other.rows(every, HOST))


def test_only_the_most_common_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtrees, "MOST", 3)
    targets = SubtreeTargets.count(make_graphs(30), 2)
    assert targets.width == 3
    assert targets.rows(np.arange(30), HOST).sum(dim=1).max() == pytest.approx(1.0)


@pytest.mark.parametrize("num_graphs", [2, 4])
def test_few_graphs_share_no_subtree_and_still_have_targets(num_graphs: int) -> None:
    assert SubtreeTargets.count(make_graphs(num_graphs), 2).width > 0


def test_equal_graphs_have_nothing_to_tell_apart() -> None:
    graphs = from_edges([2, 2], np.array([0, 2]), np.array([1, 3]))
    targets = SubtreeTargets.count(graphs, 1)
    assert targets.rows(np.arange(2), HOST).sum() == 0
    model = IGSD(**TINY, subtree_weight=1.0, random_state=0).fit(graphs)
    assert np.isfinite(model.transform(graphs)).all()


def test_the_loss_of_the_subtrees_falls_and_the_layer_is_not_kept(tmp_path) -> None:
    graphs = make_graphs(40)
    settings = TINY | {"epochs": 12, "learning_rate": 0.01, "hidden_dim": 32}
    model = IGSD(**settings, subtree_weight=1.0, infonce_weight=0.1, random_state=0).fit(graphs)
    losses = [entry["subtrees"] for entry in model.history_]
    assert losses[-1] < losses[0] - 0.2
    assert model.history_[0]["total"] == pytest.approx(
        0.1 * model.history_[0]["infonce"] + losses[0], rel=1e-5
    )
    assert not any("subtree" in name for name in model.network_.state_dict())
    model.save(tmp_path / "model")
    again = IGSD.load(tmp_path / "model")
    assert np.array_equal(again.transform(graphs), model.transform(graphs))
