"""``Row``: one measured line of the table, with its bar."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

QUIET = 0.25
"""Cores that other programs may use while a row is measured."""


class Skipped(Exception):  # noqa: N818 - a reason, not an error
    """Raised by a benchmark that cannot run here; its text says why."""


@dataclass(frozen=True)
class Row:
    """What was measured, on what, for both sides.

    ``ours`` and ``theirs`` are in ``unit``; ``ratio`` is what ``bar`` is compared with: at least
    ``bar``, or at most where ``at_most`` is set. Without a bar the row is for information.
    ``note``: who the other side is, what part of the work was run, and how far both results agree.
    ``agrees``: whether they do; a row whose results differ misses its bar, however fast.
    ``others``: cores that other programs kept busy meanwhile; with more than ``QUIET`` of them a
    row cannot miss its bar. A skipped row has no numbers, and the reason in ``note``.
    """

    name: str
    data: str
    ours: float | None
    theirs: float | None
    ratio: float | None
    bar: float | None
    unit: str
    note: str = ""
    at_most: bool = False
    agrees: bool = True
    others: float = 0.0

    @property
    def status(self) -> str:
        """One of ok, MISSED, under load, DIFFERS, skipped, info."""
        if self.ratio is None:
            return "skipped"
        if not self.agrees:
            return "DIFFERS"
        if self.bar is None:
            return "info"
        met = self.ratio <= self.bar if self.at_most else self.ratio >= self.bar
        if met:
            return "ok"
        return "MISSED" if self.others <= QUIET else "under load"

    @property
    def failed(self) -> bool:
        """Whether the row should make the whole run fail."""
        return self.status in ("MISSED", "DIFFERS")

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the record, the status among them."""
        return asdict(self) | {"status": self.status}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Row:
        """Return the row that ``to_json`` gave."""
        return cls(**{key: entry for key, entry in value.items() if key != "status"})

    @classmethod
    def skipped(cls, name: str, data: str, reason: str) -> Row:
        """Return the row of a benchmark that could not run."""
        return cls(name, data, None, None, None, None, "", reason)
