"""README and documentation: the code runs, the commands parse, the site builds offline."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from igsd.cli.main import main, make_parser
from igsd.experiments.exhibits import exhibit_names
from igsd.settings.own import KINDS
from tests.experiments.method_stand_in import Made, in_process
from tests.own_parts import Write, write_module

__all__ = ["in_process", "write_module"]

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+\.py)\n")
"""The first line of a block that is a file."""
NEEDS = {"molecules.md": "rdkit"}


def blocks(text: str, language: str) -> list[tuple[int, str]]:
    """Return (line, code) of every block in a language."""
    found = [(text[: m.start()].count("\n") + 2, m[1], m[2]) for m in BLOCK.finditer(text)]
    return [(line, code) for line, name, code in found if name == language]


def commands(text: str) -> list[tuple[int, str]]:
    """Return (line, command) of every call of igsd in a block without a language."""
    return [
        (first + place, line)
        for first, code in blocks(text, "")
        for place, line in enumerate(code.splitlines())
        if line.startswith("igsd ")
    ]


def test_blocks_are_found() -> None:
    text = "a\n```python\nx = 1\n```\n```\nigsd data list  # all\n```\n```python\ny = x\n```\n"
    assert blocks(text, "python") == [(3, "x = 1\n"), (9, "y = x\n")]
    assert commands(text) == [(6, "igsd data list  # all")]


def test_every_table_and_figure_is_named() -> None:
    text = (ROOT / "docs" / "evaluating.md").read_text()
    assert [name for name in exhibit_names() if f"`{name}`" not in text] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


QUOTED = (
    "README.md",
    "choosing.md",
    "evaluating.md",
    "few_labels.md",
    "molecules.md",
    "networks.md",
)
RENDERED = re.compile(r"<!-- ([\w ]+): begin.*?<!-- \1: end -->", re.DOTALL)
FIGURE = re.compile(r"(?<![\d.])(?:\d\d\.\d|0\.\d{3})(?![\d.])")


@pytest.mark.parametrize("page", [p for p in PAGES if p.name in QUOTED], ids=lambda page: page.name)
def test_figures_in_the_prose_are_those_of_the_records(page: Path) -> None:
    """Scores quoted in a sentence must stand on the results page, which records render."""
    rendered = set(FIGURE.findall((ROOT / "docs" / "results.md").read_text()))
    prose = RENDERED.sub("", page.read_text())  # what a command renders from other records
    assert set(FIGURE.findall(prose)) - rendered == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_valid(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line, command in commands(page.read_text()):
        arguments = shlex.split(command, comments=True)[1:]
        try:
            make_parser(arguments).parse_args(arguments)
        except SystemExit:
            pytest.fail(f"{page.name}:{line}: {command}\n{capsys.readouterr().err}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_local_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p.read_text(), "python")], ids=lambda page: page.name
)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name], reason=f"{page.name} needs an extra")
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page.read_text(), "python"):
        if named := FILE_NAME.match(code):
            (tmp_path / named[1]).write_text(code)
        # Blank lines in front, so that a traceback names the line of the page.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), session)


def test_the_cookbook_is_short_and_its_commands_run(
    write_module: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str], in_process: Made
) -> None:
    text = (ROOT / "docs" / "cookbook.md").read_text()
    for _, code in blocks(text, "python"):
        assert len(code.splitlines()) < 30
        if named := FILE_NAME.match(code):
            offers = {"readers": "cycles = my_readers:read_cycles"}
            name = named[1].removesuffix(".py")
            write_module(name, code, offers if name == "my_readers" else None)
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).random((188, 4)))
    (tmp_path / "rings.cycles").write_text("3\n4\n5\n")
    for _, command in [*commands(text), (0, "igsd data show rings.cycles")]:
        arguments = shlex.split(command, comments=True)[1:]
        if arguments[0] == "compare":
            quick = [] if "--splits" in arguments else ["--standardise", "no"]
            arguments += [*quick, "--jobs", "1"]
        assert main(arguments) == 0, capsys.readouterr().err
    assert tomllib.loads(blocks(text, "toml")[0][1])["project"]["entry-points"].keys() == {
        f"igsd.{kind}" for kind in KINDS
    }


class Loaded(HTMLParser):
    """Collects what a browser would fetch from elsewhere while it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.remote: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            fetched = name in ("src", "srcset", "data") or (name == "href" and tag == "link")
            if fetched and value and re.match(r"(https?:)?//", value):
                self.remote.append(f"<{tag} {name}={value}>")


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("zensical"), reason="the site needs igsd[docs]")
def test_the_site_builds_without_warnings_and_loads_nothing(tmp_path: Path) -> None:
    for name in ("docs", "scripts", "src"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    said = built.stdout + built.stderr
    assert built.returncode == 0, said
    assert "griffe:" not in said, said
    pages = sorted((tmp_path / "site").glob("*.html"))
    assert {page.stem for page in pages} == {page.stem for page in PAGES[1:]} | {"404"}
    for page in pages:
        loaded = Loaded()
        loaded.feed(page.read_text())
        assert loaded.remote == [], page.name
    for sheet in (tmp_path / "site").rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", sheet.read_text()), sheet.name
    reference = (tmp_path / "site" / "api.html").read_text()
    assert all(name in reference for name in ("IGSDRegressor", "temperature", "open_data"))


@pytest.mark.parametrize("page", ["docs/paper_map.md", "docs/design.md", "CONTRIBUTING.md"])
def test_named_code_exists(page: str) -> None:
    """Check every ``folder/file.py`` and ``folder/file.py: name`` against the source."""
    text = (ROOT / page).read_text()
    for path, name in re.findall(r"`([\w/]+\.(?:py|toml))(?:: (\w+))?`", text):
        if "NAME" in path:  # stands for a new file
            continue
        places = [ROOT / path, ROOT / "src" / "igsd" / path]
        found = next((place for place in places if place.exists()), None)
        assert found is not None, f"{page} names {path}"
        if name:
            pattern = rf"^\s*(?:def|class) {name}\b|^\s*{name}\b.*=|^{name} ="
            assert re.search(pattern, found.read_text(), re.MULTILINE), f"{page}: {path}: {name}"
