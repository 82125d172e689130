"""Self-supervised IGSD: Eq. InfoNCE over Eq. con, followed by Eq. EMA."""

from __future__ import annotations

import torch
from lightning_fabric import Fabric
from torch import Tensor

from igsd.losses.consistency import consistency
from igsd.losses.infonce import infonce
from igsd.model.igsd import IGSDModel, Outputs
from igsd.training.batches import EpochBatches, share_of_process
from igsd.views.pairs import PairSource


class SelfSupervisedTask:
    """What one step of self-supervised IGSD does."""

    def __init__(
        self,
        module: IGSDModel,
        forward: torch.nn.Module,
        pairs: PairSource,
        fabric: Fabric,
        *,
        epochs: int,
        batch_size: int,
        temperature: float,
        ema_decay: float,
    ) -> None:
        self.module = module
        self.forward = forward
        self.pairs = pairs
        self.fabric = fabric
        self.epochs = epochs
        self.batches = EpochBatches(len(pairs.graphs), batch_size, pairs.seed)
        self.temperature = temperature
        self.ema_decay = ema_decay

    def num_steps(self, epoch: int) -> int:
        """Return the number of steps of an epoch."""
        return self.batches.num_steps

    def losses(self, epoch: int, step: int) -> dict[str, Tensor]:
        """Return the loss of a step: the mean of Eq. InfoNCE over the views."""
        rank, world_size = self.fabric.global_rank, self.fabric.world_size
        share = share_of_process(self.batches.batch(epoch, step), rank, world_size)
        graphs, *views = self.pairs.pair(self.pairs.by_size(share), (epoch, step))
        per_view = [self._contrast(outputs) for outputs in self.forward(graphs, views)]
        return {"total": torch.stack(per_view).mean()}

    def after_step(self) -> None:
        """Let the teacher follow the student."""
        self.module.teacher.update(self.module.student, self.ema_decay)

    def _contrast(self, outputs: Outputs) -> Tensor:
        """Return Eq. InfoNCE of one view against the teacher's projections of all processes."""
        z, offset = gather_rows(outputs.z, self.fabric)
        z_view, _ = gather_rows(outputs.z_view, self.fabric)
        table = consistency(outputs.p.float(), outputs.p_view.float(), z.float(), z_view.float())
        # Gradients are averaged over processes, so a part counts by its share of the joint batch.
        share = len(table) * self.fabric.world_size / len(z)
        return share * infonce(table, self.temperature, offset=offset)


def gather_rows(z: Tensor, fabric: Fabric) -> tuple[Tensor, int]:
    """Return (rows of all processes in order, where this process's own begin).

    Teacher projections take no gradient, so plain copies are enough and the loss over several
    processes is exactly the loss over their joint batch. Parts may differ in length by one; they
    travel padded to the longest.
    """
    if fabric.world_size == 1:
        return z, 0
    lengths = fabric.all_gather(torch.tensor([len(z)], device=z.device))
    counts = [int(length) for length in lengths]
    padded = torch.zeros(max(counts), z.shape[1], dtype=z.dtype, device=z.device)
    padded[: len(z)] = z
    gathered = fabric.all_gather(padded)
    rows = torch.cat([part[:count] for part, count in zip(gathered, counts, strict=True)])
    return rows, sum(counts[: fabric.global_rank])
