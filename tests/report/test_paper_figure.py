from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import ConfigError
from igsd.report.paper_figure import figure


def test_figure_over_a_setting(tmp_path: Path) -> None:
    made = figure("figure-negatives", tmp_path)
    assert made.x == (16, 32, 64, 128, 256, 512)
    assert [series.title for series in made.series] == ["IGSD", "CMC-Graph (MVGRL)"]
    assert all(cell.text == "not run" for series in made.series for cell in series.cells)


def test_a_table_is_no_figure() -> None:
    with pytest.raises(ConfigError, match="is a table"):
        figure("table-1", "results")
