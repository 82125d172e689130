"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from igsd.report.page.document import make_page
from tests.report.page.chromium import Chromium, find_chromium
from tests.report.page.made_up_run import EVIL, evil_graphs, write_run
from tests.report.record_files import make_record, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_chromium() is None, reason="there is no Chromium: apt install chromium"
    ),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    records = folder / "records"
    for seed in (0, 1):
        scores = {"igsd": 0.9 - seed / 50, "untrained": 0.8}
        history = [{"epoch": i, "total": 1 / (i + 1)} for i in range(5)]
        write(records, make_record("MUTAG", "molecules", seed, scores, history=history))
        write(records, make_record(EVIL, "molecules", seed, {EVIL: 0.9}, notes=[EVIL]))
    (folder / "logBB.txt").write_text("\n".join(["0.5", "", "-1"] * 4) + "\n")
    learned = {"source": str(folder / "logBB.txt"), "task": "numbers"}
    graphs = evil_graphs()
    runs = [write_run(folder, graphs), write_run(folder / "numbers", graphs, labels=learned)]
    file = folder / "page.html"
    file.write_text(make_page(records, runs), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium(find_chromium() or "") as opened:
        yield opened


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_loaded_and_nobody_complains(page: Path, browser: Chromium, width: int) -> None:
    browser.open(page, width)
    assert browser.requests() == [page.as_uri()]
    assert browser.complaints() == []
    # Wide tables scroll in their boxes, the page itself does not.
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_labels_stay_text(page: Path, browser: Chromium) -> None:
    browser.open(page)
    choose = (
        "f = document.querySelector('.choose'); f.value = 2; f.dispatchEvent(new Event('change'))"
    )
    browser.run(choose)
    assert browser.run("typeof window.evil") == "undefined"
    assert browser.run("document.images.length") == 0
    assert EVIL in browser.run("document.querySelector('.looked').textContent")
    assert EVIL in browser.run("document.querySelector('.legend').textContent")
    assert EVIL in browser.run("document.querySelector('#data-1').textContent")
    assert browser.complaints() == []


def test_a_cell_leads_to_its_records(page: Path, browser: Chromium) -> None:
    browser.open(page)
    place = "records/nested/MUTAG/molecules"
    is_open = f"document.getElementById('{place}').open"
    assert browser.run(is_open) is False
    browser.run(f"document.querySelector('#table-1 a[href=\"#{place}\"]').click()")
    browser.run("new Promise((done) => setTimeout(done, 0))")
    assert browser.run(is_open) is True
    assert browser.run("document.activeElement.tagName") == "SUMMARY"


def test_the_map_works_from_the_keyboard(page: Path, browser: Chromium) -> None:
    browser.open(page)
    browser.run("document.querySelector('.plot').focus()")
    assert browser.run("document.querySelectorAll('.marks .seen').length") == 1
    first = browser.run("document.querySelector('.looked p').textContent")
    assert first.startswith("graph 0, class ")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp"):
        browser.press(key)
    browser.press("Enter")
    assert browser.run("document.querySelectorAll('.near button').length") == 8
    assert browser.run("document.querySelectorAll('.near .card svg').length") == 8
    assert browser.run("document.querySelectorAll('.marks .close').length") == 8
    browser.run("document.querySelector('.near button').focus()")
    browser.press("Enter")
    assert browser.run("document.activeElement.getAttribute('class')") == "plot"


def test_the_map_works_with_the_mouse(page: Path, browser: Chromium) -> None:
    browser.open(page)
    spot = browser.run(
        "(() => { document.querySelector('.plot').scrollIntoView();"
        "const b = document.querySelectorAll('.marks path')[5].getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    browser.mouse("mouseMoved", *spot)
    assert browser.run("document.querySelector('.looked p').textContent").startswith("graph 5,")
    assert browser.run("document.querySelectorAll('.looked .card circle').length") >= 3
    browser.mouse("mousePressed", *spot)
    browser.mouse("mouseReleased", *spot)
    assert browser.run("document.querySelector('.choose').value") == "5"


def test_numbers_have_colours_of_a_scale(page: Path, browser: Chromium) -> None:
    for dark, least, most in ((False, "176, 221, 47", "68, 1, 84"),
                              (True, "62, 73, 137", "253, 231, 37")):  # fmt: skip
        browser.open(page, dark=dark)
        for part, colour in (("v0", f"rgb({least})"), ("v8", f"rgb({most})"), ("hollow", "none")):
            for place in (".marks", ".legend"):
                mark = f"document.querySelector('#run-2-map {place} .{part}')"
                assert browser.run(f"getComputedStyle({mark}).fill") == colour


def test_focus_can_be_seen_and_the_first_stop_skips_the_contents(
    page: Path, browser: Chromium
) -> None:
    browser.open(page)
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the content"
    width = "parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
    assert browser.run(width) >= 2
    assert browser.run("document.activeElement.getBoundingClientRect().left") >= 0


def test_dark_where_it_is_wanted(page: Path, browser: Chromium) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, dark=True)
    dark = browser.run(back)
    browser.open(page)
    assert (dark, browser.run(back)) == ("rgb(20, 24, 28)", "rgb(255, 255, 255)")


@pytest.mark.parametrize("width", [1300, 400])
def test_own_records_are_a_table_and_a_picture(
    tmp_path: Path, browser: Chromium, width: int
) -> None:
    for name in ("wl", "histogram"):
        write(tmp_path, make_record("mine", name, 0, {name: 0.9, "majority": 0.5}, method=name))
    (tmp_path / "page.html").write_text(make_page(tmp_path), encoding="utf-8")
    browser.open(tmp_path / "page.html", width)
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    letters = "getComputedStyle(document.querySelector('.picture text')).fontSize"
    assert float(browser.run(letters).removesuffix("px")) >= 8
    assert browser.run("document.querySelector('svg.picture').clientWidth") >= 720


@pytest.mark.parametrize("width", [1300, 400])
def test_the_title_of_an_axis_covers_no_tick(tmp_path: Path, browser: Chromium, width: int) -> None:
    history = [{"epoch": i, "supcon": 2.55 + i / 20} for i in range(5)]
    write(tmp_path, make_record("mine", "molecules", 0, {"igsd": 0.9}, history=history))
    (tmp_path / "page.html").write_text(make_page(tmp_path), encoding="utf-8")
    browser.open(tmp_path / "page.html", width)
    browser.run("document.querySelector('details').open = true")
    boxes = "[...document.querySelectorAll('.chart text')].map((t) => [t.textContent, "
    boxes += "t.getBoundingClientRect().left, t.getBoundingClientRect().right])"
    found = {text: (left, right) for text, left, right in browser.run(boxes)}
    ticks = [ends[0] for text, ends in found.items() if text.startswith("2.")]
    assert ticks
    assert found["supcon"][1] <= min(ticks)
