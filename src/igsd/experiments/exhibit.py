"""``Exhibit``: a table or figure of the paper as data: what it printed, and what we run for it.

Each is a file in ``paper/``; ``paper_data.toml`` describes the data sets. No figure of the paper is
typed anywhere else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from igsd.errors import ConfigError, nearest

ALL = "all"
"""Stands for every exhibit."""

VARIES_LABELS = "label_rate"
"""What an axis varies when that is no setting of a method but the share of labelled graphs."""

TARGETS = "targets"
"""What an axis varies when one run gives all its points: the properties that are predicted."""

TARGET = "target"
"""What an axis varies when each of these properties has a run of its own."""

ADDED = ("b3db", "b3db-logbb", "beyond")
"""Exhibits that the paper does not have; they come last."""

ACCURACY = "accuracy"
"""What an exhibit shows of a record where it does not name another figure, such as ``mae``."""


@dataclass(frozen=True)
class Printed:
    """What a paper printed: an accuracy in per cent, or a word such as OMR in its place."""

    mean: float | None = None
    std: float | None = None
    word: str | None = None


@dataclass(frozen=True)
class DataFacts:
    """A data set of the exhibits: its short name, our recipe for it, and what the paper counts."""

    name: str
    short: str
    recipe: str
    graphs: int | None = None
    classes: int | None = None
    nodes: float | None = None


@dataclass(frozen=True)
class Line:
    """A row of a table or a series of a figure.

    ``method`` is what is run; ``shows`` the row of its records that is shown, e.g. ``untrained``.
    ``recipe``: None for the one that belongs to the data set. ``settings`` go over the recipe.
    ``printed``: the paper's figures by data set.
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
    """What a figure varies, and the values: a setting or one of the words above."""

    varies: str
    title: str
    values: tuple[Any, ...]
    log: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table, or with ``axis`` a figure.

    ``source``: a sentence on where the figures of others stand, or the data; ``printed_by``: what
    stands before such a figure. ``protocol`` is run, ``shown`` are the protocols whose results are
    shown, printed figures stand beside those of ``printed_under``. ``seeds`` holds for all data
    sets but those of ``seeds_of``. ``settings_of``: what is set otherwise for a data set, whatever
    the method.
    ``spread``: whether the deviation is over ``seeds`` or over ``folds``. ``other_data``: whether
    data sets of the user may be added. ``best_under``: the protocol under which the best seed is
    told too. ``metric``: the figure of a row of a record that is shown. ``target``: the number that
    is predicted, where it is not the class. ``compared``: a method that is held against those of
    ``compared_with``, seed by seed.
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
        """Return how many seeds are run on a data set."""
        return self.seeds_of.get(data, self.seeds)


def exhibit_names() -> list[str]:
    """Return the names of all exhibits: the paper's tables, its figures, what is not in it."""
    folder = resources.files("igsd.experiments") / "paper"
    names = [f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")]
    return sorted(names, key=lambda n: (n in ADDED, n.startswith("figure"), n == "gckn", n))


def find_exhibits(name: str) -> list[Exhibit]:
    """Return the exhibit with this name, or every one for ``all``; raises ``ConfigError``."""
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
    """Return the exhibit that these values, as TOML gives them, describe."""
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
    """Return what is known of the data sets of the exhibits, by name."""
    text = (resources.files("igsd.experiments") / "paper_data.toml").read_text(encoding="utf-8")
    return {name: DataFacts(name, **values) for name, values in tomllib.loads(text).items()}


def short_name(data: str) -> str:
    """Return the name of a data set as the paper writes it; other sets keep their own."""
    facts = data_facts().get(data)
    return data if facts is None else facts.short


def _lines(rows: list[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield the lines; ``printed`` may name another line whose figures are the same."""
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
