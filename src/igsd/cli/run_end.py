"""``RunEnd``: what becomes of a run folder whose training ends before it is finished."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from igsd.errors import IGSDError, StorageError

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder


@dataclass(frozen=True)
class RunEnd:
    """A folder is kept where there is a checkpoint to go on from, and removed if new without one.

    ``again``: the command that goes on. ``parent``: the folder of all runs, given where it may
    have been made for this one.
    """

    folder: RunFolder
    again: str
    is_new: bool
    parent: str | None

    @contextlib.contextmanager
    def while_training(self) -> Iterator[None]:
        """Leave the folder in order if the training in this block fails or is stopped."""
        try:
            yield
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(f"Stopped. To go on: {self.again}") from stop
        except IGSDError:
            self._discard_without_checkpoint()
            raise

    @contextlib.contextmanager
    def while_writing(self) -> Iterator[None]:
        """Leave the folder in order if its files cannot be written in this block."""
        try:
            yield
        except StorageError as error:
            if self._has_checkpoint():
                kept = f"{error} The training is kept. To go on: {self.again}"
                raise StorageError(kept) from error
            self._discard_without_checkpoint()
            raise

    def _has_checkpoint(self) -> bool:
        return (self.folder / "checkpoint.safetensors").exists()

    def _discard_without_checkpoint(self) -> None:
        from igsd.experiments.run_folder import discard

        if self.is_new and not self._has_checkpoint():
            discard(self.folder, self.parent)
