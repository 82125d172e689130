"""Which trainings with labels are refused, and which runs may go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from igsd.graphs.graphset import GraphSet
from igsd.settings_text import read_settings
from tests.cli.conftest import Run, write_toy
from tests.cli.test_train_labels import LABELS
from tests.interrupted import after_label_steps


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--labels", "sizes.txt"], "a run with --labels class, and now it is sizes.txt"),
        (["--labels", "class", "--label-rate", "0.5"], "--label-rate 1.0, and now it is 0.5"),
        (["--labels", "class", "--recipe", "social"], "recipe 'molecules', and 'social' was given"),
    ],
)
def test_a_run_goes_on_with_its_own_labels_alone(
    igsd: Run, toy: Path, toy_graphs: GraphSet, tmp_path: Path, changed: list[str], message: str
) -> None:
    numbers = [f"{n + 0.5}" for n in toy_graphs.node_counts()]
    (tmp_path / "sizes.txt").write_text("\n".join(numbers) + "\n")
    assert igsd("train", toy, *LABELS, "-o", "run")[0] == 0
    code, _, err = igsd("train", toy, *changed, "-o", "run", "--resume")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "clas"], "has no labels of that name"),
        (["--labels", "class", "--label-rate", "0"], "must be between 0 and 1"),
        (["--labels", "class", "--set", "epoch=3"], "no setting 'epoch'"),
        (["--labels", "class", "--recipe", "socail"], "no recipe 'socail'"),
        (["--label-rate", "0.5"], "give --labels"),
        (["--labels", "short.txt"], "holds 2 labels for 8 graphs"),
        (["--labels", "one.txt"], "at least two classes"),
        (["--labels", "none.txt"], "'none' holds no label"),
        (["--labels", "class", "--set", "epochs=-1"], "epochs"),
    ],
)
def test_bad_input_leaves_no_folder(
    igsd: Run, toy: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "short.txt").write_text("a\nb\n")
    (tmp_path / "one.txt").write_text("a\n" * 8)
    (tmp_path / "none.txt").write_text("\n" * 8)
    code, _, err = igsd("train", toy, *options, "-o", "run")
    assert code == 2
    assert message in err
    assert "y holds" not in err  # a word of Python's
    assert not (tmp_path / "run").exists()


def test_going_on_without_the_labels(igsd: Run, tmp_path: Path, trained: Path) -> None:
    toy = write_toy(tmp_path)
    code, _, err = igsd("train", toy, *LABELS, "-o", trained, "--resume")
    assert code == 2
    assert "without --labels" in err


def test_the_rest_of_a_run_keeps_its_recipe(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It once became, in metrics.json, a run of the recipe that fits the data.
    with monkeypatch.context() as patch:
        after_label_steps(patch, 1)
        assert igsd("train", toy, *LABELS, "--recipe", "social", "-o", "r")[0] == 130
    code, _, err = igsd("train", toy, *LABELS, "--set=checkpoint_every=9", "-o", "r", "--resume")
    assert code == 0, err
    assert json.loads((tmp_path / "r" / "metrics.json").read_text())["recipe"] == "social"
    assert read_settings(tmp_path / "r" / "config.toml")["checkpoint_every"] == 9


def test_several_processes_are_refused(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    code, _, err = igsd("train", toy, *LABELS, "-o", "r")
    assert (code, "without torchrun" in err) == (2, True)
