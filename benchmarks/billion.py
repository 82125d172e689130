"""``python -m benchmarks.billion``: the plan for a billion molecules, checked by a simulation.

Rates come from the newest records of the benchmarks, sizes from a sample that is imported here. The
plan says how long each stage takes on so many workers, and what limits it: their cores, or the one
process that sends shards and collects results. The simulation makes the same 10,000 shards with
failing and slow workers in made-up time, by the loop that makes real ones
(``igsd.workers.tasks.run_tasks``). Writes a record to ``results/scaling``.
"""

from __future__ import annotations

import heapq
import math
import os
import re
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.importing import write_table
from benchmarks.record import FOLDER, SCALING, default_path, read_all, write_record
from igsd.experiments.environment import commit, now, processor, versions
from igsd.workers.tasks import Arguments, Pool, WorkerLostError, run_tasks

MOLECULES, SHARD, WORKERS = 10**9, 10**5, 64
NETWORK = 10e9 / 8
"""Bytes a second into and out of the machine that collects: ten gigabit."""

OVERHEAD, PASSES = 0.005, 2
"""Seconds per shard of scheduler and client, measured as CPU time of 500 calls on Dask 2026.8; how often
a result crosses the network card of their machine: in and out."""

DEATHS, RESTART, DEADLY = 0.01, 120.0, 3
"""Shards that end their worker; seconds until it is back; deaths after which Dask gives up."""

SLOW, HOW_SLOW, SPREAD = 0.05, 3.0, 0.1
"""The share of slow workers; how much slower; the spread of seconds (of their logarithm)."""

SAMPLE = 2000


