"""The competitor computes what we compute: the same loss, gradients, teacher and embeddings.

On MUTAG, which a package that igsd needs carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("torch_geometric")

from torch_geometric.loader import DataLoader

from benchmarks.plain_data import plain_graphs, plain_views
from benchmarks.plain_pyg import PlainIGSD, copy_weights, pair_loader, train_epoch
from benchmarks.training import (
    SETTINGS,
    feature_map,
    initial_model,
    load,
    recorded_training,
    untrained,
)
from igsd.graphs.graphset import GraphSet
from igsd.training.loop import RandomStream, run_training
from igsd.training.task import epoch_batches


@pytest.fixture(scope="module")
def both() -> tuple[Any, PlainIGSD, Any]:
    """Return our task, the plain model with the same weights, and a loader of the same batches."""
    graphs = load("MUTAG")
    task, optimizer, fabric = recorded_training(graphs)
    model, loader = plain_side(graphs)
    return (task, optimizer, fabric), model, loader


def plain_side(graphs: GraphSet) -> tuple[PlainIGSD, Any]:
    features = feature_map(graphs)
    plain = plain_graphs(graphs, features)
    batches = epoch_batches(len(graphs), SETTINGS.batch_size, SETTINGS.seed, 0)
    loader = pair_loader(plain, plain_views(plain), batches)
    return PlainIGSD(initial_model(features), features.dim), loader


def student_parameters(model: Any) -> list[torch.nn.Parameter]:
    return [p for p in model.parameters() if p.requires_grad]


def test_loss_and_gradients_of_a_step(both: Any) -> None:
    (task, _, _), plain, loader = both
    task.module.train()
    ours = task.losses(0, 0)["total"]
    ours.backward()
    theirs = plain.train().loss(next(iter(loader)))
    theirs.backward()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    pairs = zip(student_parameters(task.module.student), student_parameters(plain), strict=True)
    for number, (mine, other) in enumerate(pairs):
        assert mine.grad is not None, number
        # As a whole: where a ReLU stands at zero, rounding may turn a single entry. The bias
        # before the predictor's BatchNorm has no gradient but rounding.
        apart = float((mine.grad - other.grad).norm())
        assert apart < 1e-5 + 2e-3 * float(other.grad.norm()), number


def test_an_epoch_with_optimiser_and_teacher() -> None:
    graphs = load("MUTAG")
    task, optimizer, fabric = recorded_training(graphs)
    model, loader = plain_side(graphs)
    adam = torch.optim.Adam(student_parameters(model), lr=SETTINGS.learning_rate)
    theirs = train_epoch(model, adam, loader)
    run_training(task, optimizer, fabric, RandomStream(0))
    ours = [float(loss) for loss in task.seen]
    assert len(ours) == 2
    assert ours == pytest.approx(theirs, rel=1e-3)
    teachers = zip(task.module.teacher.parameters(), model.teacher.parameters(), strict=True)
    for mine, other in teachers:
        assert torch.allclose(mine, other, atol=1e-4)


def test_embeddings() -> None:
    graphs = load("MUTAG").take(np.arange(20))
    features = feature_map(graphs)
    plain = PlainIGSD(initial_model(features), features.dim).eval()
    loader = DataLoader(plain_graphs(graphs, features), batch_size=20)
    theirs = plain.embed(next(iter(loader))).numpy()
    np.testing.assert_allclose(untrained(graphs).transform(graphs), theirs, rtol=1e-4, atol=1e-4)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="Parameter 0"):
        copy_weights(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
