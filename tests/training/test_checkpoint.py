from __future__ import annotations

import json
import os
import pickle
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from igsd.errors import ConfigError, StorageError
from igsd.files.arrays import read_arrays, read_header, write_arrays
from igsd.graphs.graphset import GraphSet
from igsd.model.igsd import IGSDModel
from igsd.training import loop
from igsd.training.fit import Fitted, Watched, fit
from igsd.views import source
from tests.interrupted import after_steps
from tests.small_graphs import make_graphs
from tests.training.runs import (
    DroppingEncoder,
    PowerCutError,
    assert_same_run,
    few_labels,
    tiny,
    train,
    train_with_labels,
)

KINDS: dict[str, dict[str, Any]] = {
    "gin": {},
    "edge-drop": {"view": "edge-drop"},
    "no norm": {"encoder_batch_norm": False, "head_batch_norm": False, "weight_decay": 1e-3},
    "schedule": {"warmup_epochs": 1, "schedule": "cosine", "view": "node-drop"},
}
LABEL_KINDS: dict[str, dict[str, Any]] = {
    "supcon": {},
    "self-sup": {"self_weight": 1.0, "supcon_weight": 0.0},
    "self-distillation before": {"pretraining_epochs": 2, "encoder_rate": 0.1},
    "both, random views": {"self_weight": 0.5, "view": "edge-drop", "pseudo_labels_for": "both"},
}


def run(kind: str, **others: Any) -> Fitted:
    """Return a short run of one of the kinds, with labels or without."""
    if kind in KINDS:
        return train(make_graphs(), KINDS[kind], **others)
    return train_with_labels(make_graphs(16), LABEL_KINDS[kind], **others)


@pytest.fixture(scope="module")
def whole() -> Callable[[str], Fitted]:
    """The runs that nobody stopped."""
    return cache(run)


