"""Many calls in one process: memory and descriptors stay flat."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.small_graphs import TINY, make_graphs
from tests.torture.attack import Attack, Batch, Row

_GROWTH = 24 * 2**20


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def grows(work: Callable[[int], Any], calls: int) -> str | None:
    """Return a fault if memory or descriptors grow after the first tenth of the calls."""
    for call in range(calls // 10):
        work(call)
    memory, files = _resident(), _descriptors()
    for call in range(calls // 10, calls):
        work(call)
    more, open_now = _resident() - memory, _descriptors() - files
    if more > _GROWTH or open_now > 0:
        return f"{more / 2**20:.0f} MiB and {open_now} descriptors more after {calls} calls"
    return None


def fits(calls: int) -> str | None:
    """Fit a model again and again; runs in a batch."""
    import igsd

    graphs = make_graphs(10)
    return grows(lambda seed: igsd.IGSD(**TINY | {"random_state": seed}).fit(graphs), calls)


def transforms(calls: int) -> str | None:
    """Embed graphs again and again, always to the same vectors."""
    import igsd

    graphs = make_graphs(10)
    model = igsd.IGSD(**TINY).fit(graphs)
    wanted = model.transform(graphs)

    def work(call: int) -> None:
        if not np.array_equal(model.transform(graphs), wanted):
            raise ValueError(f"other vectors at call {call}")

    return grows(work, calls)


def opens(calls: int) -> str | None:
    """Save and load a model and a set again and again."""
    import igsd

    graphs, model = make_graphs(10), igsd.IGSD(**TINY).fit(make_graphs(10))

    def work(call: int) -> None:
        graphs.save("again.graphs")
        model.save("again.safetensors")
        igsd.load_model("again.safetensors").transform(igsd.open_data("again.graphs"))

    return grows(work, calls)


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row each for fits, transforms and files; the number tried is that of the calls."""
    works = {
        "fits": (fits, attack.amount(40, 300)),
        "transforms": (transforms, attack.amount(200, 2000)),
        "saved and loaded files": (opens, attack.amount(40, 300)),
    }
    for name, (work, calls) in works.items():
        row = Row(f"memory and descriptors: {name}")
        with Batch(attack.place("steady"), seconds=600, patience=3600) as batch:
            row.count(batch.run(work, calls))
        row.tried = calls
        yield row