@dataclass(frozen=True)
class Stage:
    """A stage of the plan: seconds of a core, and bytes sent and collected, per molecule."""

    name: str
    seconds: float
    sent: float
    collected: float

    @property
    def shard_seconds(self) -> float:
        """Seconds of a shard on one core."""
        return SHARD * self.seconds

    @property
    def transfer(self) -> float:
        """Seconds in which the collecting machine is busy with a shard."""
        return SHARD * (self.sent + PASSES * self.collected) / NETWORK + OVERHEAD

    def hours(self, workers: int = WORKERS, shards: int = MOLECULES // SHARD) -> float:
        """Return the hours of the plan: the slower of the cores and of the collecting machine."""
        capacity = workers * (1 - SLOW + SLOW / HOW_SLOW)
        lost = DEATHS * (self.shard_seconds / 2 + RESTART)
        computing = shards * (self.shard_seconds * math.exp(SPREAD**2 / 2) + lost) / capacity
        return max(computing, shards * self.transfer) / 3600

    def limit(self, workers: int = WORKERS) -> str:
        """Return what limits the stage."""
        cores = self.shard_seconds / workers
        return "cores" if cores >= self.transfer else "the collecting machine"


def newest_rows(records: Sequence[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the newest of each row of the benchmarks, by name and data."""
    return {(row["name"], row["data"]): row for record in records for row in record["rows"]}


def rates_of(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return rates, each per second of one core, with the row they come from and its growth."""
    rows = newest_rows(records)

    def row(name: str, start: str = "") -> dict[str, Any]:
        return max(
            (r for (n, data), r in rows.items() if n == name and data.startswith(start)),
            key=lambda r: _count(r["data"]),
        )

    imported, embedded = (
        row(name) for name in ("data import / RDKit", "packed molecules to vectors / asked for")
    )
    views, epoch = (row(f"{name}: cost against size") for name in ("PPR views", "epoch"))
    index = row("index: peak / 2.5 GiB", "1,000,000")
    built = re.search(r"([\d.]+) s of CPU", index["note"])
    search = row("search: ms a query", "1,000,000")
    indexed = _count(index["data"]) / float(built[1]) if built else math.nan
    found = {
        "parse": (_count(imported["data"]) / imported["ours"], imported, "with the rows"),
        "views": (1000 / views["ours"], views, "with the graphs"),
        "train": (1000 / epoch["ours"], epoch, "with graphs times epochs"),
        "embed": (embedded["ours"], embedded, "with the graphs"),
        "index": (indexed, index, "a little faster than the vectors"),
        "search": (1000 / search["ours"], search, "with the logarithm of the vectors"),
    }
    return {
        name: {"rate": rate, "row": f"{r['name']}, {r['data']}", "grows": grows}
        for name, (rate, r, grows) in found.items()
    }


def _count(data: str) -> int:
    """Return the number of graphs or vectors that a row names.

    >>> _count("MOSES, 200,000 molecules"), _count("NCI1")
    (200000, 1)
    """
    numbers = [int(text.replace(",", "")) for text in re.findall(r"\d[\d,]*(?= )", data)]
    return max(numbers, default=1)


def sizes() -> dict[str, float]:
    """Return the bytes of a molecule as a line of text, as a graph in a file, and as a vector."""
    from igsd.baselines.registry import load_model
    from igsd.graphs.importing import import_tables

    with tempfile.TemporaryDirectory(prefix="igsd-benchmarks-") as folder:
        table, graphs = Path(folder, "moses.csv"), Path(folder, "moses.graphs")
        write_table(table, SAMPLE)
        count = import_tables([str(table)], graphs).graphs
        text, packed = table.stat().st_size / count, graphs.stat().st_size / count
    width = int(load_model("molecules").n_features_out_)
    return {"text": text, "graph": packed, "vector": 4.0 * width}


def stages_of(rates: dict[str, dict[str, Any]], size: dict[str, float]) -> list[Stage]:
    """Return the stages: parse, embed, and an index for each million."""
    seconds = {name: 1 / entry["rate"] for name, entry in rates.items()}
    return [
        Stage("parse", seconds["parse"], size["text"], size["graph"]),
        Stage("embed", seconds["embed"], size["graph"], size["vector"]),
        Stage("index", seconds["index"], 0.0, 0.0),  # each from a file, to a file
    ]


class Simulated(Pool):
    """Workers of a Dask cluster in made-up time: some slow, some that die and come back.

    As Dask does, a shard whose worker dies goes back to the front of the queue, and is given up
    after it has ended four workers.
    """

    def __init__(self, stage: Stage, size: int, seed: int) -> None:
        draws = np.random.default_rng(seed)
        self.size, self.stage, self.time = size, stage, 0.0
        self.deaths = self.copies = 0
        self._speeds = np.where(draws.random(size) < SLOW, HOW_SLOW, 1.0)
        self._draws, self._free = draws, deque(range(size))
        self._queue: deque[int] = deque()
        self._calls: dict[int, tuple[Callable[..., Any], Arguments]] = {}
        self._killed: dict[int, int] = {}
        self._events: list[tuple[float, int, int, str]] = []
        self._done: dict[int, bool] = {}
        self._forgotten: set[int] = set()
        self._seen: set[Any] = set()

    def submit(self, function: Callable[..., Any], arguments: Arguments) -> int:
        """Queue a call, after the scheduler's own work on it."""
        number = len(self._calls)
        self.copies += arguments[0] in self._seen
        self._seen.add(arguments[0])
        self._calls[number] = (function, arguments)
        self._queue.append(number)
        self._assign()
        return number

    def _assign(self) -> None:
        while self._free and self._queue:
            worker, number = self._free.popleft(), self._queue.popleft()
            if number in self._forgotten:
                self._free.appendleft(worker)
                continue
            spread = math.exp(self._draws.normal(0.0, SPREAD))
            seconds = self.stage.shard_seconds * self._speeds[worker] * spread
            dies = self._draws.random() < DEATHS
            end = self.time + (seconds * self._draws.random() if dies else seconds)
            heapq.heappush(self._events, (end, worker, number, "dies" if dies else "ends"))

    def _step(self) -> None:
        """Go on to the next event."""
        end, worker, number, what = heapq.heappop(self._events)
        self.time = max(self.time, end)
        if what == "dies":
            self.deaths += 1
            self._killed[number] = self._killed.get(number, 0) + 1
            heapq.heappush(self._events, (end + RESTART, worker, number, "returns"))
            if self._killed[number] > DEADLY:
                self._done[number] = False
            else:
                self._queue.appendleft(number)
        else:
            self._free.append(worker)
            if what == "ends":
                self._done[number] = True
        self._assign()

    def wait(self, calls: Collection[Any], seconds: float | None) -> Collection[Any]:
        """Let made-up time pass until a call has ended."""
        end = math.inf if seconds is None else self.time + seconds
        wanted = set(calls)
        while not (ready := wanted & self._done.keys()):
            if not self._events or self._events[0][0] > end:
                self.time = end
                break
            self._step()
        return sorted(ready)

    def result(self, call: Any) -> Any:
        """Return the result of a call."""
        if not self._done.pop(call):
            raise WorkerLostError("A shard has ended four workers.")
        function, arguments = self._calls[call]
        return function(*arguments)

    def cancel(self, call: Any) -> None:
        """Forget a call; a worker that is at it finishes it."""
        self._forgotten.add(call)

    def now(self) -> float:
        """Return the made-up time."""
        return self.time

    def pass_time(self, seconds: float) -> None:
        """Let time pass for the workers, while the collecting machine is busy."""
        end = self.time + seconds
        while self._events and self._events[0][0] <= end:
            self._step()
        self.time = end


def simulate(
    stage: Stage, workers: int = WORKERS, shards: int = MOLECULES // SHARD, seed: int = 0
) -> dict[str, Any]:
    """Return the hours, deaths and copies of a stage in made-up time, by the real loop."""
    pool = Simulated(stage, workers, seed)
    made = []
    for ended in run_tasks(
        lambda number: number, ((n,) for n in range(shards)), pool, ahead=workers, copies=True
    ):
        made.append(ended.value)
        pool.pass_time(stage.transfer)
    if made != list(range(shards)):
        raise AssertionError("shards are missing, or out of order")
    return {"hours": float(pool.time / 3600), "deaths": pool.deaths, "copies": pool.copies}


def make_record(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return rates, sizes, the plan and its simulation."""
    rates, size = rates_of(records), sizes()
    found = []
    for stage in stages_of(rates, size):
        simulated = [simulate(stage, seed=seed) for seed in range(3)]
        hours = stage.hours()
        worst = max((run["hours"] for run in simulated), key=lambda h: abs(h / hours - 1))
        found.append(
            {
                **asdict(stage),
                "hours": hours,
                "limit": stage.limit(),
                "core_hours": MOLECULES * stage.seconds / 3600,
                "simulated": simulated,
                "difference": worst / hours - 1,
            }
        )
    return {
        "kind": f"igsd {SCALING}",
        "date": now(),
        "commit": commit(),
        "versions": versions(),
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "assumed": {
            "molecules": MOLECULES,
            "shard": SHARD,
            "workers": WORKERS,
            "network": NETWORK,
            "deaths": DEATHS,
            "restart": RESTART,
            "slow": SLOW,
            "how_slow": HOW_SLOW,
        },
        "rates": rates,
        "sizes": size,
        "stages": found,
    }


def render_plan(record: dict[str, Any]) -> str:
    """Return the rates, the plan and its simulation as Markdown."""
    size, assumed = record["sizes"], record["assumed"]
    lines = ["| per second of one core | rate | from the row | grows |", "|:---|---:|:---|:---|"]
    for name, entry in record["rates"].items():
        lines.append(f"| {name} | {entry['rate']:,.0f} | {entry['row']} | {entry['grows']} |")
    lines += [
        "",
        f"A molecule takes {size['text']:.0f} bytes as text, {size['graph']:.0f} in a file of "
        f"graphs, and {size['vector']:,.0f} as a vector: {_tera(size['text'])}, "
        f"{_tera(size['graph'])} and {_tera(size['vector'])} for a billion.",
        "",
        f"| a billion on {assumed['workers']} workers | core hours | hours | limited by | "
        "simulated, hours | deaths | copies |",
        "|:---|---:|---:|:---|---:|---:|---:|",
    ]
    for stage in record["stages"]:
        runs = stage["simulated"]
        hours = " ".join(f"{run['hours']:.2f}" for run in runs)
        deaths, copies = (max(run[key] for run in runs) for key in ("deaths", "copies"))
        lines.append(
            f"| {stage['name']} | {stage['core_hours']:,.0f} | {stage['hours']:.2f} | "
            f"{stage['limit']} | {hours} | {deaths} | {copies} |"
        )
    embed = next(stage for stage in record["stages"] if stage["name"] == "embed")
    embed = Stage(*(embed[key] for key in ("name", "seconds", "sent", "collected")))
    train, search = (record["rates"][name]["rate"] for name in ("train", "search"))
    indices = assumed["molecules"] // 10**6
    lines += [
        "",
        f"A worker embeds a shard in {embed.shard_seconds:.0f} s, and its vectors are "
        f"{assumed['shard'] * embed.collected / 1e6:.0f} MB: from "
        f"{embed.shard_seconds / embed.transfer:.0f} workers on, the machine that collects them is "
        f"the limit. An epoch over all molecules would take "
        f"{assumed['molecules'] / train / 3600:,.0f} core hours more. A query to {indices:,} "
        f"indices takes {indices / search:.2f} s of CPU, "
        f"{1000 * indices / search / assumed['workers']:.0f} ms on {assumed['workers']} workers.",
    ]
    worst = max(abs(stage["difference"]) for stage in record["stages"])
    shards = assumed["molecules"] // assumed["shard"]
    source = (record["commit"]["id"] or "unknown")[:12]
    lines += [
        "",
        f"Each stage has {shards:,} shards of {assumed['shard']:,}. In the simulation "
        f"{100 * assumed['deaths']:g} % of the shards end their worker, which is back after "
        f"{assumed['restart']:g} s, {100 * assumed['slow']:g} % of the workers are "
        f"{assumed['how_slow']:g} times slower, and the machine that collects has a network of "
        f"{8 * assumed['network'] / 1e9:g} Gbit/s. Three seeds; the plan is at most "
        f"{100 * worst:.0f} % off. `python -m benchmarks.billion` on {record['date'][:10]}, commit "
        f"{source}.",
    ]
    return "\n".join(lines)


def _tera(size: float) -> str:
    return f"{MOLECULES * size / 1e12:.2g} TB"


def main() -> int:
    """Write the record and print what the page shows; 1 if the plan is more than 20 % off."""
    started = time.perf_counter()
    record = make_record(read_all(FOLDER))
    record["seconds"] = round(time.perf_counter() - started, 1)
    write_record(default_path(record, FOLDER.parent / SCALING), record)
    print(render_plan(record))
    return int(any(abs(stage["difference"]) > 0.2 for stage in record["stages"]))


if __name__ == "__main__":
    sys.exit(main())
