"""A small table on small graphs in a file, for the tests of what is run for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from igsd.experiments.exhibits import Exhibit, parse_exhibit
from igsd.experiments.run import Run
from igsd.experiments.work import Batch
from tests.small_graphs import TINY, make_graphs


def write_data(folder: Path, name: str = "toy") -> str:
    """Write ten small graphs of two classes and return the path of their file."""
    path = folder / f"{name}.graphs"
    make_graphs(10, classes=True, name=name).save(path)
    return str(path)


def small_exhibit(*data: str, **changes: Any) -> Exhibit:
    """Return a table with IGSD, a reference row and the histogram as a method; two seeds."""
    lines = [
        {"title": "IGSD", "method": "igsd", "settings": TINY, "printed": {"toy": [50.0, 1.0]}},
        {"title": "untrained", "method": "igsd", "shows": "untrained", "settings": TINY},
        {"title": "histogram", "method": "histogram", "printed": {"toy": "OMR"}},
    ]
    values = {"title": "A table", "about": "What it says.", "source": "Nobody, 2026"}
    values |= {"protocol": "nested", "data": list(data), "seeds": 2, "row": lines}
    return parse_exhibit("small", values | changes)


SHORT = tuple(TINY.items())


def batches_of(source: str, count: int, settings: Any = SHORT) -> list[Batch]:
    """Return a batch for each of the seeds 0..N-1 of IGSD, which are trained at once."""
    return [
        (Run("nested", "toy", "igsd", "molecules", seed, settings, source=source),)
        for seed in range(count)
    ]
