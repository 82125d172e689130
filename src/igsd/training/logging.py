"""TensorBoard curves, where the extra is installed."""

from __future__ import annotations

import os
import weakref
from typing import Any

from igsd.errors import TrainingError


class EpochLogger:
    """Writes an epoch's losses and scores when called, until it is closed.

    A context manager. One that is simply dropped at the end of a training closes its file too.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._finalizer = weakref.finalize(self, writer.close)

    def __call__(self, entry: dict[str, float]) -> None:
        """Write the figures of one epoch: losses as ``loss/NAME``, ``eval_NAME`` as ``eval/NAME``.

        The epoch itself is the step of every curve.
        """
        for name, value in entry.items():
            if name != "epoch":
                curve = name.replace("_", "/", 1) if name.startswith("eval_") else f"loss/{name}"
                self._writer.add_scalar(curve, value, int(entry["epoch"]))
        self._writer.flush()

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._finalizer()

    def __enter__(self) -> EpochLogger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def epoch_logger(log_dir: str | os.PathLike[str] | None) -> EpochLogger | None:
    """Return what writes an epoch's losses to ``log_dir``, or None without one."""
    if log_dir is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise TrainingError(
            'Logging to TensorBoard needs an extra: pip install "igsd[tensorboard]".'
        ) from error
    return EpochLogger(SummaryWriter(str(log_dir)))
