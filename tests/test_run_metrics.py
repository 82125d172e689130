from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from igsd.run_metrics import KIND, read_metrics, resume_command


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "other"}'])
def test_what_is_no_run(tmp_path: Path, text: str) -> None:
    assert read_metrics(tmp_path) is None
    (tmp_path / "metrics.json").write_text(text)
    assert read_metrics(tmp_path) is None


def test_a_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps({"kind": KIND, "seed": 1}))
    assert read_metrics(tmp_path) == {"kind": KIND, "seed": 1}


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({}, "igsd train DATA -o 'my runs' --resume"),
        ({"data": {"source": "a b.csv"}}, "igsd train 'a b.csv' -o 'my runs' --resume"),
        (
            {"labels": {"source": "logS", "rate": 0.05, "task": "numbers"}},
            "igsd train DATA --labels logS --label-rate 0.05 --task numbers -o 'my runs' --resume",
        ),
        (
            {"labels": {"source": "y", "rate": 1.0}},
            "igsd train DATA --labels y -o 'my runs' --resume",
        ),
    ],
)
def test_how_to_go_on(metrics: dict[str, Any], expected: str) -> None:
    assert resume_command(Path("my runs"), metrics) == expected
