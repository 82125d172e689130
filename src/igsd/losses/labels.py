"""Losses that use labels or other targets: cross entropy, mean squared error and Eq. supcon."""

import torch
from torch import Tensor


def supervised(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean loss of labelled graphs: cross entropy of logits [n, C] for classes [n].

    For numbers [n, t] the mean squared error over the known (not NaN) ones; 0 if there are none.
    """
    if not targets.dtype.is_floating_point:
        return torch.nn.functional.cross_entropy(outputs, targets)
    known = ~targets.isnan()
    errors = torch.where(known, outputs - targets.nan_to_num(), 0.0)
    return errors.square().sum() / known.sum().clamp_min(1)


def shares_entropy(outputs: Tensor, shares: Tensor) -> Tensor:
    """Return the cross entropy of logits [n, C] and shares [n, C] that sum to 1 (or to 0), [n].

    -sum_c shares_c log softmax(outputs)_c for each row.
    """
    return -(shares * outputs.log_softmax(dim=1)).sum(dim=1)


def supcon(
    losses: Tensor,
    labels: Tensor,
    class_counts: Tensor,
    *,
    num_views: int = 1,
    weights: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the supervised contrastive loss of a table of consistency losses.

    Implements Eq. supcon:
    sum_i 1 / (K N_{y_i}) sum_{j != i, y_j = y_i} L_con(i, j), divided by K l with ``"mean"``.

    ``losses`` [K n, K n]: L_con of all pairs (graph, view), the n graphs of the first view before
    those of the second; two views of one graph are two indices. ``labels`` [n]: class of each
    graph. ``class_counts`` [C]: N_y, the labelled graphs of each class in the whole training set,
    l in total. ``weights`` [n, n]: the weight of each pair of graphs, see ``pair_weights``; with
    them the expected loss of a batch is the loss of the whole set.

    Departs from the paper: the division by K l, so that the loss has the same scale on every set;
    ``"sum"`` is the paper's.
    """
    classes = labels.repeat(num_views)
    pulls = (classes.unsqueeze(1) == classes.unsqueeze(0)).to(losses.dtype)
    pulls.fill_diagonal_(0.0)
    if weights is not None:
        pulls = pulls * weights.to(losses.dtype).repeat(num_views, num_views)
    total = ((losses * pulls).sum(dim=1) / (num_views * class_counts[classes])).sum()
    return total if reduction == "sum" else total / (num_views * class_counts.sum())


def pair_weights(pools: Tensor, taken: Tensor, sizes: Tensor) -> Tensor:
    """Return the inverse of each pair's probability to share a batch, [n, n].

    ``pools`` [n]: the pool that each graph of the batch was drawn from. ``taken`` [P], ``sizes``
    [P]: how many graphs of each pool are in the batch, and how many there are; a batch takes a
    uniform sample without replacement from each pool. Two graphs of one pool meet with probability
    a (a - 1) / (m (m - 1)), two of different pools with (a / m)(b / k), and a graph meets itself,
    in another view, with a / m.
    """
    taken, sizes = taken.double(), sizes.double()
    share = taken / sizes.clamp_min(1)
    chance = share[pools].unsqueeze(1) * share[pools].unsqueeze(0)
    # With a single graph there is no second one; the value is then never used.
    second = (taken - 1).clamp_min(1) / (sizes - 1).clamp_min(1)
    same_pool = pools.unsqueeze(1) == pools.unsqueeze(0)
    chance = torch.where(same_pool, (share * second)[pools].unsqueeze(1), chance)
    chance = chance.masked_fill(torch.eye(len(pools), dtype=torch.bool, device=pools.device), 0.0)
    return 1.0 / (chance + torch.diag(share[pools]))
