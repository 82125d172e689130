from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.report.results_table import BEGIN, END, main, read_records, render_results
from igsd.report.results_table import replace_results as replace
from tests.report.record_files import make_record, write

SCORES = {"igsd": 0.9, "untrained": 0.8, "histogram": 0.7, "majority": 0.6}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with five seeds of our recipe on MUTAG."""
    folder = tmp_path / "results"
    for seed in range(5):
        write(folder, make_record("MUTAG", "molecules", seed, SCORES))
    return folder


def test_records_become_tables(results: Path) -> None:
    lines = render_results(results).splitlines()
    assert lines[0].startswith("| method | MUTAG | PTC | NCI1 |")
    assert lines[2] == "| IGSD (ours) | 90.0 ± 0.0 | - | - | - | - | - |"
    assert lines[7].startswith("| IGSD as published | 90.2 ± 0.7 | 61.4 ± 1.7 | 75.4 ± 0.3 |")
    assert lines[7].endswith("| 74.7 ± 0.6 | 51.5 ± 0.3 | 70.4 ± 1.1 |")
    assert lines[-1].startswith("IGSD as published: H. Zhang et al.")


def test_an_optimistic_protocol_stands_below_the_honest_one(results: Path) -> None:
    write(results, make_record("PTC", "molecules", 0, SCORES, protocol="paper"))
    text = render_results(results)
    honest, _, optimistic = text.partition("optimistic")
    assert "| IGSD (ours) | 90.0 ± 0.0 | - |" in honest
    assert "| IGSD (ours) | - | 90.0 (1 seed) |" in optimistic


def test_seeds_come_in_order(tmp_path: Path) -> None:
    for seed in (10, 2, 0):
        write(tmp_path, make_record("MUTAG", "molecules", seed, SCORES))
    assert [record["seed"] for record in read_records(tmp_path)] == [0, 2, 10]


def test_no_records_and_no_folder(tmp_path: Path) -> None:
    assert render_results(tmp_path) == "There are no records yet."
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
    expected = f"# Title\n\n{BEGIN}\n{render_results(results)}\n{END}\n\nThe end.\n"
    assert readme.read_text(encoding="utf-8") == expected


def test_wrong_input_is_one_sentence(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(results), str(tmp_path / "missing.md")]) == 2
    assert capsys.readouterr().err.startswith("igsd: Cannot read")
