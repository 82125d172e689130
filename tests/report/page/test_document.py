from __future__ import annotations

import re
from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.experiments.exhibits import exhibit_names
from igsd.report.page.document import asset, make_page
from igsd.report.plots import BACK, COLOURS, GRID, QUIET, TEXT
from tests.report.page.made_up_run import EVIL, evil_graphs, write_run
from tests.report.record_files import half_of_table_3, make_record, write


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    records = folder / "records"
    write(records, make_record("MUTAG", "molecules", 0, {"igsd": 0.9, "untrained": 0.8}))
    write(records, make_record(EVIL, "molecules", 0, {"igsd": 0.9}, error=EVIL, notes=[EVIL]))
    run = write_run(folder, evil_graphs())
    return make_page(records, [run])


def test_all_exhibits_runs_and_records_are_there(page: str) -> None:
    names = ("table-1", "beyond", "run-1", "data-1", "data-2", "records")
    for name in (*names, "records/nested/MUTAG/molecules"):
        assert page.count(f'id="{name}"') == 1


def test_tables_without_a_record_are_named_together(tmp_path: Path, page: str) -> None:
    """Whoever compared methods on MUTAG alone found his figures among nine empty tables."""
    assert 'id="not-run"' not in page
    half_of_table_3(tmp_path)
    page = make_page(tmp_path)
    missing = page.partition('id="not-run"')[2].partition("</section>")[0]
    named = re.findall(r"<code>igsd reproduce ([\w-]+)</code>", missing)
    there = [name for name in exhibit_names() if f'id="{name}"' in page]
    assert "table-2" in named
    assert sorted([*named, *there]) == sorted(exhibit_names())


def test_every_link_leads_somewhere_in_the_page(page: str) -> None:
    targets = re.findall(r'(?:href|src)="([^"]*)"', page)
    names = set(re.findall(r' id="([^"]*)"', page))
    assert len(targets) >= 20
    assert [target for target in targets if target.removeprefix("#") not in names] == []
    assert all(target.startswith("#") for target in targets)


def test_identifiers_are_there_once(page: str) -> None:
    names = re.findall(r' id="([^"]*)"', page)
    assert len(names) == len(set(names))


def test_labels_stay_text(page: str) -> None:
    assert "<img" not in page
    assert page.count("<script>") == 1  # the page's own
    assert "&lt;img src=x" in page


def test_the_browser_is_told_to_load_nothing(page: str) -> None:
    assert "default-src &#x27;none&#x27;" in page
    assert "http://" not in page.split("<script>")[0]


def test_the_same_records_give_the_same_page(tmp_path: Path) -> None:
    write(tmp_path, make_record("MUTAG", "molecules", 0, {"igsd": 0.9}))
    assert make_page(tmp_path) == make_page(tmp_path)


def test_an_empty_folder_and_none(tmp_path: Path) -> None:
    assert "There are no records yet." in make_page(tmp_path)
    with pytest.raises(StorageError, match="There is no folder"):
        make_page(tmp_path / "none")


def test_runs_alone(tmp_path: Path) -> None:
    made = make_page(None, [write_run(tmp_path, evil_graphs())])
    assert 'id="run-1"' in made
    assert 'id="table-1"' not in made


def test_own_data_sets_have_sections_and_pictures_of_their_own(tmp_path: Path) -> None:
    for data in ("first", "second$^$", EVIL):
        for name in ("wl", "histogram"):
            write(tmp_path, make_record(data, name, 0, {name: 0.9, "majority": 0.5}, method=name))
    made = make_page(tmp_path)
    assert made.count('class="picture" role="img"') == 3
    for check in (
        test_identifiers_are_there_once,
        test_every_link_leads_somewhere_in_the_page,
        test_labels_stay_text,
        test_the_browser_is_told_to_load_nothing,
    ):
        check(made)


def test_every_colour_that_is_used_is_defined() -> None:
    text = asset("style.css")
    defined = set(re.findall(r"(--[\w-]+):", text))
    assert set(re.findall(r"var\((--[\w-]+)\)", text)) <= defined


def test_plots_and_the_page_have_the_same_colours() -> None:
    light = dict(re.findall(r"--([\w-]+): (#\w{6});", asset("style.css").partition("@media")[0]))
    assert (light["text"], light["quiet"], light["line"], light["back"]) == (
        TEXT,
        QUIET,
        GRID,
        BACK,
    )
    shown = [light[f"s{place}"] for place in range(len(COLOURS))]
    assert [a for a, b in zip(shown, COLOURS, strict=True) if a != b] == [TEXT]  # black is the text
