"""The run folder of ``igsd evaluate --recipe`` on a full disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SETTINGS, Run
from tests.experiments.test_run_folder import fill_the_disk

FAST = ["--quiet", "--standardise", "no", "--jobs", "1", "--seeds", "2"]


@pytest.mark.parametrize("options", [[], ["-o", "r"], ["--records", "results"]])
def test_the_command_says_a_sentence_and_leaves_nothing(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[Any]
) -> None:
    # It once reported every seed as failed and left a folder without a model.
    fill_the_disk(monkeypatch, 2000)
    code, _, err = igsd("evaluate", "--recipe", "molecules", toy, *FAST, *SETTINGS, *options)
    assert code == 2
    assert err.startswith("igsd: Cannot write")
    assert "The disk is full: free some space" in err
    assert {path.name for path in tmp_path.iterdir()} <= {"TOY", "results"}
    assert not list(tmp_path.rglob("*.json"))
