from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.report.record_files import make_record, write


def test_records_and_a_run_become_a_page(igsd: Run, trained: Path, tmp_path: Path) -> None:
    write(tmp_path / "results", make_record("MUTAG", "molecules", 0, {"igsd": 0.9}))
    code, out, err = igsd("report", "-o", "new/page.html", "--run", trained)
    assert code == 0
    assert out.startswith("new/page.html: ")
    assert "created the folder new" in err
    text = (tmp_path / "new" / "page.html").read_text()
    assert 'id="table-1"' in text
    assert 'id="run-1"' in text


def test_a_run_alone_needs_no_records(igsd: Run, trained: Path, tmp_path: Path) -> None:
    assert igsd("report", "-o", "page.html", "--run", trained)[0] == 0
    assert 'id="table-1"' not in (tmp_path / "page.html").read_text()


def test_a_run_that_is_named_twice_is_shown_once(igsd: Run, trained: Path, tmp_path: Path) -> None:
    again = trained.parent / "." / ".." / trained.parent.name / trained.name
    code, out, _ = igsd("report", "-o", "page.html", "--run", trained, "--run", again)
    text = (tmp_path / "page.html").read_text()
    assert code == 0
    assert text.count("<section") == 1
    assert out == f"page.html: {len(text.encode()) / 2**10:.0f} KiB\n"


def test_only_the_usual_folder_of_records_may_be_missing(igsd: Run, trained: Path) -> None:
    assert "results; may be left out if --run" in " ".join(igsd("report", "-h")[1].split())
    code, _, err = igsd("report", "none", "-o", "page.html", "--run", trained)
    assert (code, "There is no folder none" in err) == (2, True)


def test_a_broken_record_is_named_and_left_out(igsd: Run, tmp_path: Path) -> None:
    for seed in (0, 1):
        write(tmp_path / "results", make_record("MUTAG", "molecules", seed, {"igsd": 0.9}))
    path = tmp_path / "results" / "nested" / "MUTAG" / "molecules" / "seed-1.json"
    path.write_text(path.read_text()[:100])
    code, _, err = igsd("report", "-o", "page.html")
    assert code == 0
    assert err.count("seed-1.json is not a record of igsd") == 1
    text = (tmp_path / "page.html").read_text()
    assert "1 record, 1 file left out" in text
    assert "<li>nested/MUTAG/molecules/seed-1.json</li>" in text


def test_bad_input(igsd: Run, tmp_path: Path, trained: Path) -> None:
    (tmp_path / "results").mkdir()
    wrong = {
        ("report", "-o", "page.txt"): "not one for the page. Use one of .html, .htm",
        ("report", "-o", "page.html", "--map", "umap"): "name one with --run RUN",
        ("report", "none", "-o", "page.html"): "There is no folder none",
        ("report", "-o", "page.html", "--run", "results"): "is not a run folder",
        ("report", "-o", "page.html", "--map", "art"): "invalid choice",
        ("report",): "required: -o",
    }
    for arguments, message in wrong.items():
        code, _, err = igsd(*arguments)
        assert code == 2
        assert message in err
    assert not (tmp_path / "page.html").exists()


def test_a_folder_that_holds_no_records(igsd: Run, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, _, err = igsd("report", tmp_path / "empty", "-o", "page.html")
    assert code == 0
    assert "empty has no records (PROTOCOL/DATA/METHOD/seed-N.json)" in err
    code, _, err = igsd("report", trained, "-o", "page.html")
    assert f"It is a run folder: --run {trained} shows it." in err


def test_no_records_and_no_run(igsd: Run) -> None:
    code, _, err = igsd("report", "-o", "page.html")
    assert code == 2
    assert "There is no folder results with records" in err
