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
from igsd.graphs.datasets import find_entry
from igsd.graphs.summary import RECIPES

ALL = "all"
"""The name of all exhibits together."""

ADDED = ("b3db", "b3db-logbb", "molecules", "pretraining", "beyond")
"""Exhibits that are not in the paper; they come last."""

_FOLDER = resources.files("igsd.experiments")


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
    """What a figure varies, and its values.

    ``varies``: a setting; ``label_rate``, the share of labelled graphs; ``targets``, the predicted
    properties if one run gives all of them; or ``target`` if each has its own run.
    """

    varies: str
    title: str
    values: tuple[Any, ...]
    log: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table, or with ``axis`` a figure.

    ``source``: where the printed figures, or the data, come from; ``printed_by``: the word before a
    printed figure. ``protocol`` is run, results of ``shown`` are shown, those of ``protocol`` rank,
    and printed figures stand beside those of ``printed_under``. ``seeds``: for all data sets but
    those in ``seeds_of``. ``settings_of``: of a data set, for methods that have them. ``spread``:
    the deviation over ``seeds`` or over ``folds``. ``other_data``: whether users may add data sets.
    ``best_under``: the protocol under which the best seed is shown too. ``metric``: the figure of a
    row that is shown, ``accuracy`` or ``mae``. ``target``: the predicted number, if it is not the
    class. ``compared``: a method compared with those of ``compared_with``, seed by seed.

    ``splits``: the protocols that a table of splits has, with ``seeds`` splits each, and ``labels``
    the numbers of labels shown (0: all); every result is compared with that of ``compared``.
    ``numbers``: the data sets whose labels are numbers.
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
    metric: str = "accuracy"
    target: str = ""
    compared: str = ""
    compared_with: Sequence[str] = ()
    splits: Sequence[str] = ()
    labels: Sequence[int] = ()
    numbers: Sequence[str] = ()
    seeds_of: Mapping[str, int] = field(default_factory=dict)
    settings_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def num_seeds(self, data: str) -> int:
        """Return the number of seeds on a data set."""
        return self.seeds_of.get(data, self.seeds)


def exhibit_names() -> list[str]:
    """Return the names of all exhibits: tables, figures, then those not in the paper."""
    files = [file.name for file in (_FOLDER / "paper").iterdir()]
    names = [name.removesuffix(".toml") for name in files if name.endswith(".toml")]
    return sorted(names, key=lambda n: (n in ADDED, n.startswith("figure"), n == "gckn", n))


def find_exhibits(name: str) -> list[Exhibit]:
    """Return the exhibit of this name, or all of them; raises ``ConfigError``."""
    names = exhibit_names()
    if name not in (*names, ALL):
        hint = nearest(name, [*names, ALL])
        raise ConfigError(f"There is no table or figure {name!r}. {hint}")
    return [read_exhibit(each) for each in (names if name == ALL else [name])]


