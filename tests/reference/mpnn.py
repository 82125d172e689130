"""The molecule encoder as plain loops over one graph, in float64."""

from __future__ import annotations

import math

import numpy as np
from torch import nn

from igsd.encoders.mpnn import MPNN, EdgeNetwork
from tests.reference.encoders import linear, relu

Link = tuple[int, int, np.ndarray, float]
"""Receiver, sender, vector and weight of a link."""


def edge_matrix(network: EdgeNetwork, link: np.ndarray) -> np.ndarray:
    """Return the matrix [d, d] that the edge network makes of a link."""
    return linear(network.second, relu(linear(network.first, link))).reshape(network.dim, -1)


def messages(model: MPNN, x: np.ndarray, links: list[Link]) -> np.ndarray:
    """Return x_i R + b + sum_j w_ij x_j Theta(e_ij), divided by sum_j w_ij."""
    rows = []
    for i in range(len(x)):
        received, total = np.zeros(x.shape[1]), 0.0
        for receiver, sender, vector, weight in links:
            if receiver == i:
                received += weight * (x[sender] @ edge_matrix(model.edge_network, vector))
                total += weight
        if total:
            received /= total
        rows.append(received + linear(model.message.root, x[i]))
    return np.array(rows)


def sigmoid(v: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + e^-v)."""
    return np.array([1.0 / (1.0 + math.exp(-a)) for a in v])


def _gates(cell: nn.GRUCell | nn.LSTMCell, v: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return what a recurrent cell makes of its input and of its state, before any gate."""
    from_input = cell.weight_ih.detach().numpy() @ v + cell.bias_ih.detach().numpy()
    from_state = cell.weight_hh.detach().numpy() @ h + cell.bias_hh.detach().numpy()
    return from_input, from_state


def gru(cell: nn.GRUCell, v: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return the next state of a GRU."""
    a, b = _gates(cell, v, h)
    d = len(h)
    reset, keep = sigmoid(a[:d] + b[:d]), sigmoid(a[d : 2 * d] + b[d : 2 * d])
    proposal = np.tanh(a[2 * d :] + reset * b[2 * d :])
    return (1.0 - keep) * proposal + keep * h


def set2set(cell: nn.LSTMCell, x: np.ndarray, num_steps: int) -> np.ndarray:
    """Return (q, r) of the last step for the nodes x [n, d] of one graph."""
    n, d = x.shape
    answer, hidden, memory = np.zeros(2 * d), np.zeros(d), np.zeros(d)
    for _ in range(num_steps):
        a, b = _gates(cell, answer, hidden)
        into, forget, proposal, out = np.split(a + b, 4)
        memory = sigmoid(forget) * memory + sigmoid(into) * np.tanh(proposal)
        hidden = sigmoid(out) * np.tanh(memory)
        scores = [math.exp(sum(x[v] * hidden)) for v in range(n)]
        read = sum(scores[v] / sum(scores) * x[v] for v in range(n))
        answer = np.concatenate([hidden, read])
    return answer


def encode_molecule(model: MPNN, x: np.ndarray, links: list[Link]) -> np.ndarray:
    """Return the representation of one molecule. Eq. GNN."""
    h = np.array([relu(linear(model.embedding, row)) for row in x])
    for _ in range(model.num_steps):
        m = messages(model, h, links)
        h = np.array([gru(model.update, relu(m[i]), h[i]) for i in range(len(h))])
    return set2set(model.read.memory, h, model.read.num_steps)
