"""``train_model``: a method fitted on graphs, with the vectors it gives to them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.registry import build
from igsd.experiments.environment import now
from igsd.graphs.graphset import GraphSet
from igsd.settings import Settings


@dataclass(frozen=True)
class Trained:
    """A model of one seed, the vectors it gives to its own graphs, and the seconds both took."""

    seed: int
    model: Any
    vectors: np.ndarray
    seconds: dict[str, float]
    started: str


def train_model(
    graphs: GraphSet,
    config: Settings,
    *,
    method: str = "igsd",
    checkpoint: Path | None = None,
    log_dir: str | None = None,
    verbose: bool = False,
) -> Trained:
    """Return a method fitted on ``graphs``, which go on being embedded by it at once."""
    started, begin = now(), time.perf_counter()
    model = build(method, config, checkpoint=checkpoint, log_dir=log_dir, verbose=verbose)
    model.fit(graphs)
    middle = time.perf_counter()
    vectors = model.transform(graphs)
    seconds = {"train": round(middle - begin, 3), "embed": round(time.perf_counter() - middle, 3)}
    return Trained(config.seed, model, vectors, seconds, started)
