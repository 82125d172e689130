"""One layer of the molecule encoder, forward and backward, against PyG's ``NNConv``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.agreement import largest_difference
from benchmarks.context import Context
from benchmarks.row import Row
from benchmarks.side import Side, run_once
from benchmarks.timing import alternate
from benchmarks.training import load
from benchmarks.worker import peak_mib
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import CategoryOperator, MoleculeBatch, MoleculeCollator
from igsd.encoders.mpnn import EdgeNetwork, EdgeNetworkLayer
from igsd.graphs.graphset import GraphSet

DATA, BAR, REPEATS = "QM9", 5.0, 5
NUM_MOLECULES, DIM, HIDDEN = 64, 64, 128
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Problem:
    """Weights, node vectors and links that both sides get; ``table`` holds the links' vectors."""

    batch: MoleculeBatch
    table: Tensor
    x: Tensor
    network: EdgeNetwork
    layer: EdgeNetworkLayer

    @property
    def leaves(self) -> list[Tensor]:
        """Everything that takes a gradient."""
        return [self.x, *self.network.parameters(), *self.layer.parameters()]


def rows(context: Context) -> list[Row]:
    """Return two rows, CPU time and memory of a layer on a batch of complete graphs."""
    context.require(DATA)
    with (
        Side("benchmarks.mpnn:ours_side", data=DATA) as ours,
        Side("benchmarks.mpnn:nnconv_side", data=DATA) as theirs,
    ):
        measured = alternate({"ours": ours, "theirs": theirs}, context.rounds(REPEATS))
    differs = run_once("benchmarks.mpnn:compare_side", data=DATA).result
    memory = [
        run_once("benchmarks.mpnn:memory_side", data=DATA, side=side).result
        for side in ("ours", "theirs")
    ]
    time = [1e3 * measured[side].cpu for side in ("ours", "theirs")]
    note = (
        f"NNConv; {NUM_MOLECULES} molecules, complete graphs, d {DIM}, {HIDDEN} hidden units, "
        f"forward and backward; output and gradients within {differs:.0e}"
    )
    agrees = differs <= TOLERANCE
    return [
        Row(name, DATA, mine, other, other / mine, BAR, unit, note, agrees=agrees)
        for name, unit, (mine, other) in (
            ("MPNN layer / NNConv", "ms", time),
            ("MPNN layer, memory / NNConv", "MiB", memory),
        )
    ]


def ours_side(data: str) -> Callable[[], None]:
    """Return the work of our layer, what it prepares for a batch included."""
    problem = make_problem(load(data))
    return lambda: _backward(ours(problem), problem)


def nnconv_side(data: str) -> Callable[[], None]:
    """Return the work of PyG's layer."""
    problem = make_problem(load(data))
    layer = nnconv(problem)
    return lambda: _backward(layer(), problem)


def compare_side(data: str) -> Callable[[], float]:
    """Return the work of running both; its result: the largest difference, gradients included."""
    problem = make_problem(load(data))
    return lambda: difference(problem)


def memory_side(data: str, side: str) -> Callable[[], float]:
    """Return the work of running one side for the first time; its result: MiB it took at most."""
    problem = make_problem(load(data))
    forward = nnconv(problem) if side == "theirs" else lambda: ours(problem)

    def work() -> float:
        _forget_peak()
        before = peak_mib()
        _backward(forward(), problem)
        # What is smaller than a page or so cannot be told from nothing.
        return max(peak_mib() - before, 0.1)

    return work


def make_problem(graphs: GraphSet, num_molecules: int = NUM_MOLECULES) -> Problem:
    """Return a batch of molecules drawn from ``graphs``, and fresh weights."""
    chosen = np.random.default_rng(0).choice(len(graphs), num_molecules, replace=False)
    part = graphs.take(np.sort(chosen))
    links = LinkFeatures.fit(part)
    collator = MoleculeCollator(part, FeatureMap.fit(part), links, torch.device("cpu"))
    batch = collator.molecules(np.arange(len(part)))
    torch.manual_seed(0)
    table = torch.from_numpy(links.table())
    network = EdgeNetwork(table.shape[1], HIDDEN, DIM)
    x = torch.randn(len(batch.x), DIM, requires_grad=True)
    return Problem(batch, table, x, network, EdgeNetworkLayer(DIM, mean=False))


def ours(problem: Problem) -> Tensor:
    """Return the output of our layer; the operator of the batch is made anew each time."""
    batch = problem.batch
    links = CategoryOperator(batch.edge_index, batch.edge_weight, batch.category, len(batch.x))
    return problem.layer(problem.x, problem.network(problem.table[links.used]), links)


def nnconv(problem: Problem) -> Callable[[], Tensor]:
    """Return PyG's layer with the same weights, applied to the same molecules."""
    from torch_geometric.nn import NNConv

    network = nn.Sequential(problem.network.first, nn.ReLU(), problem.network.second)
    conv = NNConv(DIM, DIM, network, aggr="add")
    conv.lin.weight, conv.bias = problem.layer.root.weight, problem.layer.root.bias
    receiver, sender = problem.batch.edge_index
    edge_index, links = torch.stack([sender, receiver]), problem.table[problem.batch.category]
    return lambda: conv(problem.x, edge_index, links)


def difference(problem: Problem) -> float:
    """Return the largest difference of both outputs and of all gradients."""
    results: list[list[Any]] = []
    for forward in (lambda: ours(problem), nnconv(problem)):
        out = forward()
        gradients = torch.autograd.grad(out.square().mean(), problem.leaves)
        results.append([out.detach().numpy(), *(gradient.numpy() for gradient in gradients)])
    return max(largest_difference(a, b) for a, b in zip(*results, strict=True))


def _backward(out: Tensor, problem: Problem) -> None:
    torch.autograd.grad(out.square().mean(), problem.leaves)


def _forget_peak() -> None:
    """Let the kernel's mark of the largest resident set begin again, where it can."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")
