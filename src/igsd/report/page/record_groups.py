"""``RecordGroup``: the records of one run over its seeds, and where they stand in the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.errors import StorageError
from igsd.experiments.records import Record, is_fresh, usable_record
from igsd.experiments.rows import Row, result_from_dict
from igsd.report.run_title import run_order, run_title


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
    def name(self) -> str:
        """The method or the recipe, and what is set otherwise."""
        return self.place.split("/")[-1]

    @property
    def method(self) -> str:
        """The row of the records that is the method's own; a recipe is one of IGSD."""
        return str(self.records[0].get("method", "igsd"))

    @property
    def title(self) -> str:
        """What its rows are called: the method or the recipe, what is set otherwise, if stale."""
        named = run_title(self.name, self.records[0].get("method"), self.protocol)
        return named + (" (stale)" if self.is_stale else "")

    @property
    def order(self) -> int:
        """Where its rows stand among those of other runs."""
        return run_order(self.records[0].get("method"), self.protocol)

    @property
    def word(self) -> str | None:
        """How runs ended that have no figures, None where all have."""
        ended = [str(r.get("word", r["status"])) for r in self.records if r["status"] != "ok"]
        return ", ".join(dict.fromkeys(ended)) or None

    @property
    def good(self) -> tuple[Record, ...]:
        """The records that ended well, of the newest version of the algorithm that there is."""
        newest = max(record["algorithm"] for record in self.records)
        return tuple(r for r in self.records if r["status"] == "ok" and r["algorithm"] == newest)

    @property
    def is_stale(self) -> bool:
        """Whether all were made by another version of the algorithm."""
        return not any(is_fresh(record) for record in self.records)

    def rows(self) -> list[Row]:
        """Return the rows with accuracies, over the seeds, in the order of the records."""
        found: dict[tuple[str, str], list[Any]] = {}
        for record in self.good:
            for row in record["rows"]:
                if "accuracies" in row:
                    key = (row["method"], row["protocol"])
                    found.setdefault(key, []).append(result_from_dict(row))
        return [Row(*key, tuple(results)) for key, results in found.items()]

    def errors(self) -> dict[str, list[float]]:
        """Return the mean absolute errors of one number, seed by seed, by method."""
        found: dict[str, list[float]] = {}
        for record in self.good:
            for row in record["rows"]:
                if isinstance(row.get("mae"), float):
                    found.setdefault(row["method"], []).append(row["mae"])
        return found


def read_groups(folder: Path) -> tuple[dict[str, RecordGroup], list[str]]:
    """Return the records ``PROTOCOL/DATA/NAME/seed-N.json`` in a folder by place, and other files.

    Files in a record's place that are none are named, inside the folder, and warned of. Raises
    ``StorageError`` where the folder is missing.
    """
    if not folder.is_dir():
        raise StorageError(
            f"There is no folder {folder} with records; `igsd reproduce`, `igsd compare` and "
            "`igsd evaluate --records` make one."
        )
    found: dict[str, list[Record]] = {}
    broken: list[str] = []
    for path in sorted(folder.glob("*/*/*/seed-*.json")):
        record, place = usable_record(path), path.relative_to(folder)
        if record is None:
            broken.append(place.as_posix())
        else:
            found.setdefault(place.parent.as_posix(), []).append(record)
    groups = {
        place: RecordGroup(place, tuple(sorted(records, key=lambda r: r["seed"])))
        for place, records in found.items()
    }
    return groups, broken


def anchor(place: str) -> str:
    """Return the identifier of a group's section in the page; ``place`` may be a record's path."""
    return "records/" + "/".join(place.split("/")[:3])
