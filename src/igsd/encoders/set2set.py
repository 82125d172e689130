"""Set2Set readout (Vinyals et al., 2016): a graph is asked several questions about its nodes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from igsd.encoders.readout import readout


class Set2Set(nn.Module):
    """Reads a graph's nodes by attention, ``num_steps`` times, and remembers in an LSTM.

    In each step the LSTM asks a question q [B, d]; a node answers by a_v = softmax_v(x_v . q) over
    the nodes of its graph, and the answer is r = sum_v a_v x_v. The result is (q, r) of the last
    step, ``out_dim`` = 2 d wide. Implements the readout of Eq. GNN; the same as PyTorch Geometric's
    ``Set2Set``.
    """

    def __init__(self, dim: int, num_steps: int = 3) -> None:
        super().__init__()
        self.num_steps = num_steps
        self.out_dim = 2 * dim
        self.memory = nn.LSTMCell(2 * dim, dim)

    def forward(self, x: Tensor, ptr: Tensor) -> Tensor:
        """Return [B, 2 d] of node vectors x [n, d]; ``ptr`` [B + 1] is where each graph begins."""
        lengths = ptr[1:] - ptr[:-1]
        graph = torch.arange(len(lengths), device=ptr.device).repeat_interleave(lengths)
        answer = x.new_zeros(len(lengths), self.out_dim)
        hidden = cell = x.new_zeros(len(lengths), self.out_dim // 2)
        for _ in range(self.num_steps):
            hidden, cell = self.memory(answer, (hidden, cell))
            attention = segment_softmax((x * hidden[graph]).sum(1, keepdim=True), ptr, graph)
            answer = torch.cat([hidden, readout(attention * x, ptr, ("sum",))], dim=1)
        return answer


def segment_softmax(scores: Tensor, ptr: Tensor, graph: Tensor) -> Tensor:
    """Return the softmax of ``scores`` [n, 1] over the nodes of each graph.

    ``graph`` [n] is the graph of each node. The largest score of a graph is taken off first, so
    large scores do not overflow; that changes neither value nor gradient.
    """
    largest = readout(scores.detach(), ptr, ("max",))
    weights = (scores - largest[graph].to(scores.dtype)).exp()
    return weights / readout(weights, ptr, ("sum",))[graph].to(scores.dtype)
