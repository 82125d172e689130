"""``RecordFolder``: the records that tables and figures are filled from, found by their runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from igsd.experiments.records import Record, is_fresh, usable_record
from igsd.experiments.runs import Run

Found = tuple[str, Record]
"""The path of a record inside its folder, and what it holds."""


class RecordFolder:
    """The records in a folder, each read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[Path, list[Found]] = {}

    def of(self, run: Run) -> list[Found]:
        """Return the records of a run, of whatever seed; warns of files that are none.

        >>> RecordFolder(Path("no/such")).of(Run("nested", "MUTAG", "igsd", "molecules", 0))
        []
        """
        return self._read(run.path(self.path).parent)

    def has_twins(self, run: Run) -> bool:
        """Say whether any run on the same data was scored with the twins removed too."""
        folder = run.path(self.path).parent.parent
        places = sorted(folder.iterdir()) if folder.is_dir() else []
        records = (record for place in places for _, record in self._read(place))
        return any(record["protocol"].get("twins") for record in records)

    def _read(self, folder: Path) -> list[Found]:
        if folder not in self._found:
            paths = sorted(folder.glob("seed-*.json"))
            read = [(path.relative_to(self.path).as_posix(), usable_record(path)) for path in paths]
            there = [(path, record) for path, record in read if record is not None]
            self._found[folder] = sorted(there, key=lambda pair: pair[1]["seed"])
        return self._found[folder]


def fresh(found: Sequence[Found]) -> list[Found]:
    """Return the records of this version of the algorithm."""
    return [pair for pair in found if is_fresh(pair[1])]
