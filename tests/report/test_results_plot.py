from __future__ import annotations

from pathlib import Path

import pytest

from igsd.baselines.semi_methods import method_config
from igsd.experiments.records import record_path, write_record
from igsd.report.results_plot import ResultPlot, result_plots
from tests.report.record_files import make_record, write

SCORES = {"igsd": 0.9, "untrained": 0.8, "histogram": 0.7}


@pytest.fixture
def plots(tmp_path: Path) -> list[ResultPlot]:
    """The plots of two seeds on MUTAG, and of five splits of one method on NCI1."""
    for seed in range(2):
        scores = {key: value + 0.02 * seed for key, value in SCORES.items()}
        write(tmp_path, make_record("MUTAG", "molecules", seed, scores))
    for seed in range(5):
        record = make_record("NCI1", "molecules", seed, {"gin": 0.65}, protocol="semi")
        record["config"] = method_config("gin", "molecules", {"seed": seed}).to_json()
        write_record(record_path(tmp_path, "semi", "NCI1", "gin", seed), record)
    return result_plots(tmp_path)


def test_ours_the_papers_and_the_floors(plots: list[ResultPlot]) -> None:
    plot = plots[0]
    assert plot.name == "table-1.svg"
    assert "<title>IGSD, MUTAG: 91 ± 1</title>" in plot.svg
    assert "<title>IGSD, as the paper printed it, MUTAG: 90.2 ± 0.7</title>" in plot.svg
    assert "<title>untrained encoder, MUTAG: 81 ± 1</title>" in plot.svg
    assert "<title>histogram, MUTAG: 71 ± 1</title>" in plot.svg


def test_what_is_missing_is_said(plots: list[ResultPlot]) -> None:
    assert "2 of 5 seeds: IGSD on MUTAG; untrained encoder on MUTAG" in plots[0].svg
    assert ">not run: IGSD on IMDB-B, IMDB-M, NCI1, COLLAB, PTC;" in plots[0].svg
    assert ">not run: Mean Teachers; InfoGraph*; GIN (supervised only) on IMDB-B" in plots[1].svg


def test_few_labels_without_hindsight(plots: list[ResultPlot]) -> None:
    plot = plots[1]
    assert plot.svg.count('class="mark"') == 2  # the point and its entry in the legend
    assert "<title>GIN (supervised only), NCI1: 65</title>" in plot.svg
    assert plot.about.endswith("after the last epoch, on IMDB-B, IMDB-M, COLLAB, NCI1")


def test_nothing_is_run(tmp_path: Path) -> None:
    first, second = result_plots(tmp_path)
    assert "as the paper printed it, PTC: 61.4" in first.svg
    assert "Nothing of this is run yet." in second.svg
