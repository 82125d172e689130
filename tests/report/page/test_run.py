from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from igsd.report.page.run import run_section
from igsd.report.page.run_data import read_run
from tests.report.page.made_up_run import evil_graphs, write_run

GRAPHS = evil_graphs()


def test_a_run_with_everything(tmp_path: Path) -> None:
    row = {
        "method": "<m>",
        "mean": 0.5,
        "std_over_seeds": None,
        "std_over_folds": 0.1,
        "seeds": [1],
    }
    table = {"protocol": "nested", "rows": [row]}
    hidden = {"graphs": 3, "accuracy": 0.5}
    run = read_run(write_run(tmp_path, GRAPHS, table=table, hidden=hidden))
    made = run_section(run, "run-1", "pca")
    assert "Map of the embedding" in made
    assert "Losses and scores by epoch" in made
    assert "Self-training" in made
    assert '<td class="left">&lt;m&gt;</td><td>50.0</td><td>-</td><td>10.0</td>' in made
    assert "Of the 3 graphs whose label was hidden: 50.0 % right." in made
    assert "<img" not in made
    assert "<script>" not in made


def test_self_distillation_before_the_labels(tmp_path: Path) -> None:
    """A page showed nothing of the epochs before the labels."""
    folder, title = write_run(tmp_path, GRAPHS), "Self-distillation before the labels"
    assert title not in run_section(read_run(folder), "run-1", "pca")
    (folder / "pretraining.csv").write_text("epoch,total\n0,4.25\n1,3.5\n")
    made = run_section(read_run(folder), "run-1", "pca")
    assert made.count("<h3>" + title) == 1
    assert "seed 0, 2: 3.5" in made


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    run = replace(read_run(write_run(tmp_path, GRAPHS)), vectors=None)
    assert "has no embeddings yet" in run_section(run, "run-1", "pca")


def test_errors_of_numbers(tmp_path: Path) -> None:
    hidden = {"graphs": 2, "mae": [0.12345]}
    run = read_run(write_run(tmp_path, GRAPHS, hidden=hidden))
    assert "mean absolute error 0.1235" in run_section(run, "run-1", "pca")
