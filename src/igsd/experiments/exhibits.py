"""``Exhibit``: a table or figure of the paper as data: its printed figures, and its runs.

Each is a file in ``paper/``; ``paper_data.toml`` describes the data sets. No figure of the paper is
typed anywhere else.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError, nearest
from igsd.experiments.records import record_path
from igsd.experiments.run import Run
from igsd.experiments.trained import RECIPES
from igsd.graphs.datasets import find_entry

ALL = "all"
"""The name of all exhibits together."""

VARIES_LABELS = "label_rate"
"""An axis over the share of labelled graphs, which is not a setting of a method."""

TARGETS = "targets"
"""An axis over the predicted properties if one run gives all its points."""

TARGET = "target"
"""An axis over the predicted properties if each has its own run."""

ADDED = ("b3db", "b3db-logbb", "beyond")
"""Exhibits that are not in the paper; they come last."""

ACCURACY = "accuracy"
"""The default metric of an exhibit; another is ``mae``."""


@dataclass(frozen=True)
class Printed:
    """A printed result: an accuracy in per cent, or a word such as OMR instead."""

    mean: float | None = None
    std: float | None = None
    word: str | None = None


@dataclass(frozen=True)
class DataFacts:
    """A data set of the exhibits: its short name, our recipe for it, and the paper's counts."""

    name: str
    short: str
    recipe: str
    graphs: int | None = None
    classes: int | None = None
    nodes: float | None = None


@dataclass(frozen=True)
class Line:
    """A row of a table or a series of a figure.

    ``method`` is run; ``shows`` is the row of its records that is shown, e.g. ``untrained``.
    ``recipe``: None for the data set's own. ``settings`` override the recipe. ``printed``: the
    paper's figures by data set.
    """

    title: str
    method: str
    shows: str
    group: str = ""
    recipe: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    printed: Mapping[str, Printed] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """What a figure varies (a setting or one of the words above), and its values."""

    varies: str
    title: str
    values: tuple[Any, ...]
    log: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table, or with ``axis`` a figure.

    ``source``: where the printed figures, or the data, come from; ``printed_by``: the word before a
    printed figure. ``protocol`` is run, results of ``shown`` are shown, and printed figures stand
    beside those of ``printed_under``. ``seeds``: for all data sets but those in ``seeds_of``.
    ``settings_of``: settings of a data set, for every method. ``spread``: the deviation over
    ``seeds`` or over ``folds``. ``other_data``: whether users may add data sets. ``best_under``:
    the protocol under which the best seed is shown too. ``metric``: the figure of a row that is
    shown. ``target``: the predicted number, if it is not the class. ``compared``: a method compared
    with those of ``compared_with``, seed by seed.
    """

    name: str
    title: str
    about: str
    source: str
    protocol: str
    shown: tuple[str, ...]
    printed_under: str
    data: tuple[str, ...]
    seeds: int
    lines: tuple[Line, ...]
    axis: Axis | None = None
    spread: str = "seeds"
    statistics: bool = False
    other_data: bool = False
    baseline: str | None = None
    printed_by: str = "paper"
    best_under: str = ""
    metric: str = ACCURACY
    target: str = ""
    compared: str = ""
    compared_with: Sequence[str] = ()
    seeds_of: Mapping[str, int] = field(default_factory=dict)
    settings_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def num_seeds(self, data: str) -> int:
        """Return the number of seeds on a data set."""
        return self.seeds_of.get(data, self.seeds)


def exhibit_names() -> list[str]:
    """Return the names of all exhibits: tables, figures, then those not in the paper."""
    folder = resources.files("igsd.experiments") / "paper"
    names = [f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")]
    return sorted(names, key=lambda n: (n in ADDED, n.startswith("figure"), n == "gckn", n))


def find_exhibits(name: str) -> list[Exhibit]:
    """Return the exhibit of this name, or all of them; raises ``ConfigError``."""
    names = exhibit_names()
    if name == ALL:
        return [read_exhibit(each) for each in names]
    if name not in names:
        hint = nearest(name, [*names, ALL])
        raise ConfigError(f"There is no table or figure {name!r}. {hint}")
    return [read_exhibit(name)]


@cache
def read_exhibit(name: str) -> Exhibit:
    """Return the exhibit in ``paper/NAME.toml``."""
    folder = resources.files("igsd.experiments") / "paper"
    values = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    return parse_exhibit(name, values)


def parse_exhibit(name: str, values: Mapping[str, Any]) -> Exhibit:
    """Return the exhibit described by parsed TOML."""
    rest = dict(values)
    lines = tuple(_lines([*rest.pop("row", ()), *rest.pop("series", ())]))
    axis = rest.pop("axis", None)
    if axis is not None:
        axis = Axis(**axis | {"values": tuple(axis["values"])})
    shown = tuple(rest.pop("shown", [rest["protocol"]]))
    under = rest.pop("printed_under", shown[0])
    data = tuple(rest.pop("data"))
    return Exhibit(
        name=name, lines=lines, axis=axis, shown=shown, printed_under=under, data=data, **rest
    )


@cache
def data_facts() -> dict[str, DataFacts]:
    """Return the facts about the data sets of the exhibits, by name."""
    text = (resources.files("igsd.experiments") / "paper_data.toml").read_text(encoding="utf-8")
    return {name: DataFacts(name, **values) for name, values in tomllib.loads(text).items()}


def short_name(data: str) -> str:
    """Return the paper's name of a data set; other sets keep their own."""
    facts = data_facts().get(data)
    return data if facts is None else facts.short


