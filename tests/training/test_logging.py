from __future__ import annotations

import sys
from pathlib import Path

import pytest

from igsd.errors import TrainingError
from igsd.training.logging import EpochLogger, epoch_logger


def test_no_folder_no_logger() -> None:
    assert epoch_logger(None) is None


def test_without_the_extra_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(TrainingError, match=r"igsd\[tensorboard\]"):
        epoch_logger(tmp_path)


def test_writes_curves(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra igsd[tensorboard]")
    write = epoch_logger(tmp_path)
    assert write is not None
    write({"epoch": 0.0, "total": 1.5})
    assert any(tmp_path.iterdir())


class Writer:
    """Stands in for TensorBoard's writer and keeps what it is told."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.calls.append((name, value, step))

    def flush(self) -> None:
        self.calls.append("flush")

    def close(self) -> None:
        self.calls.append("close")


def test_the_file_is_closed_at_the_end() -> None:
    writer = Writer()
    with EpochLogger(writer) as log:
        log({"epoch": 2.0, "total": 1.5, "eval_accuracy": 0.75})
        log.close()
    curves = [("loss/total", 1.5, 2), ("eval/accuracy", 0.75, 2)]
    assert writer.calls == [*curves, "flush", "close"]


def test_a_logger_that_is_dropped_closes_its_file() -> None:
    writer = Writer()
    log = EpochLogger(writer)
    del log
    assert writer.calls == ["close"]
