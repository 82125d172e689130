"""Graph isomorphism network layer that sees the edges (GINE, Hu et al., 2020)."""

from typing import Any

import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.batches.distinct import Level
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import CategoryOperator, MoleculeBatch
from igsd.encoders.gin import folded, normed_linear
from igsd.encoders.norm import Norm
from igsd.errors import ConfigError


class GINELayer(nn.Module):
    """One GINE layer: relu(BatchNorm(W2 relu(W1 (x_i + sum_j w_ij relu(x_j + e_ij))))).

    Implements Eq. GNN with messages that depend on the edge: e_ij is a linear map of the edge's
    label, or of order, ring, conjugation and stereo of a bond. w_ij is the weight of an edge, or
    the entry of a diffusion view. If widths differ, x is first mapped to the width of the layer.

    Equals PyTorch Geometric's ``GINEConv``, which computes a message for every edge. Edges have few
    categories, so here each pair of a sender and a category is computed once, and a sparse matrix
    sums the messages: see ``CategoryOperator``.
    """

    sees_links = True

    def __init__(self, in_dim: int, out_dim: int, *, batch_norm: bool, links: LinkFeatures) -> None:
        super().__init__()
        table = torch.from_numpy(links.table())
        # Not saved with the weights: it follows from the features of links, which are.
        self.link_table: Tensor
        self.register_buffer("link_table", table, persistent=False)
        self.lift = nn.Linear(in_dim, out_dim) if in_dim != out_dim else nn.Identity()
        self.edge = nn.Linear(table.shape[1], out_dim)
        self.first = nn.Linear(out_dim, out_dim)
        # BatchNorm would cancel a bias.
        self.second = nn.Linear(out_dim, out_dim, bias=not batch_norm)
        self.norm = Norm(out_dim) if batch_norm else nn.Identity()

    def forward(self, x: Tensor, batch: Batch) -> Tensor:
        """Return the next node vectors [n, out] of x [n, in]."""
        if not isinstance(batch, MoleculeBatch):
            raise ConfigError(
                "The encoder GINE needs a batch whose links have categories (MoleculeBatch). "
                f"Got {type(batch).__name__}. Make batches with MoleculeCollator, or give IGSD "
                "encoder='gine'."
            )
        links = batch.links
        sums = added_messages(self.lift(x), self.edge(self.link_table[links.used]), links)
        hidden = self.first(sums).relu_()
        return normed_linear(self.second, self.norm, hidden).relu_()

    @torch.no_grad()
    def distinct(self, x: Tensor, level: Level, used: Tensor) -> Tensor:
        """Return the vectors [U, out] of distinct neighbourhoods from those of the level before.

        Without gradient. ``used``: the categories that occur.
        """
        x, vectors = self.lift(x), self.edge(self.link_table[used])
        result = x.new_empty(level.members.shape[1], self.second.out_features)
        weight, bias = folded(self.second, self.norm)
        for block in level.blocks:
            sent = _sent(x, vectors, block.sender, block.counts)
            own = x.index_select(0, block.own)
            sums = torch.addmm(own, block.arrive.to(x.dtype), sent)
            rows = result[block.start : block.stop]
            torch.addmm(bias, self.first(sums).relu_(), weight.T, out=rows).relu_()
        return result


def added_messages(x: Tensor, vectors: Tensor, links: CategoryOperator) -> Tensor:
    """Return x_i + sum_j w_ij relu(x_j + e_ij), [n, d].

    ``vectors`` [T, d]: the vector e of each category, in the order of ``links.used``.
    """
    with torch.autocast(x.device.type, enabled=False):
        dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
        return _AddedMessages.apply(x.to(dtype), vectors.to(dtype), links)


def _sent(x: Tensor, vectors: Tensor, sender: Tensor, counts: list[int]) -> Tensor:
    """Return relu(x_j + e) of pairs of a sender and a category, [P, d], sorted by category."""
    sent = x.index_select(0, sender)
    for rows, vector in zip(sent.split(counts), vectors, strict=True):
        rows.add_(vector)
    return sent.relu_()


class _AddedMessages(torch.autograd.Function):
    """The messages of each pair of sender and category, then their sum; no gradient to weights."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, vectors: Tensor, links: CategoryOperator) -> Tensor:
        sent = _sent(x, vectors, links.sender, links.counts)
        ctx.save_for_backward(sent)
        ctx.links = links
        return torch.addmm(x, links.arrive.to(x.dtype), sent)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (sent,), links, gradient = ctx.saved_tensors, ctx.links, gradients[0].contiguous()
        arrived = links.arrive_back.to(sent.dtype) @ gradient
        arrived = torch.ops.aten.threshold_backward(arrived, sent, 0)
        sums = [rows.sum(0) for rows in arrived.split(links.counts)]
        to_vectors = torch.stack(sums) if sums else arrived.new_zeros(0, arrived.shape[1])
        to_x = torch.addmm(gradient, links.send_back.to(sent.dtype), arrived)
        return to_x, to_vectors, None
