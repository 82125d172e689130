"""``python -m scripts.instruction_sets``: the same seeds with other instructions of the processor.

Trains IGSD on MUTAG by its recipe with five seeds, once as the machine likes best and once for each
restriction in ``SETS``, which stand for other processors. Writes a record into
``results/instruction_sets/``; ``--render PAGE`` writes its table between the markers of a page
instead, ``--check PAGE`` exits with 1 if they differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

DATA, RECIPE, SEEDS = "MUTAG", "molecules", 5
SETS: dict[str, dict[str, str]] = {
    "all that there is": {},
    "PyTorch without AVX": {"ATEN_CPU_CAPABILITY": "default"},
    "MKL without AVX": {"MKL_CBWR": "COMPATIBLE"},
    "neither": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
}
RECORD = Path("results") / "instruction_sets" / f"{DATA}.json"
BEGIN, END = (f"<!-- instruction sets: {word} -->" for word in ("begin", "end"))


def work(vectors: Path) -> dict[str, Any]:
    """Return scores and CPU seconds of every seed in this process; saves the vectors."""
    from igsd import IGSD, load_dataset
    from igsd.evaluation.cross_validation import cross_validate
    from igsd.experiments.environment import processor

    graphs, rows, accuracies = load_dataset(DATA), [], []
    used = time.process_time()
    for seed in range(SEEDS):
        rows.append(IGSD(recipe=RECIPE, random_state=seed).fit_transform(graphs))
    used = time.process_time() - used
    for seed, X in enumerate(rows):
        accuracies.append(cross_validate(X, graphs.classes, protocol="nested", seed=seed).mean)
    np.save(vectors, np.stack(rows))
    return {"processor": processor(), "accuracies": accuracies, "cpu_seconds": round(used, 1)}


def measured() -> dict[str, Any]:
    """Return the record: a row for each set of instructions, each in a process of its own."""
    from igsd.experiments.environment import commit, now, processor, versions

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, variables in SETS.items():
            path = Path(folder) / f"{len(rows)}.npy"
            command = [sys.executable, "-m", "scripts.instruction_sets", "--work", str(path)]
            threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            environment = os.environ | threads | variables
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, text=True, check=True
            )
            first, X = np.load(Path(folder) / "0.npy"), np.load(path)
            apart = np.linalg.norm(X - first, axis=2) / np.linalg.norm(first, axis=2)
            row = {"name": name, "variables": variables, **json.loads(done.stdout.splitlines()[-1])}
            rows.append(row | {"vectors_apart": float(np.median(apart))})
            print(f"{name}: {rows[-1]}", file=sys.stderr, flush=True)
    return {
        "kind": "igsd instruction sets",
        "date": now(),
        "commit": commit(),
        "versions": versions(),
        "processor": processor(),
        "data": DATA,
        "recipe": RECIPE,
        "seeds": SEEDS,
        "rows": rows,
    }


def table(record: dict[str, Any]) -> str:
    """Return the record in Markdown."""
    first = record["rows"][0]
    lines = [
        "| instructions | variables | accuracy % of each seed | mean | largest change of a seed | "
        "vectors apart | CPU seconds |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for row in record["rows"]:
        scores = [100 * value for value in row["accuracies"]]
        usual = [100 * value for value in first["accuracies"]]
        change = max(abs(a - b) for a, b in zip(scores, usual, strict=True))
        cells = [
            row["name"],
            " ".join(f"`{key}={value}`" for key, value in row["variables"].items()),
            ", ".join(f"{value:.1f}" for value in scores),
            f"{np.mean(scores):.1f}",
            f"{change:.1f}",
            f"{100 * row['vectors_apart']:.2g} %",
            f"{row['cpu_seconds']:.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    about = (
        f"{record['data']}, recipe {record['recipe']}, {record['seeds']} seeds, protocol nested, "
        f"one thread, on {record['processor']}, {record['date'][:10]}. Vectors apart: the median "
        "distance of a vector from the one in the first row, by its length."
    )
    return "\n".join([*lines, "", about])


def rendered(page: Path, record: Path = RECORD) -> str:
    """Return a page with the table of the record between its markers."""
    from benchmarks.render import replace_between
    from scripts.readme import read_page

    return replace_between(read_page(page), BEGIN, END, table(json.loads(record.read_text())))


def main() -> int:
    """Measure, or bring a page up to date; return the exit code."""
    from igsd.files.atomic import write_json, write_text

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--render", metavar="PAGE", type=Path, help="write the table into a page")
    parser.add_argument("--check", metavar="PAGE", type=Path, help="compare a page with the record")
    args = parser.parse_args()
    if args.work:
        print(json.dumps(work(args.work)))
    elif args.render:
        write_text(args.render, rendered(args.render))
    elif args.check:
        return int(rendered(args.check) != args.check.read_text())
    else:
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        write_json(RECORD, measured())
    return 0


if __name__ == "__main__":
    sys.exit(main())
