"""The scripts in examples/ run, with fewer epochs than a reader would use."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, **settings: Any) -> Any:
    """Return what the ``main`` of an example returns."""
    return runpy.run_path(str(EXAMPLES / name))["main"](**settings)


def test_every_example_is_short_explained_and_tested() -> None:
    tests = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text()
        assert text.startswith('"""'), path.name
        assert len(text.splitlines()) < 40, path.name
        assert f'run("{path.name}"' in tests, path.name


def test_neighbours_of_networkx_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("networkx_neighbours.py", epochs=1)
    assert [name.split(",")[0] for name in names] == ["tree"] * 3
    assert "nearest to tree, 15 nodes" in capsys.readouterr().out


def test_molecules_from_smiles(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit", reason="SMILES need igsd[chem]")
    vectors = run("smiles_molecules.py", epochs=1)
    assert len(vectors) == 3
    assert np.isfinite(vectors).all()
    assert capsys.readouterr().out.count("is most like") == 3


def test_score_of_mutag(capsys: pytest.CaptureFixture[str]) -> None:
    accuracies = run("score_mutag.py", epochs=1, num_folds=3)
    # Two thirds of MUTAG are of one class.
    assert all(0.6 < value <= 1 for value in accuracies.values())
    assert list(accuracies) == ["igsd", "untrained"]
    assert "igsd" in capsys.readouterr().out
