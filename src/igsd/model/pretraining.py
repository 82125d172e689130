"""Pre-training of an encoder: Eq. semi with targets that are computed from the structure."""

from typing import Any

from torch import Tensor

from igsd.batches.batch import Batch
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


class EncoderNetwork(Network):
    """What remains of a pre-training: the student's encoder."""

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.encoder = build_encoder(settings, dims)

    @property
    def out_dim(self) -> int:  # type: ignore[override]
        """Width of an embedding."""
        width: Any = self.encoder.out_dim
        return width