def _lines(rows: list[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield the lines; ``printed`` may name another line with the same figures."""
    printed = {row["title"]: row.get("printed", {}) for row in rows}
    for row in rows:
        values = dict(row)
        cells = values.pop("printed", {})
        cells = printed[cells] if isinstance(cells, str) else cells
        values.setdefault("shows", values["method"])
        yield Line(**values, printed={data: _printed(cell) for data, cell in cells.items()})


def _printed(cell: list[float] | str) -> Printed:
    if isinstance(cell, str):
        return Printed(word=cell)
    return Printed(cell[0], cell[1] if len(cell) > 1 else None)


def runs_of(
    exhibit: Exhibit, recipes: Mapping[str, str], num_seeds: int | None = None
) -> list[Run]:
    """Return the runs of an exhibit on these data sets, low seeds first, without repetition.

    ``recipes``: the recipe of each data set. ``num_seeds`` overrides the exhibit's.
    """
    found = {
        run: None
        for data, recipe in recipes.items()
        for line in exhibit.lines
        for first in points(exhibit, line, data, recipe)
        for run in seeds_of(first, num_seeds or exhibit.num_seeds(data))
    }
    return sorted(found, key=lambda run: run.seed)


def points(exhibit: Exhibit, line: Line, data: str, recipe: str) -> Iterator[Run]:
    """Yield the run with seed 0 of each point of a line: one in a table, several on an axis."""
    axis = exhibit.axis
    fixed = tuple(exhibit.settings_of.get(data, {}).items())
    run = Run(exhibit.protocol, data, line.method, line.recipe or recipe, 0, fixed=fixed)
    run = replace(run, target=exhibit.target)
    if axis is None or axis.varies == TARGETS:
        yield _varied(run, line.settings)
    elif axis.varies == VARIES_LABELS:
        yield from (_varied(replace(run, label_rate=v), line.settings) for v in axis.values)
    elif axis.varies == TARGET:
        yield from (_varied(replace(run, target=v), line.settings) for v in axis.values)
    else:
        yield from (_varied(run, {**line.settings, axis.varies: v}) for v in axis.values)


def seeds_of(run: Run, num_seeds: int) -> list[Run]:
    """Return a run with each of the seeds 0..N-1."""
    return [replace(run, seed=seed) for seed in range(num_seeds)]


def recipe_of(data: str, records: Path, protocol: str) -> str:
    """Return the recipe of a data set: known, or the one that its records were made with."""
    facts = data_facts().get(data)
    if facts is not None:
        return facts.recipe
    there = [r for r in RECIPES if record_path(records, protocol, data, r, 0).parent.is_dir()]
    return there[0] if there else RECIPES[0]


def unknown_data(exhibit: Exhibit, records: Path) -> Sequence[str]:
    """Return the names of data sets that have records but are not in the exhibit."""
    folder = records / exhibit.protocol
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [name for name in names if name not in exhibit.data and (folder / name).is_dir()]


def _varied(run: Run, settings: Mapping[str, Any]) -> Run:
    """Return the run with changed settings; values equal to the recipe's do not count."""
    usual = run.config().to_json()
    changes = tuple((k, v) for k, v in settings.items() if usual.get(k, run) != v)
    return replace(run, changes=changes)


def narrowed(
    exhibits: Sequence[Exhibit], data: Sequence[str], methods: Sequence[str]
) -> list[Exhibit]:
    """Return the exhibits restricted to some data sets and methods; empty ones are dropped.

    Exhibits with ``other_data`` also take data sets that they do not name. Empty lists keep
    everything. Raises ``ConfigError`` for a name that is in none of them.
    """
    found = [_with_methods(_with_data(e, data), methods) for e in exhibits]
    kept = [exhibit for exhibit in found if exhibit.data and exhibit.lines]
    # Methods first: without a known one, no exhibit is left to have data sets.
    for asked, valid, used, kind in (
        (methods, _methods(exhibits), _methods(exhibits), "method"),
        (data, _data(exhibits), _data(kept), "data set"),
    ):
        for name in asked:
            if _known_as(name) not in used:
                said = f"{exhibits[0].name} has no" if len(exhibits) == 1 else "Nothing has a"
                raise ConfigError(f"{said} {kind} {name!r}. {nearest(name, valid)}")
    return kept


def _methods(exhibits: Sequence[Exhibit]) -> set[str]:
    return {line.method for exhibit in exhibits for line in exhibit.lines}


def _data(exhibits: Sequence[Exhibit]) -> set[str]:
    return {name for exhibit in exhibits for name in exhibit.data}


def _with_data(exhibit: Exhibit, asked: Sequence[str]) -> Exhibit:
    if not asked:
        return exhibit
    names = [_known_as(name) for name in asked]
    kept = [name for name in names if name in exhibit.data or exhibit.other_data]
    return replace(exhibit, data=tuple(dict.fromkeys(kept)), other_data=False)


def _with_methods(exhibit: Exhibit, asked: Sequence[str]) -> Exhibit:
    lines = tuple(line for line in exhibit.lines if not asked or line.method in asked)
    return replace(exhibit, lines=lines)


def _known_as(name: str) -> str:
    """Return the name of a data set in the catalogue; paths and other names stay as they are."""
    entry = find_entry(name)
    return name if entry is None else entry.name
