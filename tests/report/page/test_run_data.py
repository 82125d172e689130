from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import IGSDWarning, StorageError
from igsd.report.page.run_data import read_run
from tests.report.page.made_up_run import evil_graphs, write_run

GRAPHS = evil_graphs()


def test_everything_in_the_folder_is_read(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, GRAPHS))
    assert run.graphs == GRAPHS
    assert run.missing == ""
    assert run.histories == {"seed 0": [{"epoch": 0, "total": 2}, {"epoch": 1, "total": 1.5},
                                        {"epoch": 2}]}  # fmt: skip
    assert run.pseudo_labels == {
        "rounds": [1, 2], "given": [2, 1], "checked": [2, 0], "right": [1, 0],
    }  # fmt: skip
    assert run.vectors is not None
    assert run.vectors.shape == (12, 4)


def test_seeds_have_curves_of_their_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path, GRAPHS)
    write_run(tmp_path / "other", GRAPHS, seed=1).rename(folder / "seed-1")
    assert list(read_run(folder).histories) == ["seed 0", "seed 1"]


def test_graphs_that_are_gone_or_have_changed(tmp_path: Path) -> None:
    folder = write_run(tmp_path, GRAPHS)
    evil_graphs(11).save(tmp_path / "data.graphs")
    with pytest.warns(IGSDWarning, match="has changed since the run"):
        run = read_run(folder)
    assert run.graphs is None
    assert "has changed since the run" in run.missing
    (tmp_path / "data.graphs").unlink()
    with pytest.warns(IGSDWarning, match="Run .*: The graphs are not shown"):
        assert "The graphs are not shown" in read_run(folder).missing


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    folder = write_run(tmp_path, GRAPHS)
    for name in ("embeddings.npy", "history.csv", "pseudo_labels.csv"):
        (folder / name).unlink()
    run = read_run(folder)
    assert run.vectors is None
    assert run.histories == {"seed 0": []}


def test_another_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not a run folder of igsd"):
        read_run(tmp_path)
