"""``RecordFolder``: the records behind tables and pages, and the titles of their runs."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from igsd.baselines.registry import METHODS, method_names
from igsd.errors import StorageError
from igsd.evaluation import PROTOCOLS
from igsd.experiments.records import Record, is_fresh, plain_name, usable_record
from igsd.experiments.run import Run
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.report.summary import is_good, own_method

Found = tuple[str, Record]
"""The path of a record inside its folder, and the record."""

_REFERENCES = {
    "majority": "majority class",
    "mean": "mean of the labelled values",
    "morgan-bits": "Morgan fingerprints, bits (before counts)",
}


@dataclass(frozen=True)
class RecordGroup:
    """Records that differ in their seed alone; ``place`` is PROTOCOL/DATA/NAME in the folder."""

    place: str
    records: tuple[Record, ...]

    @property
    def data(self) -> str:
        """The name of the data set."""
        return str(self.records[0]["data"]["name"])

    @property
    def protocol(self) -> str:
        """The folder of the protocol, e.g. ``semi-0.1``."""
        return self.place.split("/")[0]

    @property
    def method(self) -> str:
        """The method that was run; a recipe is one of IGSD."""
        return own_method(self.records[0])

    @property
    def title(self) -> str:
        """The method or the recipe, the settings that differ from the usual ones, and ``stale``."""
        method = self.records[0].get("method")
        title = run_title(self.place.split("/")[-1], method, self.protocol)
        return title + (" (stale)" if self.is_stale else "")

    @property
    def order(self) -> int:
        """The position of its rows among those of other methods: as in the list of methods."""
        names = method_names("vectors" if self.protocol in PROTOCOLS else "classes")
        return names.index(self.method) if self.method in names else len(names)

    @property
    def is_stale(self) -> bool:
        """Whether another version of the algorithm made all of them."""
        return not any(is_fresh(record) for record in self.records)

    @cached_property
    def good(self) -> tuple[Record, ...]:
        """The records with a result, of the newest version of the algorithm."""
        newest = max(record["algorithm"] for record in self.records)
        return tuple(r for r in self.records if is_good(r) and r["algorithm"] == newest)


class RecordFolder:
    """The records in a folder, each read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broken: list[str] = []
        self._found: dict[Path, list[Found]] = {}

    def of(self, run: Run) -> list[Found]:
        """Return the records of a run, whatever their seed; warns of files that are not records."""
        return self._read(run.path(self.path).parent)

    def has_twins(self, run: Run) -> bool:
        """Return whether a run on the same data was scored without indistinguishable graphs too."""
        folder = run.path(self.path).parent.parent
        places = sorted(folder.iterdir()) if folder.is_dir() else []
        records = (record for place in places for _, record in self._read(place))
        return any(record["protocol"].get("twins") for record in records)

    def groups(self) -> dict[str, RecordGroup]:
        """Return all records by place; files that are not records are listed in ``broken``.

        Raises ``StorageError`` for a folder that does not exist.
        """
        if not self.path.is_dir():
            raise StorageError(
                f"There is no folder {self.path} with records; `igsd reproduce`, `igsd compare` "
                "and `igsd evaluate --records` make one."
            )
        groups = {}
        for folder in sorted({path.parent for path in self.path.glob("*/*/*/seed-*.json")}):
            place = folder.relative_to(self.path).as_posix()
            if found := self._read(folder):
                groups[place] = RecordGroup(place, tuple(record for _, record in found))
        return groups

    def _read(self, folder: Path) -> list[Found]:
        if folder not in self._found:
            paths = sorted(folder.glob("seed-*.json"))
            read = [(path.relative_to(self.path).as_posix(), usable_record(path)) for path in paths]
            self.broken += [place for place, record in read if record is None]
            found = [(place, record) for place, record in read if record is not None]
            self._found[folder] = sorted(found, key=lambda pair: pair[1]["seed"])
        return self._found[folder]


def run_title(label: str, method: str | None, protocol: str) -> str:
    """Return the title of runs: the method, or IGSD and its recipe, and the settings that differ.

    ``label``: the folder of their records, e.g. ``wl+epochs-4``; ``method``: None for a recipe.
    """
    stem = plain_name(method or "")
    if method is None or (protocol in PROTOCOLS and not label.startswith(stem)):
        recipe, _, changed = label.partition("+")
        title = f"IGSD, recipe {recipe}"
    elif method == "vectors":
        return f"{label.removeprefix('vectors+file-')} (vectors from a file)"
    else:
        title, changed = row_title(method, protocol), label.removeprefix(stem).lstrip("+")
    # A value may contain a plus sign; what follows it does not begin with the name of a setting.
    settings = re.split(r"\+(?=\w+-)", changed) if changed else []
    named = [s.replace("-", " ", 1) if "-" in s else f"settings {s}" for s in settings]
    return ", ".join([title, *named])


def row_title(method: str, protocol: str) -> str:
    """Return the title of a row of records, without the citation of the paper."""
    name = method.removesuffix(TWINS_REMOVED)
    if protocol not in PROTOCOLS and name in method_names("classes"):
        title = METHODS[name].label_title
    elif name in method_names():
        title = re.sub(r" \([^()]*\d{4}\)$", "", METHODS[name].title)
    else:
        title = _REFERENCES.get(name, name)
    return title + method.removeprefix(name)
