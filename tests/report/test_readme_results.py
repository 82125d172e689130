"""The figures in the README are those of the records."""

from __future__ import annotations

from pathlib import Path

import pytest

from igsd.report.results_table import main

ROOT = Path(__file__).parents[2]
RESULTS, README = ROOT / "results", ROOT / "README.md"


def test_readme_shows_the_records(capsys: pytest.CaptureFixture[str]) -> None:
    if not RESULTS.is_dir():
        pytest.skip("there is no folder results/ with records")
    code = main([str(RESULTS), str(README), "--check"])
    assert code == 0, capsys.readouterr().err
