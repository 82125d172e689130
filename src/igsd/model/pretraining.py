"""Pre-training of an encoder: Eq. semi with targets that are computed from the structure."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import distinct_depth
from igsd.losses.labels import supervised
from igsd.model.igsd import SemiModel, build_encoder, paired
from igsd.model.network import Dims, Network, Step


class PretrainModel(SemiModel):
    """IGSD whose labels are descriptors and counts of fragments, each with a weight of its own.

    The last ``settings.num_fragments`` targets are the counts.
    """

    def losses(self, step: Step) -> dict[str, Tensor]:
        """Return the parts of the loss. Implements Eq. semi.

        L = w_d MSE(descriptors) + w_f MSE(fragments) + w L_selfsup. The weight w may fall to 0 over
        the first epochs (``self_epochs``); from then on there are no views, which saves most of
        a step. A target with weight 0 is not a part of the loss.
        """
        settings, weight = self.settings, self._self_weight(step.place[0])
        views, student = step.views if weight > 0 else [], self.igsd.student
        joined = Batch.joined([step.batch, *views])
        h = student.encoder(joined)
        outputs = step.joint(self.head(h[: step.batch.num_graphs])).float()
        targets, split = step.labels.targets, outputs.shape[1] - settings.num_fragments
        parts = {
            "descriptors": supervised(outputs[:, :split], targets[:, :split]),
            "fragments": supervised(outputs[:, split:], targets[:, split:]),
        }
        total = settings.descriptor_weight * parts["descriptors"]
        total = total + settings.fragment_weight * parts["fragments"]
        if views:
            p, z = student.predictor(student.projector(h)), self.igsd.teacher(joined)
            per_view = paired(p, z, [batch.num_graphs for batch in (step.batch, *views)])
            parts["selfsup"] = self.igsd.contrast(step, per_view)
            total = total + weight * parts["selfsup"]
        return parts | {"total": total}

    def _self_weight(self, epoch: int) -> float:
        """Return the weight of Eq. InfoNCE in an epoch."""
        length = self.settings.self_epochs
        return self.self_weight * (max(0.0, 1 - epoch / length) if length else 1.0)


_CUT = 10.0
"""Numbers of a vector are cut off here: those of a molecule far larger than any of the corpus."""

_RIDGE = 1e-3
"""Penalty of the regression on standardised columns, relative to the number of molecules."""

_LEAST_SPREAD = 1e-3
"""Columns of h that vary less are not scaled up: their weights would be too large for float16."""


class EncoderNetwork(Network):
    """What remains of a pre-training: the student's encoder and the map to a vector.

    ``dims.num_outputs``: the width of a vector; 0 for the representation h itself.
    """

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)
        width: Any = self.encoder.out_dim
        self.out_dim = dims.num_outputs or width
        self.vector = nn.Linear(width, dims.num_outputs) if dims.num_outputs else None

    def embeds_distinct(self, features: FeatureMap) -> bool:
        """Return whether equal neighbourhoods are computed once."""
        return distinct_depth(self.encoder, features) > 0

    def embed(self, step: Step) -> Tensor:
        """Return the vectors [B, out_dim] of the graphs of a step."""
        h: Tensor = self.encoder(step.seen_by(self.encoder))
        return h if self.vector is None else self.vector(h).clamp_(-_CUT, _CUT)


def _eigh(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Return eigenvalues, ascending, and eigenvectors of a symmetric matrix.

    PyTorch's solver gives up on many equal eigenvalues, as few molecules have; NumPy's does not.
    """
    try:
        return tuple(torch.linalg.eigh(matrix))
    except torch.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix.numpy())
        return torch.from_numpy(values), torch.from_numpy(vectors)


def vector_map(
    h: Tensor, targets: Tensor, num_fragments: int, width: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Return weight [t + width, d] and bias of the map from representations h [n, d] to vectors.

    A ridge regression of the targets [n, t + k] on h. The first t numbers of a vector are the
    predicted descriptors. The others are the predicted counts of the k fragments, each divided by
    the square root of its deviation, so that rare ones count more: their first ``width`` principal
    components over h, turned by a random rotation to equal variances, 1 in the mean. So
    standardising the columns of a vector, as many models do, does not blow up its small components.
    All numbers have mean 0 over h.
    """
    h, targets = h.double(), torch.nan_to_num(targets.double())
    centre, spread = h.mean(dim=0), h.std(dim=0).clamp(min=_LEAST_SPREAD)
    z = (h - centre) / spread
    moments = z.T @ z
    penalty = _RIDGE * len(h) * torch.eye(len(moments), dtype=h.dtype)
    weight = torch.linalg.solve(moments + penalty, z.T @ (targets - targets.mean(dim=0)))
    split, width = len(targets.T) - num_fragments, min(width, num_fragments)
    fragments = weight[:, split:]
    deviation = (fragments * (moments @ fragments)).sum(dim=0).div(len(h)).clamp(min=1e-6).sqrt()
    fragments = fragments / deviation.sqrt()
    variances, axes = _eigh(fragments.T @ moments @ fragments / len(h))
    size = variances[-width:].clamp(min=0).mean().sqrt().clamp(min=1e-12)
    random = torch.randn(width, width, dtype=h.dtype, generator=torch.Generator().manual_seed(seed))
    turned = fragments @ axes[:, -width:] @ torch.linalg.qr(random).Q / size
    joined = torch.cat([weight[:, :split], turned], dim=1).T / spread
    return joined.float(), -(joined @ centre).float()
