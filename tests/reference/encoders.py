"""The encoders as plain loops over one dense matrix per graph, in float64.

Each function takes the weights from a trained or untrained module of igsd, and nothing else.
"""

from __future__ import annotations

import math

import numpy as np
from torch import nn

from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.gcn import GCNLayer
from igsd.encoders.gin import GINLayer


def linear(layer: nn.Linear, v: np.ndarray) -> np.ndarray:
    """Return W v + b."""
    weight = layer.weight.detach().numpy()
    bias = np.zeros(len(weight)) if layer.bias is None else layer.bias.detach().numpy()
    return np.array(
        [sum(weight[o, i] * v[i] for i in range(len(v))) + bias[o] for o in range(len(weight))]
    )


def norm(layer: nn.Module, v: np.ndarray) -> np.ndarray:
    """Return BatchNorm of one vector with the stored statistics, or the vector itself."""
    if isinstance(layer, nn.Identity):
        return v
    assert isinstance(layer, nn.BatchNorm1d)
    mean, variance = layer.running_mean.numpy(), layer.running_var.numpy()
    gamma, beta = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    return np.array(
        [
            (v[c] - mean[c]) / math.sqrt(variance[c] + layer.eps) * gamma[c] + beta[c]
            for c in range(len(v))
        ]
    )


def relu(v: np.ndarray) -> np.ndarray:
    """Return max(v, 0)."""
    return np.array([max(a, 0.0) for a in v])


def gin_layer(layer: GINLayer, x: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return relu(norm(MLP(x_v + sum_u A_vu x_u))) for every node v."""
    rows = []
    for v in range(len(x)):
        gathered = x[v].copy()
        for u in range(len(x)):
            gathered += A[v, u] * x[u]
        hidden = relu(linear(layer.first, gathered))
        rows.append(relu(norm(layer.norm, linear(layer.second, hidden))))
    return np.array(rows)


def gcn_layer(layer: GCNLayer, x: np.ndarray, A: np.ndarray, *, weighted: bool) -> np.ndarray:
    """Return relu(norm(sum_u N_vu W x_u)), N = D^-1/2 M D^-1/2, M = A + I, or A if weighted."""
    n = len(x)
    M = A if weighted else A + np.eye(n)
    degrees = [sum(M[v, u] for u in range(n)) for v in range(n)]
    messages = [linear(layer.linear, x[u]) for u in range(n)]
    rows = []
    for v in range(n):
        gathered = np.zeros(len(messages[0]))
        for u in range(n):
            if M[v, u] != 0:
                gathered += M[v, u] / math.sqrt(degrees[v] * degrees[u]) * messages[u]
        rows.append(relu(norm(layer.norm, gathered)))
    return np.array(rows)


def readout(x: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Return the sum, mean or maximum over the nodes of one graph, several side by side."""
    n, width = x.shape
    parts = []
    for name in names:
        for c in range(width):
            column = [x[v, c] for v in range(n)]
            values = {"sum": sum(column), "mean": sum(column) / n, "max": max(column)}
            parts.append(values[name])
    return np.array(parts)


def encode(encoder: GNNEncoder, x: np.ndarray, A: np.ndarray, *, weighted: bool) -> np.ndarray:
    """Return the representation of one graph: layers, then readouts. Eq. GNN."""
    parts = []
    for layer in encoder.layers:
        if isinstance(layer, GINLayer):
            x = gin_layer(layer, x, A)
        else:
            x = gcn_layer(layer, x, A, weighted=weighted)
        parts.append(readout(x, encoder.readouts))
    return np.concatenate(parts if encoder.concat_layers else parts[-1:])
