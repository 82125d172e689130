from __future__ import annotations

import sys
from pathlib import Path

import pytest

from igsd.errors import TrainingError
from igsd.training.logging import epoch_logger


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
