"""TensorBoard curves, where the extra is installed."""

from __future__ import annotations

import os
from collections.abc import Callable

from igsd.errors import TrainingError


def epoch_logger(
    log_dir: str | os.PathLike[str] | None,
) -> Callable[[dict[str, float]], None] | None:
    """Return a function that writes an epoch's losses to ``log_dir``, or None without one."""
    if log_dir is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise TrainingError(
            'Logging to TensorBoard needs an extra: pip install "igsd[tensorboard]".'
        ) from error
    writer = SummaryWriter(str(log_dir))

    def write(entry: dict[str, float]) -> None:
        for name, value in entry.items():
            if name != "epoch":
                writer.add_scalar(f"loss/{name}", value, int(entry["epoch"]))
        writer.flush()

    return write
