"""An epoch of IGSD against its dense matrix products alone, at the same shapes.

What the products take is what no implementation in this number format can go below; all else
(sparse products, BatchNorm, activations, readouts, the optimiser) is overhead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.side import Side
from benchmarks.timing import alternate
from benchmarks.training import SETTINGS, batches_of, feature_map, load

NAME, BARS, REPEATS = "epoch / products alone", {"MUTAG": None, "NCI1": 1.8}, 7


def rows(context: Context) -> list[Row]:
    """Return a row for each data set, CPU seconds of an epoch on one thread."""
    return [row for data in BARS for row in guarded(NAME, data, _rows, context, data)]


def _rows(context: Context, data: str) -> list[Row]:
    context.require(data)
    with (
        Side("benchmarks.training:epoch_side", data=data) as ours,
        Side("benchmarks.roofline:products_side", data=data) as products,
    ):
        sides = {"ours": ours, "products": products}
        measured = alternate(sides, context.rounds(REPEATS))
    epoch, floor = measured["ours"].cpu, measured["products"].cpu
    gflops = measured["products"].first / floor / 1e9
    note = (
        f"student forward and backward, teacher forward, heads, into memory that is there: "
        f"{gflops:.0f} GFLOPS"
    )
    return [Row(NAME, data, epoch, floor, epoch / floor, BARS[data], "s", note, True)]


class Product(NamedTuple):
    """One linear layer of a network: x [n, a] and weight [b, a] give y [n, b].

    ``learns_input``: whether the gradient with respect to x is needed too.
    """

    x: Tensor
    weight: Tensor
    y: Tensor
    learns_input: bool

    @classmethod
    def make(cls, n: int, a: int, b: int, learns_input: bool = True) -> Product:
        """Return a layer with numbers in it and memory for its results."""
        return cls(torch.randn(n, a), torch.randn(b, a), torch.empty(n, b), learns_input)

    def forward(self, n: int) -> int:
        """Compute y of the first n rows and return the number of operations."""
        torch.mm(self.x[:n], self.weight.t(), out=self.y[:n])
        return 2 * n * self.weight.numel()

    def backward(self, n: int, d_weight: Tensor, d_x: Tensor) -> int:
        """Compute both gradients of the first n rows, y in the place of its own gradient."""
        torch.mm(self.y[:n].t(), self.x[:n], out=d_weight)
        if self.learns_input:
            torch.mm(self.y[:n], self.weight, out=d_x[:n])
        return 2 * n * self.weight.numel() * (1 + self.learns_input)


def products_side(data: str) -> Callable[[], int]:
    """Return the work of all dense products of an epoch; its result: how many operations."""
    graphs = load(data)
    batches = batches_of(graphs)
    counts = graphs.node_counts()
    # Graphs and their views pass the networks together: twice the nodes, twice the graphs.
    sizes = [(2 * int(counts[batch].sum()), 2 * len(batch)) for batch in batches]
    nodes, graphs_most = (max(size) for size in zip(*sizes, strict=True))
    encoder = _encoder(nodes, feature_map(graphs).dim)
    projector, predictor = _heads(graphs_most)
    gradients = [torch.empty_like(layer.weight) for layer in (*encoder, *projector, *predictor)]
    inputs = [torch.empty_like(layer.x) for layer in (*encoder, *projector, *predictor)]

    def work() -> int:
        total = 0
        for n, b in sizes:
            student = [(layer, n) for layer in encoder]
            student += [(layer, b) for layer in (*projector, *predictor)]
            teacher = student[: len(encoder) + len(projector)]
            total += sum(layer.forward(rows) for layer, rows in student + teacher)
            total += sum(
                layer.backward(rows, d_weight, d_x)
                for (layer, rows), d_weight, d_x in zip(student, gradients, inputs, strict=True)
            )
        return total

    return work


def _encoder(nodes: int, in_dim: int) -> list[Product]:
    d = SETTINGS.hidden_dim
    layers = [Product.make(nodes, in_dim, d, learns_input=False), Product.make(nodes, d, d)]
    return layers + [Product.make(nodes, d, d) for _ in range(2 * (SETTINGS.num_layers - 1))]


def _heads(graphs: int) -> tuple[list[Product], list[Product]]:
    width, hidden, out = (
        SETTINGS.hidden_dim * SETTINGS.num_layers,
        SETTINGS.head_hidden_dim,
        SETTINGS.head_dim,
    )
    projector = [Product.make(graphs, width, hidden), Product.make(graphs, hidden, out)]
    return projector, [Product.make(graphs, out, hidden), Product.make(graphs, hidden, out)]
