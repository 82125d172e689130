"""Alg. self-training: in rounds, confident predictions become labels for good."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from igsd.errors import warn_user


def round_starts(epochs: int, start: int, rounds: int) -> list[int]:
    """Return the epochs before which a round of labelling takes place.

    Implements the schedule of Alg. self-training: from epoch ``start`` on, ``rounds`` rounds share
    the remaining epochs evenly, at least one epoch of training after each.
    """
    length = max(1.0, (epochs - start) / rounds)
    starts = [start + int(number * length) for number in range(rounds)]
    return [epoch for epoch in starts if epoch < epochs]


def warn_if_never(epochs: int, start: int) -> None:
    """Warn if training ends before the first round of labelling."""
    if 0 < epochs <= start:
        warn_user(
            f"Self-training never begins: its first round is at self_training_start={start}, and "
            f"there are epochs={epochs}. The model learns from the given labels alone. Set "
            f"self_training_start below {epochs}, train longer, or switch self_training off."
        )


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """The pseudo-labels of a training, in the order of the graphs.

    ``graphs``: which graph of the training set; ``codes``: its class; ``confidence``: the
    probability of that class when it was assigned; ``rounds``: in which round, counted from 1.
    """

    graphs: np.ndarray
    codes: np.ndarray
    confidence: np.ndarray
    rounds: np.ndarray

    def __len__(self) -> int:
        return len(self.graphs)


class PseudoLabelStore(nn.Module):
    """Keeps the pseudo-labels as buffers, so that they are saved and resumed with the weights.

    As ``PseudoLabels``, for all graphs: code -1 for none. ``highest``: the largest confidence seen.
    """

    codes: Tensor
    confidence: Tensor
    rounds: Tensor
    highest: Tensor

    def __init__(self, num_graphs: int) -> None:
        super().__init__()
        self.register_buffer("codes", torch.full((num_graphs,), -1))
        self.register_buffer("confidence", torch.zeros(num_graphs))
        self.register_buffer("rounds", torch.zeros(num_graphs, dtype=torch.int64))
        self.register_buffer("highest", torch.zeros(1))

    @torch.no_grad()
    def add(
        self,
        graphs: np.ndarray,
        logits: Tensor,
        threshold: float,
        number: int,
        quotas: Tensor | None = None,
    ) -> int:
        """Label the graphs [m] whose top probability reaches the threshold; return how many do.

        ``logits`` [m, C]. A graph keeps the label it has. ``quotas`` [C]: how many may get each
        class in this round, the most confident first; None for no limit.
        """
        if not len(graphs):
            return 0
        top, codes = logits.float().softmax(dim=1).max(dim=1)
        top, codes = top.to(self.confidence.device), codes.to(self.codes.device)
        self.highest.copy_(torch.maximum(self.highest, top.max()))
        places = torch.from_numpy(graphs).to(self.codes.device)
        chosen = (top >= threshold) & (self.codes[places] < 0)
        if quotas is not None:
            chosen &= _within_quotas(top.masked_fill(~chosen, -1.0), codes, quotas)
        self.codes[places[chosen]] = codes[chosen]
        self.confidence[places[chosen]] = top[chosen]
        self.rounds[places[chosen]] = number
        return int(chosen.sum())

    @property
    def graphs(self) -> np.ndarray:
        """The graphs with a pseudo-label, ascending."""
        return torch.nonzero(self.codes >= 0).squeeze(1).cpu().numpy()

    def collected(self) -> PseudoLabels:
        """Return all pseudo-labels."""
        graphs, columns = self.graphs, (self.codes, self.confidence, self.rounds)
        return PseudoLabels(graphs, *(column.cpu().numpy()[graphs] for column in columns))

    def warn_if_none(self, threshold: float) -> None:
        """Warn if no prediction has ever reached the threshold."""
        if len(self.graphs) == 0:
            # Cut, not rounded: 0.99997 is below a threshold of 1.
            highest = int(float(self.highest) * 10_000) / 10_000
            warn_user(
                "Self-training gave no pseudo-label: the highest confidence seen was "
                f"{highest:.4f}, below self_training_threshold={threshold}. The model "
                "was trained on the given labels alone. Lower the threshold, or switch "
                "self_training off."
            )


def class_quotas(class_counts: np.ndarray, num_unlabelled: int, share: float) -> Tensor | None:
    """Return how many pseudo-labels of each class a round may assign, [C], at least one of each.

    ``share`` of the unlabelled graphs, divided like ``class_counts`` [C]. None for a share of 1.
    """
    if share == 1:
        return None
    prior = class_counts / class_counts.sum()
    return torch.from_numpy(np.ceil(share * num_unlabelled * prior).astype(np.int64))


def _within_quotas(confidence: Tensor, codes: Tensor, quotas: Tensor) -> Tensor:
    """Return which graphs are among the most confident of their class, [m] bool."""
    kept = torch.zeros(len(codes), dtype=torch.bool, device=codes.device)
    for code, quota in enumerate(quotas.tolist()):
        members = torch.nonzero(codes == code).squeeze(1)
        order = confidence[members].argsort(descending=True, stable=True)
        kept[members[order[:quota]]] = True
    return kept