@pytest.fixture(scope="module")
def finished_bytes(graphs: GraphSet, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("finished") / "c"
    train(graphs, checkpoint=path)
    return path.read_bytes()


@pytest.fixture
def finished(finished_bytes: bytes, tmp_path: Path) -> Path:
    """The checkpoint of a finished run of default settings."""
    path = tmp_path / "c"
    path.write_bytes(finished_bytes)
    return path


def power_cut() -> None:
    raise PowerCutError


# Without labels three steps are an epoch. With labels two are, and graphs get pseudo-labels in
# front of the epochs 1 and 2, after 2 and 4 steps.
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", [*KINDS, *LABEL_KINDS])
def test_ctrl_c_and_resume_give_the_same_bits(
    whole: Callable[[str], Fitted],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    steps: int,
) -> None:
    path = tmp_path / "checkpoint"
    with monkeypatch.context() as patch:
        after_steps(patch, steps, with_labels=kind in LABEL_KINDS)
        with pytest.raises(KeyboardInterrupt):
            run(kind, checkpoint=path)
    header = read_header(path)
    assert header is not None
    place, per_epoch = header["progress"], 2 if kind in LABEL_KINDS else 3
    assert place["epoch"] * per_epoch + place["step"] == steps
    assert_same_run(run(kind, checkpoint=path), whole(kind))


@pytest.mark.parametrize("steps", [2, 5])
def test_a_crash_goes_on_from_the_last_checkpoint(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    path = tmp_path / "checkpoint"
    changes = {"checkpoint_every": 2}
    with monkeypatch.context() as patch:
        after_steps(patch, steps, power_cut)
        with pytest.raises(PowerCutError):
            train(graphs, changes, checkpoint=path)
    assert path.exists() == (steps > 2)
    assert_same_run(train(graphs, changes, checkpoint=path), train(graphs, changes))


def test_a_crash_with_labels_goes_on_from_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, changes, path = make_graphs(16), {"checkpoint_every": 3}, tmp_path / "c"
    with monkeypatch.context() as patch:
        after_steps(patch, 5, power_cut, with_labels=True)
        with pytest.raises(PowerCutError):
            train_with_labels(graphs, changes, checkpoint=path)
    resumed = train_with_labels(graphs, changes, checkpoint=path)
    assert_same_run(resumed, train_with_labels(graphs, changes))


def test_watched_figures_are_resumed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = make_graphs(16)
    watched = Watched(graphs, lambda outputs: {"mean": float(outputs.mean())})
    with monkeypatch.context() as patch:
        after_steps(patch, 5, with_labels=True)
        with pytest.raises(KeyboardInterrupt):
            train_with_labels(graphs, watched=watched, checkpoint=tmp_path / "c")
    resumed = train_with_labels(graphs, watched=watched, checkpoint=tmp_path / "c")
    assert_same_run(resumed, train_with_labels(graphs, watched=watched))
    assert all("mean" in entry for entry in resumed.history)


def test_the_random_state_is_continued(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = DroppingEncoder(train(graphs, {"epochs": 0}).features.dim)
    whole = train(graphs, encoder=encoder)
    with monkeypatch.context() as patch:
        after_steps(patch, 2, lambda: os.kill(os.getpid(), signal.SIGTERM))
        with pytest.raises(KeyboardInterrupt):
            train(graphs, encoder=encoder, checkpoint=tmp_path / "c")
    assert_same_run(train(graphs, encoder=encoder, checkpoint=tmp_path / "c"), whole)


def test_stopped_twice(graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in (2, 1):
        with monkeypatch.context() as patch:
            after_steps(patch, steps)
            with pytest.raises(KeyboardInterrupt):
                train(graphs, checkpoint=tmp_path / "c")
    assert_same_run(train(graphs, checkpoint=tmp_path / "c"), train(graphs))


def test_a_finished_run_is_returned_without_a_step(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(graphs, checkpoint=tmp_path / "c")
    before = (tmp_path / "c").read_bytes()
    after_steps(monkeypatch, 1, power_cut)
    again = train(graphs, checkpoint=tmp_path / "c")
    assert_same_run(again, first)
    assert not again.network.training
    assert (tmp_path / "c").read_bytes() == before


def test_saving_changes_nothing(graphs: GraphSet, tmp_path: Path) -> None:
    saved = train(graphs, {"checkpoint_every": 1}, checkpoint=tmp_path / "c")
    assert_same_run(saved, train(graphs))
    assert [p.name for p in tmp_path.iterdir()] == ["c"]  # no temporary file is left


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", 7), ("hidden_dim", 4), ("temperature", 0.5), ("view", "heat"), ("epochs", 9)],
)
def test_another_run_is_refused_by_the_name_of_what_differs(
    graphs: GraphSet, finished: Path, key: str, value: object
) -> None:
    with pytest.raises(ConfigError, match=rf"another run: its {key} is .* here it is {value!r}"):
        train(graphs, {key: value}, checkpoint=finished)


def test_other_labels_and_settings_of_labels_are_refused(tmp_path: Path) -> None:
    graphs, path, other = make_graphs(16), tmp_path / "c", few_labels()
    train_with_labels(graphs, checkpoint=path)
    other.values[0] = 1
    with pytest.raises(ConfigError, match="trained on other labels"):
        train_with_labels(graphs, labels=other, checkpoint=path)
    with pytest.raises(ConfigError, match="its self_weight is"):
        train_with_labels(graphs, {"self_weight": 2.0}, checkpoint=path)


def test_another_method_is_refused(graphs: GraphSet, finished: Path) -> None:
    with pytest.raises(ConfigError, match="its method is 'IGSD', here it is 'Other'"):
        fit(graphs, tiny(), IGSDModel, name="Other", checkpoint=finished)


def test_other_graphs_are_refused(finished: Path) -> None:
    with pytest.raises(ConfigError, match="trained on other graphs"):
        train(make_graphs(seed=1), checkpoint=finished)


def test_settings_that_do_not_change_the_result_may_differ(
    graphs: GraphSet, tmp_path: Path
) -> None:
    first = train(graphs, checkpoint=tmp_path / "c")
    again = train(graphs, {"checkpoint_every": 3, "cache_views": True}, checkpoint=tmp_path / "c")
    assert_same_run(first, again)


def test_another_encoder_of_ones_own_is_refused(graphs: GraphSet, tmp_path: Path) -> None:
    width = train(graphs, {"epochs": 0}).features.dim
    train(graphs, encoder=DroppingEncoder(width), checkpoint=tmp_path / "c")
    with pytest.raises(StorageError, match="does not fit the model"):
        train(graphs, encoder=DroppingEncoder(width, out_dim=5), checkpoint=tmp_path / "c")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_checkpoint_is_refused(graphs: GraphSet, finished: Path, share: float) -> None:
    data = finished.read_bytes()
    finished.write_bytes(data[: int(share * len(data))])
    with pytest.raises(StorageError, match=r"cut short|damaged"):
        train(graphs, checkpoint=finished)


@pytest.mark.parametrize("content", [b"hello", pickle.dumps({"a": 1}), json.dumps({}).encode()])
def test_a_foreign_file_is_refused_and_left_alone(
    graphs: GraphSet, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(StorageError):
        train(graphs, checkpoint=path)
    assert path.read_bytes() == content


def test_another_version_is_refused(graphs: GraphSet, finished: Path) -> None:
    arrays, header = read_arrays(finished, "checkpoint")
    copies = {name: np.array(array) for name, array in arrays.items()}
    write_arrays(finished, copies, header | {"version": 99})
    with pytest.raises(StorageError, match="format 99"):
        train(graphs, checkpoint=finished)


def test_a_checkpoint_holds_numbers_alone(finished: Path) -> None:
    assert all(array.dtype.kind in "fiub" for array in load_file(finished).values())


def test_a_folder_that_cannot_be_written_is_named(graphs: GraphSet, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="file"):
        train(graphs, checkpoint=tmp_path / "file" / "c")


def test_checkpoints_come_every_so_many_steps(
    graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = []
    original = loop.save_checkpoint

    def save(path, module, optimizer, progress, *others) -> None:
        saved.append((progress.epoch, progress.step))
        original(path, module, optimizer, progress, *others)

    monkeypatch.setattr(loop, "save_checkpoint", save)
    train(graphs, {"checkpoint_every": 2}, checkpoint=tmp_path / "c")
    assert saved == [(0, 2), (1, 1), (2, 0)]


@pytest.mark.parametrize("key", ["identity", "progress"])
def test_a_header_with_a_missing_key_is_refused(graphs: GraphSet, finished: Path, key: str) -> None:
    # It was once a raw KeyError.
    arrays, header = read_arrays(finished, "checkpoint")
    copies = {name: np.array(array) for name, array in arrays.items()}
    del header[key]
    write_arrays(finished, copies, header)
    with pytest.raises(StorageError, match=f"damaged.*{key} is missing"):
        train(graphs, checkpoint=finished)


@pytest.mark.parametrize("change", [{"epoch": [0]}, {"history": "none"}, {"sums": {"total": None}}])
def test_a_header_with_other_types_is_refused(
    graphs: GraphSet, finished: Path, change: dict[str, Any]
) -> None:
    """Such checkpoints, with true checksums, ended in a traceback of the loop."""
    arrays, header = read_arrays(finished, "checkpoint")
    copies = {name: np.array(array) for name, array in arrays.items()}
    write_arrays(finished, copies, header | {"progress": header["progress"] | change})
    with pytest.raises(StorageError, match=r"damaged: in its header, progress\..* must be"):
        train(graphs, checkpoint=finished)


@pytest.mark.parametrize("part", [{"epoch": -1}, {"epoch": 9**9}, {"step": -2}, {"step": 10**9}])
def test_a_place_that_no_run_has(graphs: GraphSet, finished: Path, part: dict[str, int]) -> None:
    arrays, header = read_arrays(finished, "checkpoint")
    copies = {name: np.array(array) for name, array in arrays.items()}
    write_arrays(finished, copies, header | {"progress": header["progress"] | part})
    with pytest.raises(StorageError, match="is nowhere in this run"):
        train(graphs, checkpoint=finished)


def test_arrays_that_are_missing_or_unknown(graphs: GraphSet, finished: Path) -> None:
    arrays, header = read_arrays(finished, "checkpoint")
    copies = {name: np.array(array) for name, array in arrays.items()}
    for changed in (
        {name: array for name, array in copies.items() if not name.startswith("random")},
        copies | {"surprise.x": np.zeros(1)},
        copies | {"random.host": np.zeros(3, np.uint8)},
        {name: array for name, array in copies.items() if name != "optimizer.0.exp_avg_sq"},
        copies | {"optimizer.0.exp_avg": np.zeros((1, 1), np.float32)},
        copies | {"optimizer.99999.step": np.zeros((), np.float32)},
    ):
        write_arrays(finished, changed, header)
        with pytest.raises(StorageError, match="damaged"):
            train(graphs, checkpoint=finished)


def test_a_large_set_trains_as_a_small_one_and_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large set, batches are prepared on the way; only rounding may differ."""
    graphs = make_graphs(12)
    small = train(graphs)
    monkeypatch.setattr(source, "MOST_NODES", 10)
    large = train(graphs)
    for one, two in zip(small.history, large.history, strict=True):
        assert one == pytest.approx(two, rel=1e-4)
    with monkeypatch.context() as patch:
        after_steps(patch, 3, power_cut)
        with pytest.raises(PowerCutError):
            train(graphs, {"checkpoint_every": 1}, checkpoint=tmp_path / "c")
    resumed = train(graphs, {"checkpoint_every": 1}, checkpoint=tmp_path / "c")
    assert_same_run(resumed, large)
