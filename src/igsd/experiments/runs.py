"""``Run``: one method on one data set with one seed, and the runs that an exhibit is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from igsd.baselines.registry import configure
from igsd.baselines.semi_methods import method_config, regression_config
from igsd.evaluation import PROTOCOLS
from igsd.evaluation.semi import LABEL_RATE
from igsd.experiments.exhibit import TARGET, TARGETS, VARIES_LABELS, Exhibit, Line, data_facts
from igsd.experiments.qm9_plan import qm9_config
from igsd.experiments.records import record_path, variant_label
from igsd.experiments.split_plan import split_folder
from igsd.graphs.graphset import GraphSet

RECIPES = ("molecules", "social")
"""The recipes that fit a data set by what its nodes show; one of them belongs to every set."""

Pairs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Run:
    """What makes a run this one, the graphs themselves apart; its record has a place of its own.

    ``data``: the name of the data set. ``changes``: settings that make a variant, which is part of
    the record's place. ``fixed``: settings that all methods have on this data set. ``target``: the
    number that is predicted; empty for classes, and for all properties of QM9 together.
    """

    protocol: str
    data: str
    method: str
    recipe: str
    seed: int
    changes: Pairs = ()
    fixed: Pairs = ()
    label_rate: float = LABEL_RATE
    target: str = ""

    @property
    def is_recipe(self) -> bool:
        """Whether IGSD is run by a recipe, and not a method within limits or with few labels."""
        return self.method == "igsd" and self.protocol in PROTOCOLS

    @property
    def has_floors(self) -> bool:
        """Whether what a gain is measured against is scored too: beside a data set's own recipe.

        Another recipe or setting is held against the floors there, on the same folds.
        """
        return self.recipe in RECIPES and not self.changes

    @property
    def label(self) -> str:
        """What the record's folder is called: recipe or method, and what is set otherwise."""
        base = self.recipe if self.is_recipe else self.method
        return variant_label(base, self.changes)

    def config(self) -> Any:
        """Return the settings of this run; raises ``ConfigError`` for one that does not exist."""
        changes = dict(self.fixed) | dict(self.changes) | {"seed": self.seed}
        if self.protocol in PROTOCOLS:
            return configure(self.method, self.recipe, changes)
        if self.protocol == "qm9":
            return qm9_config(self.method, self.recipe, changes)
        if self.target:
            return regression_config(self.method, self.recipe, changes)
        return method_config(self.method, self.recipe, changes)

    def path(self, records: Path) -> Path:
        """Return where the record of this run stands."""
        folder = split_folder(self.protocol, self.target, self.label_rate)
        return record_path(records, folder, self.data, self.label, self.seed)


def runs_of(
    exhibit: Exhibit, recipes: Mapping[str, str], num_seeds: int | None = None
) -> list[Run]:
    """Return the runs behind an exhibit on these data sets, the first seeds first, each once.

    ``recipes``: the recipe of each data set, by its name. ``num_seeds`` goes before the exhibit's.
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
    """Yield the run with seed 0 behind each point of a line: one in a table, several on an axis."""
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
    """Return the same run with seeds 0..N-1."""
    return [replace(run, seed=seed) for seed in range(num_seeds)]


def recipe_of(data: str, records: Path, protocol: str) -> str:
    """Return the recipe that belongs to a data set: known, or told by the records that are there.

    Records do not say whether graphs have node labels; the recipe that was run on them does.
    """
    facts = data_facts().get(data)
    if facts is not None:
        return facts.recipe
    there = [r for r in RECIPES if record_path(records, protocol, data, r, 0).parent.is_dir()]
    return there[0] if there else RECIPES[0]


def fitting_recipe(graphs: GraphSet) -> str:
    """Return the recipe that fits graphs, by what their nodes show."""
    molecules, social = RECIPES
    described = graphs.node_labels is not None or graphs.node_attributes is not None
    return molecules if described else social


def unknown_data(exhibit: Exhibit, records: Path) -> Sequence[str]:
    """Return the folders of data sets with records that are not in the exhibit, by name."""
    folder = records / exhibit.protocol
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [name for name in names if name not in exhibit.data and (folder / name).is_dir()]


def _varied(run: Run, settings: Mapping[str, Any]) -> Run:
    """Return the run with settings changed; what the recipe says already is no change."""
    usual = run.config().to_json()
    changes = tuple((k, v) for k, v in settings.items() if usual.get(k, run) != v)
    return replace(run, changes=changes)
