"""A run folder written by hand, with labels that look like HTML."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from igsd.files.models import KIND
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs

EVIL = "</script><script>window.evil = 1</script><img src=x onerror='window.evil = 2'>"


def evil_graphs(num_graphs: int = 12) -> GraphSet:
    """Return graphs whose classes, names and node labels would run if they were not escaped."""
    graphs = make_graphs(num_graphs, classes=True, node_label_names=("C", EVIL, "O"))
    names = tuple(f"{EVIL} {i}" for i in range(num_graphs))
    return replace(graphs, class_names=(EVIL, "b & c"), graph_names=names)


def write_run(folder: Path, graphs: GraphSet, **changes: Any) -> Path:
    """Write a finished run, with pseudo-labels in two rounds, and return its folder."""
    run = folder / "run"
    run.mkdir(parents=True)
    graphs.save(folder / "data.graphs")
    data = {"name": EVIL, "checksum": graphs.checksum, "graphs": len(graphs)}
    data["source"] = str(folder / "data.graphs")
    metrics = {"kind": KIND, "status": "finished", "data": data, "seed": 0, "notes": [EVIL]}
    (run / "metrics.json").write_text(json.dumps(metrics | changes))
    vectors = np.random.default_rng(0).normal(size=(len(graphs), 4)).astype(np.float32)
    np.save(run / "embeddings.npy", vectors, allow_pickle=False)
    (run / "history.csv").write_text("epoch,total\n0,2.0\n1,1.5\n2,nan\n")
    (run / "config.toml").write_text(f'text = "{EVIL}"\n')
    lines = ["graph,class,confidence,round,true", "0,a,0.9,1,a", "1,a,0.9,1,b", "2,b,0.9,2,"]
    (run / "pseudo_labels.csv").write_text("\n".join(lines) + "\n")
    return run
