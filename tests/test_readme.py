from __future__ import annotations

import re
from pathlib import Path

import pytest

from igsd.errors import StorageError
from scripts.readme import END, _is_same, main, read_page, render_page, update_pages
from tests.report.record_files import make_record, table, write

ROOT = Path(__file__).parents[1]
SCORES = {"igsd": 0.9, "untrained": 0.8, "histogram": 0.7, "majority": 0.6}
BETTER = {"igsd": 0.92, "untrained": 0.8, "histogram": 0.7, "majority": 0.6}
BEGIN = "<!-- results: begin {} -->"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with five seeds of our recipe on MUTAG, and one of WL on IMDB-BINARY."""
    folder = tmp_path / "results"
    for seed in range(5):
        write(folder, make_record("MUTAG", "molecules", seed, SCORES))
        write(folder, make_record("MUTAG", "molecules", seed, BETTER, protocol="paper"))
    write(folder, make_record("IMDB-BINARY", "wl", 0, {"wl": 0.7}, method="wl"))
    return folder


def page_with(folder: Path, *names: str) -> Path:
    """Return a page with a marked part for each name."""
    page = folder / "README.md"
    page.write_text("# Title\n" + "".join(f"{BEGIN.format(n)}\nold\n{END}\nrest\n" for n in names))
    return page


def test_the_pages_of_the_project_show_the_records(capsys: pytest.CaptureFixture[str]) -> None:
    pages = [ROOT / "README.md", ROOT / "docs" / "results.md"]
    pages.append(ROOT / "src" / "igsd" / "shipped" / "molecules.md")
    marked = [str(page) for page in pages if re.search("results: begin [a-z]", page.read_text())]
    if not (ROOT / "results").is_dir() or not marked:
        pytest.skip("there is no folder results/ with records")
    code = main([str(ROOT / "results"), *marked, "--check"])
    assert code == 0, capsys.readouterr().err


def test_records_become_tables(results: Path, tmp_path: Path) -> None:
    page = page_with(tmp_path, "table-1", "table-2")
    files = render_page(page, results)
    lines = files[page].splitlines()
    assert lines[2].startswith("**Table 1: graph classification without labels.** Accuracy")
    assert lines[4] == "| Table 1 | MUTAG, paper | MUTAG, nested | IMDB-B, paper | IMDB-B, nested |"
    ours = next(line for line in lines if line.startswith("| IGSD |"))
    first = "| IGSD | 92.0 ± 0.0<br>printed: 90.2 ± 0.7 (ours +1.8) | 90.0 ± 0.0 |"
    assert ours.startswith(f"{first} not run<br>printed: 74.7")
    # Rows and columns of which nothing was run are named.
    text = files[page]
    assert "| Shortest path |" not in text
    assert "| histogram | 70.0 ± 0.0 | 70.0 ± 0.0 | not run | not run |" in text
    assert "Not run: IMDB-M, paper; IMDB-M, nested; NCI1, paper; " in text
    assert "; PTC, nested; Random walk; Shortest" in text
    assert "| Table 2 |" not in text
    assert "](docs/figures/table-1.svg)" in text
    assert list(files) == [page, tmp_path / "docs" / "figures" / "table-1.svg"]


def test_the_summary_is_small(results: Path, tmp_path: Path) -> None:
    page = page_with(tmp_path, "summary")
    lines = render_page(page, results)[page].splitlines()[2:]
    assert lines[0].startswith("| accuracy % | MUTAG | IMDB-B |")
    assert lines[2].startswith("| IGSD | 90.0 ± 0.0 | not run |")
    assert lines[3].startswith("| best other method of Table 1 | not run | 70.0 (WL subtree) |")
    assert lines[5].startswith("| WL subtree | not run | 70.0 |")


def test_what_igsd_beats_in_words(results: Path, tmp_path: Path) -> None:
    for seed, apart in ((0, 0.06), (1, -0.05)):
        write(results, make_record("MUTAG", "wl", seed, {"wl": 0.9 + apart}, method="wl"))
        write(results, make_record("MUTAG", "wl-oa", seed, {"wl-oa": 0.94}, method="wl-oa"))
    write(results, make_record("MUTAG", "gcc", 0, {"gcc": 0.95}, method="gcc"))
    page = page_with(tmp_path, "standing")
    lines = render_page(page, results)[page].splitlines()[2:]
    assert lines[0] == (
        "- **MUTAG** (90.0 ± 0.0): beats majority class (+30.0), histogram (+20.0), untrained "
        "encoder (+10.0); ties with WL subtree (−0.5); loses to GCC (−5.0, 1 seed), WL optimal "
        "assignment (−4.0)."
    )
    assert lines[1] == "- **IMDB-B** (not run): beats none; ties with none; loses to none."
    page = page_with(tmp_path, "losses")
    assert render_page(page, results)[page].splitlines()[2] == (
        "- **MUTAG** (90.0 ± 0.0): beats 3 rows; ties with 1 row; loses to GCC (−5.0, 1 seed), WL "
        "optimal assignment (−4.0)."
    )


def test_pages_of_the_documentation_have_their_plots_beside_them(
    results: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    page = page_with(tmp_path / "docs", "table-1", "figure-negatives")
    files = render_page(page, results)
    assert "](figures/table-1.svg)" in files[page]
    assert "graphs in a batch" in files[page]
    assert list(files)[1:] == [tmp_path / "docs" / "figures" / "table-1.svg"]  # the figure is empty
    assert table("figure-negatives", results).results[0].mean is None


def test_bad_input_is_named(results: Path, tmp_path: Path) -> None:
    page = page_with(tmp_path, "table-9")
    with pytest.raises(StorageError, match="no table or figure 'table-9'"):
        render_page(page, results)
    with pytest.raises(StorageError, match="There is no folder"):
        render_page(page, tmp_path / "missing")
    (results / "nested" / "MUTAG" / "molecules" / "seed-9.json").write_text("{}")
    with pytest.raises(StorageError, match=r"seed-9\.json is not a record"):
        render_page(page_with(tmp_path, "table-1"), results)


@pytest.mark.parametrize("text", ["", "{b}", "{e}", "{e}{b}", "{b}{b}{e}", "{b}{e}{e}"])
def test_markers_must_match(results: Path, tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text.format(b=BEGIN.format("summary"), e=END))
    with pytest.raises(StorageError, match="in turn"):
        render_page(page, results)


def test_a_page_is_checked_then_written(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = page_with(tmp_path, "table-1")
    before, arguments = page.read_text(), [str(results), str(page)]
    assert main([*arguments, "--check"]) == 1
    assert "make readme" in capsys.readouterr().err
    assert page.read_text() == before
    assert main(arguments) == main([*arguments, "--check"]) == 0
    assert page.read_text(encoding="utf-8") == render_page(page, results)[page]
    assert page.read_text().startswith("# Title\n")
    assert page.read_text().endswith("rest\n")
    plot = tmp_path / "docs" / "figures" / "table-1.svg"
    plot.write_text(plot.read_text(encoding="utf-8").replace("90", "91"), encoding="utf-8")
    assert main([*arguments, "--check"]) == 1
    assert capsys.readouterr().err.startswith(f"{plot} differs")
    assert main([str(results), str(tmp_path / "missing.md")]) == 2
    assert capsys.readouterr().err.startswith("scripts: Cannot read")


def test_other_modules_can_update_their_pages(tmp_path: Path) -> None:
    def render(page: Path, records: Path) -> dict[Path, str]:
        return {page: read_page(page).replace("old", records.name)}

    page = tmp_path / "page.md"
    page.write_text("a [old] b")
    options = {"module": "igsd.x", "about": "A page.", "command": "make it"}
    assert update_pages([str(tmp_path / "r"), str(page)], render, **options) == 0
    assert page.read_text() == "a [r] b"


def test_pictures_may_differ_by_rounding(tmp_path: Path) -> None:
    """The solver of Matplotlib's layout rounds differently now and then."""
    picture = tmp_path / "a.svg"
    assert _is_same(picture, '<path d="M 1.25 2.000001"/>', '<path d="M 1.25 2.000002"/>')
    assert not _is_same(picture, '<path d="M 1.25 2.0"/>', '<path d="M 1.26 2.0"/>')
    assert not _is_same(picture, "<g/>", "<path/>")
    assert not _is_same(tmp_path / "a.md", "88.1", "88.1001")