@cache
def read_exhibit(name: str) -> Exhibit:
    """Return the exhibit in ``paper/NAME.toml``."""
    text = (_FOLDER / "paper" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_exhibit(name, tomllib.loads(text))


def parse_exhibit(name: str, values: Mapping[str, Any]) -> Exhibit:
    """Return the exhibit described by parsed TOML."""
    shown = tuple(values.get("shown", [values["protocol"]]))
    rest = {"printed_under": shown[0], **values, "shown": shown, "data": tuple(values["data"])}
    if "axis" in rest:
        rest["axis"] = Axis(**rest["axis"] | {"values": tuple(rest["axis"]["values"])})
    lines = _lines([*rest.pop("row", ()), *rest.pop("series", ())])
    return Exhibit(name=name, lines=tuple(lines), **rest)


@cache
def data_facts() -> dict[str, DataFacts]:
    """Return the facts about the data sets of the exhibits, by name."""
    text = (_FOLDER / "paper_data.toml").read_text(encoding="utf-8")
    return {name: DataFacts(name, **values) for name, values in tomllib.loads(text).items()}


def short_name(data: str) -> str:
    """Return the paper's name of a data set; other sets keep their own."""
    return data_facts()[data].short if data in data_facts() else data


def _lines(rows: list[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield the lines; ``printed`` may name another line with the same figures."""
    printed = {row["title"]: row.get("printed", {}) for row in rows}
    for row in rows:
        cells = printed[row["title"]]
        cells = printed[cells] if isinstance(cells, str) else cells
        figures = {
            data: Printed(word=cell) if isinstance(cell, str) else Printed(*cell)
            for data, cell in cells.items()
        }
        yield Line(**{"shows": row["method"], **row, "printed": figures})


def runs_of(
    exhibit: Exhibit, recipes: Mapping[str, str], num_seeds: int | None = None
) -> list[Run]:
    """Return the runs of an exhibit on these data sets, low seeds first, without repetition.

    ``recipes``: the recipe of each data set. ``num_seeds`` overrides the exhibit's.
    """
    firsts = [
        (first, num_seeds or exhibit.num_seeds(data))
        for data, recipe in recipes.items()
        for line in exhibit.lines
        for first in points(exhibit, line, data, recipe)
    ]
    if exhibit.splits:  # one run makes all splits
        return list(dict.fromkeys(replace(first, num_splits=count) for first, count in firsts))
    found = dict.fromkeys(
        recorded_under(replace(first, seed=seed), protocol)
        for first, count in firsts
        for seed in range(count)
        for protocol in (exhibit.protocol, *exhibit.shown)
    )
    return sorted(found, key=lambda run: run.seed)


def recorded_under(run: Run, protocol: str) -> Run:
    """Return the run whose record has the results under a protocol.

    Protocols that score vectors have records of their own; those of ``semi`` have the rows of
    ``semi-paper`` too.
    """
    return replace(run, protocol=protocol) if run.scores_vectors else run


def points(exhibit: Exhibit, line: Line, data: str, recipe: str) -> Iterator[Run]:
    """Yield the run with seed 0 of each point of a line: one in a table, several on an axis.

    In a table of splits there is one for each kind.
    """
    axis, recipe = exhibit.axis, line.recipe or recipe
    run = Run(exhibit.protocol, data, line.method, recipe, 0, target=exhibit.target)
    run = run.with_known(exhibit.settings_of.get(data, {}))
    if exhibit.splits:
        run = replace(run, num_splits=exhibit.num_seeds(data), train_labels=tuple(exhibit.labels))
        for kind in exhibit.splits:
            yield _varied(
                replace(run, protocol=kind, numbers=data in exhibit.numbers), line.settings
            )
        return
    if axis is None or axis.varies == "targets":
        yield _varied(run, line.settings)
        return
    for value in axis.values:
        point: dict[str, Any] = {axis.varies: value}
        if axis.varies in ("label_rate", "target"):
            yield _varied(replace(run, **point), line.settings)
        else:
            yield _varied(run, {**line.settings, **point})


def recipe_of(data: str, records: Path, protocol: str) -> str:
    """Return the recipe of a data set: known, or the one that its records were made with."""
    if data in data_facts():
        return data_facts()[data].recipe
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
    names = dict.fromkeys(_known_as(name) for name in data)
    kept = []
    for exhibit in exhibits:
        lines = tuple(line for line in exhibit.lines if not methods or line.method in methods)
        there = tuple(name for name in names if name in exhibit.data or exhibit.other_data)
        if names:
            exhibit = replace(exhibit, data=there, other_data=False)
        if exhibit.data and lines:
            kept.append(replace(exhibit, lines=lines))
    # Methods first: without a known one, no exhibit is left to have data sets.
    known = {line.method for exhibit in exhibits for line in exhibit.lines}
    valid = {name for exhibit in exhibits for name in exhibit.data}
    left = {name for exhibit in kept for name in exhibit.data}
    faults = [("method", name, known) for name in methods if name not in known]
    faults += [("data set", name, valid) for name in data if _known_as(name) not in left]
    for kind, name, others in faults:
        said = f"{exhibits[0].name} has no" if len(exhibits) == 1 else "Nothing has a"
        raise ConfigError(f"{said} {kind} {name!r}. {nearest(name, others)}")
    return kept


def _known_as(name: str) -> str:
    """Return the name of a data set in the catalogue; paths and other names stay as they are."""
    entry = find_entry(name)
    return name if entry is None else entry.name
