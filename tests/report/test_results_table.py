from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.report.results_table import BEGIN, END, main, render_results
from igsd.report.results_table import replace_results as replace
from tests.report.record_files import make_record, write

SCORES = {"igsd": 0.9, "untrained": 0.8, "histogram": 0.7, "majority": 0.6}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with five seeds of our recipe on MUTAG, and one of WL on IMDB-BINARY."""
    folder = tmp_path / "results"
    for seed in range(5):
        write(folder, make_record("MUTAG", "molecules", seed, SCORES))
    write(folder, make_record("IMDB-BINARY", "wl", 0, {"wl": 0.7}, method="wl"))
    return folder


def test_records_become_tables(results: Path) -> None:
    lines = render_results(results).splitlines()
    assert lines[0].startswith("**Table 1: graph classification without labels.** Accuracy")
    assert lines[2] == "| Table 1 | MUTAG | IMDB-B |"
    ours = next(line for line in lines if line.startswith("| IGSD |"))
    assert ours.startswith("| IGSD | 90.0 ± 0.0<br>paper: 90.2 ± 0.7 | not run<br>paper: 74.7")
    assert "docs/figures/table-1.svg" in next(line for line in lines if line.startswith("!["))


def test_rows_and_columns_of_which_nothing_is_run_are_named(results: Path) -> None:
    text = render_results(results)
    assert "| Shortest path |" not in text
    assert "| histogram | 70.0 ± 0.0 | not run |" in text
    assert "Of these nothing is run: IMDB-M; NCI1; COLLAB; PTC; Random walk; Shortest path;" in text
    assert "| Table 2 |" not in text


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no folder"):
        render_results(tmp_path / "missing")


def test_a_foreign_file_in_the_place_of_a_record(results: Path) -> None:
    (results / "nested" / "MUTAG" / "molecules" / "seed-9.json").write_text("{}")
    with pytest.raises(StorageError, match=r"seed-9\.json is not a record"):
        render_results(results)


def test_only_the_part_between_the_markers_changes() -> None:
    assert replace(f"a\n{BEGIN}\nold\n{END}\nb\n", "new") == f"a\n{BEGIN}\nnew\n{END}\nb\n"


@pytest.mark.parametrize(
    "text", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"]
)
def test_markers_must_be_there_once(text: str) -> None:
    with pytest.raises(StorageError, match="once"):
        replace(text, "new")


def test_the_readme_is_checked_then_written(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# Title\n\n{BEGIN}\n{END}\n\nThe end.\n")
    before = readme.read_text()
    arguments = [str(results), str(readme)]
    assert main([*arguments, "--check"]) == 1
    assert "make readme" in capsys.readouterr().err
    assert readme.read_text() == before
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0
    assert (tmp_path / "docs" / "figures" / "table-2.svg").exists()
    expected = f"# Title\n\n{BEGIN}\n{render_results(results)}\n{END}\n\nThe end.\n"
    assert readme.read_text(encoding="utf-8") == expected


def test_drift_of_a_plot_is_found(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    main([str(results), str(readme)])
    plot = tmp_path / "docs" / "figures" / "table-1.svg"
    plot.write_text(plot.read_text(encoding="utf-8").replace("90", "91"), encoding="utf-8")
    assert main([str(results), str(readme), "--check"]) == 1
    assert capsys.readouterr().err.startswith(f"{plot} differs")


def test_wrong_input_is_one_sentence(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(results), str(tmp_path / "missing.md")]) == 2
    assert capsys.readouterr().err.startswith("igsd: Cannot read")
