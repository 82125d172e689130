"""``Context``: what the benchmarks share: where data comes from, where files may be put."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.row import Skipped


@dataclass(frozen=True)
class Context:
    """The surroundings of one run of the benchmarks.

    ``folder`` is for files that may be removed afterwards. ``repeats`` takes the place of each
    benchmark's own number of repeats where it is smaller, for a quick look.
    """

    folder: Path
    repeats: int = 99
    _sizes: dict[str, int] = field(default_factory=dict)

    def require(self, *names: str) -> None:
        """Raise ``Skipped`` unless these data sets are on this machine; nothing is downloaded."""
        for name in names:
            if name not in self._sizes:
                self._sizes[name] = _count(name)

    def rounds(self, wanted: int) -> int:
        """Return how often to repeat, where a benchmark wants so many."""
        return min(wanted, self.repeats)


def _count(name: str) -> int:
    """Return the number of graphs of a data set, which is then parsed and in the cache."""
    from igsd.errors import DataError
    from igsd.graphs.datasets import load_dataset

    try:
        return len(load_dataset(name, allow_download=False))
    except DataError as error:
        raise Skipped(f"no data: {error}") from error
