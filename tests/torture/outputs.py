"""Hostile names in data go through every output: escaped, quoted or refused, never obeyed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from tests.torture.attack import Attack, Batch, Row, command
from tests.torture.materials import SETTINGS, toy_graphs, write_materials

NAMES = (
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "\x1b[2J\x1b[31m", "a\rb",
    "a\nb", 'a"b,c', "=HYPERLINK(1)", "../../etc/passwd", "\u202eabc", "x" * 10_000, "",
    "{braces} %s %(x)s", "[bold red]rich[/]", "[/nothing]", "--force", "~", "$(id)", "`id`",
    "\x9b2J",
    "é\u0301\u200b", "CON", "\U0001f600", "]]>", "&lt;", "|pipes|", "\x07\x08",
)  # fmt: skip
_TAGS = {"script", "img", "iframe", "object", "embed", "base", "form"}


class _Tags(HTMLParser):
    """Collects what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.scripts: int = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_data = any(k == "src" and (v or "").startswith("data:") for k, v in attrs)
        if tag == "script":
            self.scripts += 1
        elif tag in _TAGS and not is_data:
            self.found.append(tag)
        self.found += [key for key, _ in attrs if key.startswith("on")]


def use(output: str, name: str, materials: Path, folder: Path) -> str | None:
    """Return a fault of one output of graphs with a hostile name; runs in a batch."""
    folder.mkdir(parents=True)
    data = folder / "toy.graphs"
    graphs = toy_graphs()
    named = (name,) * 10
    graphs = replace(graphs, ids=named, graph_names=named, name=name or "toy", notes=(name,))
    graphs = replace(graphs, class_names=(name or "a", "other"), node_label_names=(name, "N", "O"))
    graphs.save(data)
    run = materials / "run"
    lines: dict[str, list[object]] = {
        "data show": ["data", "show", data],
        "embed .csv": ["embed", run, data, "-o", folder / "v.csv", "--quiet"],
        "embed .parquet": ["embed", run, data, "-o", folder / "v.parquet", "--quiet"],
        "predict": ["predict", materials / "labelled", data, "-o", folder / "p.csv", "--quiet"],
        "neighbors": ["neighbors", run, data, "--query", "0"],
        "neighbors --json": ["neighbors", run, data, "--query", "0", "--json"],
        "train": ["train", data, "--quiet", *SETTINGS],
    }
    if output == "report":
        command("train", data, "-o", folder / "run", "--quiet", *SETTINGS)
        lines["report"] = ["report", "--run", folder / "run", "-o", folder / "p.html"]
    code, out, err = command(*lines[output])
    if code not in (0, 2):
        return f"exit code {code}: {err[-200:]}"
    if control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", out + err):
        return f"the control character {control[0]!r} is printed"
    if code == 0 and output == "embed .csv":
        with open(folder / "v.csv", newline="", encoding="utf-8") as file:
            if [row["id"] for row in csv.DictReader(file)] != list(named):
                return "the ids in the table are others"
    if code == 0 and output == "embed .parquet":
        import pyarrow.parquet

        if pyarrow.parquet.read_table(folder / "v.parquet")["id"].to_pylist() != list(named):
            return "the ids in the table are others"
    if code == 0 and output == "report":
        page = _Tags()
        page.feed((folder / "p.html").read_text())
        if page.found or "alert(1)</script>" in (folder / "p.html").read_text():
            return f"the page holds {page.found or 'a script of the name'}"
    above = folder.parent.parent
    if (above / "etc").exists() or Path("etc").exists():
        return "a file outside the folder"
    return None


OUTPUTS = ("data show", "embed .csv", "embed .parquet", "predict", "neighbors", "neighbors --json")
OUTPUTS += ("train", "report")


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row for every output together."""
    materials, folder = write_materials(attack), attack.place("outputs")
    row, number = Row("hostile names in every output"), 0
    with Batch(folder) as batch:
        for output in OUTPUTS:
            for name in NAMES[:: attack.amount(7, 1)]:
                number += 1
                place = folder / "work" / str(number)
                fault = batch.run(use, output, name, materials, place)
                row.count(fault, f"{output} of {name[:30]!r}")
    yield row
