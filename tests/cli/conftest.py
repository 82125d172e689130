"""A command line in this process, small data in files, and a small trained run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from igsd.cli.main import main
from igsd.graphs.graphset import GraphSet
from tests.graphs.tu_writer import write_tu
from tests.small_graphs import TINY, make_graphs

SETTINGS = [f"--set={key}={str(value).lower()}" for key, value in TINY.items()]
"""The options that make a training a matter of a moment."""

Run = Callable[..., tuple[int, str, str]]


def write_toy(folder: Path) -> Path:
    """Write eight labelled graphs of two classes as a TU folder ``TOY`` and return it."""
    graphs = make_graphs(8, classes=True)
    rows, cols = graphs.adjacency.rows(), graphs.adjacency.global_columns(graphs.node_ptr)
    lines = lambda values: "".join(f"{value}\n" for value in values)  # noqa: E731
    assert graphs.node_labels is not None
    assert graphs.classes is not None
    return write_tu(
        folder / "TOY",
        A=lines(f"{r + 1}, {c + 1}" for r, c in zip(rows, cols, strict=True)),
        graph_indicator=lines(graphs.graph_of_node() + 1),
        graph_labels=lines(np.where(graphs.classes == 0, -1, 1)),
        node_labels=lines(graphs.node_labels),
    )


@pytest.fixture
def igsd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return a function that runs the command line in ``tmp_path``: (exit code, out, err)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse's own
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Return the TU folder of eight small graphs."""
    return write_toy(tmp_path)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a finished run folder, trained on the toy graphs. Read only."""
    folder = tmp_path_factory.mktemp("trained")
    data = write_toy(folder)
    code = main(["train", str(data), "-o", str(folder / "run"), "--quiet", *SETTINGS])
    assert code == 0
    return folder / "run"


@pytest.fixture
def unlabelled(tmp_path: Path) -> Path:
    """Return a file of graphs without classes."""
    make_graphs(6).save(tmp_path / "plain.graphs")
    return tmp_path / "plain.graphs"


@pytest.fixture
def toy_graphs(toy: Path) -> GraphSet:
    """Return the toy graphs as a set."""
    from igsd.graphs.readers.tu import read_tu

    return read_tu(toy)
