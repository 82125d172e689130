from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.report.marked_page import read_page, update_page


def render(page: Path, records: Path) -> dict[Path, str]:
    """Return the page with the number of records in it, and a picture beside it."""
    text = read_page(page).split("|")[0] + f"|{len(list(records.glob('*.json')))}"
    return {page: text, page.with_suffix(".svg"): "<svg/>"}


def update(*arguments: object) -> int:
    texts = [str(argument) for argument in arguments]
    return update_page(texts, render, module="igsd.x", about="A page.", command="make it")


def test_a_page_is_checked_then_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("records: ")
    assert update(tmp_path, page, "--check") == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"{page} differs from {tmp_path}: run `make it`."
    assert (len(said), page.read_text()) == (2, "records: ")
    assert update(tmp_path, page) == update(tmp_path, page, "--check") == 0
    assert page.read_text() == "records: |0"
    assert (tmp_path / "page.svg").read_text() == "<svg/>"
    (tmp_path / "a.json").write_text("{}")
    assert update(tmp_path, page, "--check") == 1


def test_a_page_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert update(tmp_path, tmp_path / "none.md") == 2
    assert capsys.readouterr().err.startswith("igsd: Cannot read")
    with pytest.raises(StorageError, match="Cannot read"):
        read_page(tmp_path)
