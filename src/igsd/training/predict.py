"""``predict_outputs``: what a network says of many graphs, with bounded memory."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.batch import Batch
from igsd.training.graph_source import GraphSource


class Predicts(Protocol):
    """A network with an output for each graph."""

    training: bool

    def outputs(self, batch: Batch) -> Tensor:
        """Return the outputs [B, C] of a batch."""

    def train(self, mode: bool = True) -> Predicts:
        """Switch between training and prediction."""


@torch.no_grad()
def predict_outputs(network: Predicts, source: GraphSource, indices: np.ndarray) -> Tensor:
    """Return the outputs [m, C] float32 of the graphs ``indices``, without dropout.

    The network comes back in the mode it was in, its statistics untouched.
    """
    was_training = network.training
    network.train(False)
    try:
        rows = [network.outputs(source.batch(piece)).float() for piece in source.pieces(indices)]
    finally:
        network.train(was_training)
    return torch.cat(rows)
