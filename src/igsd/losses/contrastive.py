"""Losses that contrast vectors: Eq. con, Eq. InfoNCE, NT-Xent, Barlow Twins, Jensen-Shannon."""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize, softplus


def consistency(p: Tensor, p_view: Tensor, z: Tensor, z_view: Tensor) -> Tensor:
    """Return the consistency losses of all pairs, [B, M]. Implements Eq. con.

    L_con(i, j) = ||p_i - z'_j||^2 + ||p'_i - z_j||^2, all vectors L2-normalised.

    ``p``, ``p_view`` [B, d]: student predictions of graphs i and of their views. ``z``, ``z_view``
    [M, d]: teacher projections of graphs j and of their views. Values lie in [0, 8].
    """
    # Without autocast: the distance of close vectors is a difference of close numbers.
    with torch.autocast(p.device.type, enabled=False):
        p, p_view = normalize(p, dim=1), normalize(p_view, dim=1)
        z, z_view = normalize(z, dim=1), normalize(z_view, dim=1)
        # ||a - b||^2 = 2 - 2 a.b for unit vectors: one product instead of a [B, M, d] difference.
        return 4.0 - 2.0 * (p @ z_view.T + p_view @ z.T)


def infonce(losses: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the contrastive loss of a table of consistency losses. Implements Eq. InfoNCE.

    mean over i of -log( exp(-L_ii / temperature) / sum_j exp(-L_ij / temperature) )

    ``losses`` [B, B]: L_con(i, j). The paper has no temperature, which is the same as 1.0.
    """
    positives = torch.arange(len(losses), device=losses.device)
    return cross_entropy(-losses / temperature, positives)


def ntxent(a: Tensor, b: Tensor, temperature: float) -> Tensor:
    """Return the contrastive loss of two views of the same graphs (You et al., 2020, Eq. 3).

    mean over i and both directions of
    -log( exp(s_ii / temperature) / sum_{j != i} exp(s_ij / temperature) )

    with s_ij the cosine of a_i and b_j. ``a``, ``b`` [B, d]: projections of the two views. Values
    may be negative; 0 if there is no other graph (B = 1).
    """
    scores = normalize(a, dim=1) @ normalize(b, dim=1).T / temperature
    if len(scores) < 2:
        return 0.0 * scores.sum()
    own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    others = scores.masked_fill(own, -torch.inf)
    both = 0.5 * (others.logsumexp(dim=1) + others.logsumexp(dim=0))
    return (both - scores.diagonal()).mean()


_SMALLEST_VARIANCE = 1e-5


def cross_correlation(a: Tensor, b: Tensor) -> Tensor:
    """Return the correlation [d, d] of the coordinates of a and b [B, d]; 0 for constant ones."""
    return _standardised(a).T @ _standardised(b) / len(a)


def barlow(a: Tensor, b: Tensor, redundancy_weight: float) -> Tensor:
    """Return the loss of two views of the same graphs, ``a``, ``b`` [B, d] (Bielak et al., 2022).

    sum_i (1 - C_ii)^2 + redundancy_weight * sum_{i != j} C_ij^2, C the cross-correlation. Graph
    Barlow Twins uses the weight 1 / d.
    """
    C = cross_correlation(a, b)
    own = C.diagonal()
    repeated = C.square().sum() - own.square().sum()
    return (1.0 - own).square().sum() + redundancy_weight * repeated


def _standardised(x: Tensor) -> Tensor:
    """Return x with mean 0 and variance 1 in every coordinate, as BatchNorm computes them."""
    centred = x - x.mean(dim=0)
    return centred * torch.rsqrt(centred.square().mean(dim=0) + _SMALLEST_VARIANCE)


def jsd(scores: Tensor, positives: Tensor) -> Tensor:
    """Return the negative Jensen-Shannon estimate of mutual information, to be minimised.

    mean over negatives of (softplus(-s) + s - log 2) - mean over positives of
    (log 2 - softplus(-s)).

    ``scores`` [n, m]: how well the two sides of each pair fit. ``positives`` [n, m] bool: which
    pairs belong together. The mean over no pairs counts as 0.
    """
    fit = ((math.log(2.0) - softplus(-scores)) * positives).sum()
    misfit = ((softplus(scores) - math.log(2.0)) * ~positives).sum()
    return misfit / (~positives).sum().clamp_min(1) - fit / positives.sum().clamp_min(1)


def local_global_jsd(nodes: Tensor, graphs: Tensor, batch: Tensor) -> Tensor:
    """Return ``jsd`` between every node [n, d] and every graph [B, d] of a batch.

    ``batch`` [n]: the graph of each node. A node and its own graph are a positive pair.
    """
    scores = nodes @ graphs.T
    own = scores.gather(1, batch.unsqueeze(1))
    # Every node has one positive pair, so one pass over the scores suffices, without masks.
    num_negatives = scores.numel() - own.numel()
    misfit = softplus(scores).sum() - softplus(own).sum() - num_negatives * math.log(2.0)
    return misfit / max(num_negatives, 1) - (math.log(2.0) - softplus(-own)).mean()
