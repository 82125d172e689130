"""Files as igsd 0.1.0 wrote them, which later versions must open: models, graphs, run folders.

``files/`` is written once and then kept: writing it again would test nothing. A new kind of
estimator gets its file by ``python -m tests.golden.write --files``, which leaves the others alone.
Pictures of run folders are left out. ``checksums/`` has one file of each kind in the format that
carries checksums: a later change of a format adds such a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

import igsd
from igsd.cli.main import main
from tests.golden.subjects import (
    CLASSES,
    FILES,
    NUMBERS,
    label_methods,
    labels_of,
    method_names,
    open_graphs,
    regressors,
)

MODELS, RUNS, EXPECTED = FILES / "models", FILES / "trained", FILES / "expected"
CHECKSUMS = FILES / "checksums"

TINY: dict[str, Any] = {"epochs": 2, "batch_size": 32, "num_layers": 2, "hidden_dim": 4}
TINY |= {"head_hidden_dim": 8, "head_dim": 4, "discriminator_dim": 4, "edge_hidden_dim": 4}
TINY |= {"distance_bins": 3, "degree_cap": 4, "eigenvectors": 4, "queue_size": 16}
TINY |= {"dim": 4, "max_features": 40, "num_anchors": 6, "num_samples": 8, "levels": 2}
TINY |= {"label_batch_size": 8, "self_training_start": 1, "self_training_rounds": 1}
TINY |= {"self_training_threshold": 0.5, "iterations": 2}

_SETTINGS = ("batch_size=64", "num_layers=2", "hidden_dim=4", "head_hidden_dim=8", "head_dim=4")
_LABELS = ("--labels", "class", "--label-rate", "0.3")
TRAININGS: dict[str, tuple[str, ...]] = {
    "igsd": ("epochs=3",),
    "labels": (*_LABELS, "epochs=3", "pretraining_epochs=1", "self_training_start=1"),
    "barlow": ("--method", "barlow", "epochs=3"),
}
"""What ``igsd train MUTAG`` is given for each run folder, its settings without ``--set``."""

STOPPED = {"igsd": 5, "labels": 5, "labels-pretraining": 2, "barlow": 4}
"""After how many steps a training was stopped."""


def arguments(name: str) -> list[str]:
    """Return the command line of a training, without its folder."""
    given = (*TRAININGS[name.partition("-")[0]], *_SETTINGS)
    options = [a for a in given if "=" not in a]
    return ["train", "MUTAG", "--quiet", *options, *(f"--set={a}" for a in given if "=" in a)]


def first_graphs(data: str) -> Any:
    """Return the graphs whose vectors are kept."""
    return open_graphs(data).take(np.arange(10))


def kinds() -> Iterator[tuple[str, str, Any, str]]:
    """Yield (name of its file, data, estimator, labels) of a model of each kind."""
    for name in method_names():
        given = {} if name != "untrained" else {"epochs": 0}
        yield name, "MUTAG", _tiny(type(igsd.make_method(name)), **given), ""
    mpnn = {"encoder": "mpnn", "view": "bond-types"}
    yield "igsd-mpnn", "QM9", _tiny(igsd.IGSD, **mpnn), ""
    yield "igsd-gcn", "MUTAG", _tiny(igsd.IGSD, encoder="gcn", embed_views="both"), ""
    yield "igsd-edge-drop", "MUTAG", _tiny(igsd.IGSD, view="edge-drop", projector=False), ""
    for name, (classifier, _, own) in label_methods().items():
        yield f"classifier-{name}", "MUTAG", _tiny(classifier, **own), CLASSES
    yield "IGSDClassifier", "MUTAG", _tiny(igsd.IGSDClassifier, pretraining_epochs=1), CLASSES
    for name, regressor in regressors().items():
        yield name, "QM9", _tiny(regressor), NUMBERS
        yield f"{name}-mpnn", "QM9", _tiny(regressor, encoder="mpnn"), NUMBERS


def _tiny(kind: type, **changes: Any) -> Any:
    has = kind().get_params()
    given = {"recipe": None} | TINY | changes
    return kind(**{key: value for key, value in given.items() if key in has})


def outputs(model: Any, graphs: Any) -> dict[str, np.ndarray]:
    """Return what a model makes of graphs: vectors, a kernel, predictions."""
    uses = ("transform", "kernel", "predict_proba")
    found = {use: getattr(model, use)(graphs) for use in uses if hasattr(model, use)}
    if hasattr(model, "predict") and "predict_proba" not in found:
        found["predict"] = model.predict(graphs)
    return found


def read_expected(name: str) -> dict[str, np.ndarray]:
    """Return what a model made of the first graphs when it was saved."""
    with np.load(EXPECTED / f"{name}.npz", allow_pickle=False) as stored:
        return dict(stored)


def write_missing() -> None:
    """Write the files that are not there yet."""
    for folder in (MODELS, RUNS, EXPECTED):
        folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name, data, made, labels in kinds():
        path = MODELS / name
        if not path.exists():
            graphs = open_graphs(data)
            made.fit(graphs, labels_of(graphs, labels, 2))
            made.save(path)
            _keep(name, outputs(igsd.load_model(path), first_graphs(data)))
    for name in TRAININGS:
        if not (RUNS / name).exists():
            _train(RUNS / name, name)
            _keep(f"run-{name}", outputs(igsd.load_model(RUNS / name), first_graphs("MUTAG")))
    for name, steps in STOPPED.items():
        if not (RUNS / f"{name}-stopped").exists():
            with _ctrl_c_after(steps):
                _train(RUNS / f"{name}-stopped", name, code=130)
    if not CHECKSUMS.exists():
        _write_checksums()


def _write_checksums() -> None:
    """Write a set, a model, vectors, a stopped run and a record in the format with checksums."""
    CHECKSUMS.mkdir()
    open_graphs("QM9").take(np.arange(10)).save(CHECKSUMS / "qm9.graphs")
    igsd.load_model(MODELS / "igsd").save(CHECKSUMS / "igsd")
    first_graphs("MUTAG").save(CHECKSUMS / "mutag.graphs")
    for suffix in ("npy", "csv", "parquet"):
        embed = ["embed", str(CHECKSUMS / "igsd"), str(CHECKSUMS / "mutag.graphs"), "--quiet"]
        main([*embed, "-o", str(CHECKSUMS / f"vectors.{suffix}")])
    with _ctrl_c_after(STOPPED["igsd"]):
        _train(CHECKSUMS / "igsd-stopped", "igsd", code=130)
    runs = ["compare", "MUTAG", "--methods", "histogram", "--seeds", "1", "--jobs", "1", "--quiet"]
    plot = ["--plot", str(CHECKSUMS / "plot.png")]
    main([*runs, *plot, "--records", str(CHECKSUMS / "records")])
    (CHECKSUMS / "plot.png").unlink()


def _keep(name: str, found: dict[str, np.ndarray]) -> None:
    np.savez_compressed(EXPECTED / f"{name}.npz", **found)


def _train(folder: Path, name: str, code: int = 0) -> None:
    ended = main([*arguments(name), "-o", str(folder)])
    if ended != code:
        shutil.rmtree(folder, ignore_errors=True)
        raise SystemExit(f"igsd train ended with {ended}, not {code}.")
    for picture in folder.glob("*.png"):
        picture.unlink()


@contextmanager
def _ctrl_c_after(steps: int) -> Iterator[None]:
    """Send this process what Ctrl-C sends, in the middle of a step of the optimiser."""
    original, done = torch.optim.Adam.step, 0

    def step(*args: Any, **kwargs: Any) -> Any:
        nonlocal done
        done += 1
        if done == steps:
            os.kill(os.getpid(), signal.SIGINT)
        return original(*args, **kwargs)

    torch.optim.Adam.step = step  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.optim.Adam.step = original  # type: ignore[method-assign]
