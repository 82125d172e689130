"""``CategoryOperator``: messages between nodes, a matrix of its own for each category of link."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class CategoryOperator:
    """Computes sum_j w_ij x_j Theta[t_ij] for every node i, where t_ij is the link's category.

    A node sends the same vector over all its links of one category. So each pair (category, sender)
    that occurs is multiplied by its Theta once, all senders of a category in one product, and
    a sparse matrix adds up what arrives. There are never more such pairs than links, on a complete
    graph about half as many, and nothing larger than [pairs, d] is made.

    ``edge_index`` [2, E] int64: receiver i, in ascending order, and sender j of every link;
    ``weight`` [E], ``category`` [E] int64. ``used`` [T] int64: the categories that occur, the order
    of the matrices. ``row_sums`` [n]: the sum of w_ij over j.
    """

    def __init__(
        self, edge_index: Tensor, weight: Tensor, category: Tensor, num_nodes: int
    ) -> None:
        receiver, sender = edge_index
        num_categories = int(category.max()) + 1 if len(category) else 0
        key = category * num_nodes + sender
        occurs = torch.zeros(num_categories, num_nodes, dtype=torch.bool, device=key.device)
        occurs.view(-1)[key] = True
        place = occurs.view(-1).cumsum(0, dtype=torch.int32) - 1
        counts = occurs.sum(1)
        self.used = counts.nonzero().squeeze(1)
        self.counts: list[int] = counts[self.used].tolist()
        self.sender = occurs.nonzero()[:, 1]
        self.row_sums = weight.new_zeros(num_nodes).index_add_(0, receiver, weight)
        self._write_sums(receiver, place[key], weight, num_nodes)

    def _write_sums(self, receiver: Tensor, pair: Tensor, weight: Tensor, n: int) -> None:
        """Write down the sparse matrices of the sums; ``pair`` [E]: what each link carries."""
        num_pairs = len(self.sender)
        self.arrive = _rows(_bounds(receiver, n), pair, weight, (n, num_pairs))
        # The gradient is a product with the transposed matrices.
        order, bounds = pair.argsort(stable=True), _bounds(pair, num_pairs)
        self.arrive_back = _rows(bounds, receiver[order], weight[order], (num_pairs, n))
        ones = torch.ones_like(self.sender, dtype=weight.dtype)
        own, bounds = self.sender.argsort(stable=True), _bounds(self.sender, n)
        self.send_back = _rows(bounds, own, ones, (n, num_pairs))

    def messages(self, x: Tensor, matrices: Tensor) -> Tensor:
        """Return the sums [n, e] of node vectors x [n, d] through ``matrices`` [T, d, e]."""
        with torch.autocast(x.device.type, enabled=False):
            dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
            return _Messages.apply(x.to(dtype), matrices.to(dtype), self)


class _Messages(torch.autograd.Function):
    """The products category by category, then the sparse sum; links take no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, matrices: Tensor, links: CategoryOperator) -> Tensor:
        ctx.save_for_backward(x, matrices)
        ctx.links = links
        sent = _by_category(x.index_select(0, links.sender), matrices, links.counts)
        return links.arrive.to(x.dtype) @ sent

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        x, matrices = ctx.saved_tensors
        links: CategoryOperator = ctx.links
        arrived = links.arrive_back.to(x.dtype) @ gradients[0].contiguous()
        to_sent = _by_category(arrived, matrices.transpose(1, 2), links.counts)
        to_matrices = torch.empty_like(matrices)
        sent = x.index_select(0, links.sender).split(links.counts)
        for category, (a, b) in enumerate(zip(sent, arrived.split(links.counts), strict=True)):
            torch.mm(a.T, b, out=to_matrices[category])
        return links.send_back.to(x.dtype) @ to_sent, to_matrices, None


def _by_category(rows: Tensor, matrices: Tensor, counts: list[int]) -> Tensor:
    """Return the rows of each category times its matrix; rows stand sorted by category."""
    result = rows.new_empty(len(rows), matrices.shape[2])
    pieces = zip(rows.split(counts), result.split(counts), matrices, strict=True)
    for piece, target, matrix in pieces:
        torch.mm(piece, matrix, out=target)
    return result


def _bounds(index: Tensor, size: int) -> Tensor:
    counts = index.bincount(minlength=size)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _rows(row_ptr: Tensor, col: Tensor, weight: Tensor, size: tuple[int, int]) -> Tensor:
    return torch.sparse_csr_tensor(row_ptr.int(), col.int(), weight, size, check_invariants=False)
