"""The Jensen-Shannon estimate of mutual information, as InfoGraph and MVGRL use it."""

import math

from torch import Tensor
from torch.nn.functional import softplus


def jsd(scores: Tensor, positives: Tensor) -> Tensor:
    """Return the negative Jensen-Shannon estimate of mutual information, to be minimised.

    mean over negatives of (softplus(-s) + s - log 2) - mean over positives of
    (log 2 - softplus(-s)).

    ``scores`` [n, m]: how well the two sides of each pair fit. ``positives`` [n, m] bool: which
    pairs belong together. Scores of 0 give 0; the smallest value is -2 log 2. The mean over no
    pairs (no negatives in a batch of one graph) counts as 0.
    """
    fit = (math.log(2.0) - softplus(-scores)) * positives
    misfit = (softplus(scores) - math.log(2.0)) * ~positives
    num_positives = positives.sum().clamp_min(1)
    num_negatives = (~positives).sum().clamp_min(1)
    return misfit.sum() / num_negatives - fit.sum() / num_positives


def local_global_jsd(nodes: Tensor, graphs: Tensor, batch: Tensor) -> Tensor:
    """Return ``jsd`` between every node and every graph of a batch.

    ``nodes`` [n, d], ``graphs`` [B, d]: projected vectors; ``batch`` [n]: the graph of each node. A
    node and its own graph are a positive pair, a node and another graph a negative one.
    """
    scores = nodes @ graphs.T
    own = scores.gather(1, batch.unsqueeze(1))
    # Every node has one positive pair, so one pass over the scores suffices, without masks.
    num_negatives = scores.numel() - own.numel()
    misfit = softplus(scores).sum() - softplus(own).sum() - num_negatives * math.log(2.0)
    return misfit / max(num_negatives, 1) - (math.log(2.0) - softplus(-own)).mean()
