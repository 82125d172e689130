"""Fingerprints of numbers: a hash for the machine that wrote them, some floats for the others."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from tests.golden.subjects import (
    SUBJECTS,
    losses_of,
    open_graphs,
    pseudo_labels_of,
    weights_of,
)

NUMBERS = Path(__file__).parent / "numbers.json"


def environment() -> dict[str, str]:
    """Return all that decides the last bits of a float: the processor and the libraries."""
    try:
        first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
        facts = dict(line.split(":", 1) for line in first.splitlines() if ":" in line)
        facts = {key.strip(): value.strip() for key, value in facts.items()}
        # "AMD EPYC" alone may be any of several generations.
        model = " ".join(facts[key] for key in ("model name", "cpu family", "model"))
    except (OSError, KeyError):
        model = platform.processor()
    processor = {"processor": f"{model}, {torch.backends.cpu.get_cpu_capability()}"}
    names = ("torch", "numpy", "scipy", "scikit-learn")
    return processor | {name: version(name) for name in names}


def fingerprint(arrays: list[np.ndarray]) -> dict[str, Any]:
    """Return the hash of arrays, in their order and without names, and a few of their numbers.

    Names are left out, so that a module or a parameter may be renamed. A change of order, shape,
    type or any bit is seen.
    """
    digest = hashlib.sha256()
    for array in arrays:
        plain = np.ascontiguousarray(array)
        digest.update(f"{plain.dtype.str} {plain.shape};".encode())
        digest.update(plain.tobytes())
    flat = np.concatenate([np.zeros(0), *(np.asarray(a, np.float64).ravel() for a in arrays)])
    places = np.linspace(0, len(flat) - 1, 5).astype(int) if len(flat) else []
    return {
        "sha256": digest.hexdigest(),
        "size": len(flat),
        "sum": float(f"{flat.sum():.6g}"),
        "abs": float(f"{np.abs(flat).sum():.6g}"),
        "some": [float(f"{flat[place]:.6g}") for place in places],
    }


def numbers_of(name: str) -> dict[str, Any]:
    """Return the fingerprints of a subject: its weights, vectors, outputs and losses."""
    subject = SUBJECTS[name]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return _numbers_of(subject.fitted(), open_graphs(subject.data))
    finally:
        torch.set_num_threads(threads)


def _numbers_of(fitted: Any, graphs: Any) -> dict[str, Any]:
    found = {"vectors": [fitted.transform(graphs)], "weights": weights_of(fitted)}
    for use in ("predict_proba", "kernel"):
        if hasattr(fitted, use):
            found[use] = [getattr(fitted, use)(graphs)]
    if hasattr(fitted, "predict") and "predict_proba" not in found:
        found["predict"] = [fitted.predict(graphs)]
    found |= {"losses": losses_of(fitted), "pseudo-labels": pseudo_labels_of(fitted)}
    return {what: fingerprint(arrays) for what, arrays in found.items() if arrays}


def read_numbers() -> dict[str, Any]:
    """Return what is committed."""
    if not NUMBERS.exists():
        return {"environment": environment(), "subjects": {}}
    return json.loads(NUMBERS.read_text())


def write_numbers(names: list[str], *, everything: bool) -> None:
    """Write the numbers of some subjects, or of all, which drops those that are gone.

    Raises ``SystemExit`` for some on another machine: their hashes would not go with the rest.
    """
    stored, here = read_numbers(), environment()
    if not everything and stored["environment"] != here:
        raise SystemExit(f"numbers.json is of {stored['environment']}, not {here}: use --all.")
    kept = {} if everything else stored["subjects"]
    for name in SUBJECTS if everything else names:
        kept[name] = numbers_of(name)
    ordered = {name: kept[name] for name in SUBJECTS if name in kept}
    lines = []
    for name, found in ordered.items():
        parts = [f"   {json.dumps(what)}: {json.dumps(print_)}" for what, print_ in found.items()]
        lines.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n  }")
    head = f'{{\n "environment": {json.dumps(here)},\n "subjects": {{\n'
    NUMBERS.write_text(head + ",\n".join(lines) + "\n }\n}\n")
