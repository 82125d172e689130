from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from igsd.errors import ConfigError, IGSDWarning, TrainingError
from igsd.settings.igsd import Config
from igsd.training import ranks
from igsd.training.fit import check_trainable
from igsd.training.ranks import all_or_none, make_fabric, num_ranks, warn_of_few_cores
from tests.cli.conftest import SETTINGS, write_toy
from tests.small_graphs import make_graphs
from tests.training.runs import train
from tests.training.test_processes import environment, free_port


def torchrun(monkeypatch: pytest.MonkeyPatch, local: int, world: int) -> None:
    """Set what torchrun sets."""
    names = ("TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE", "WORLD_SIZE", "RANK", "LOCAL_RANK")
    for name, value in zip(names, ("x", local, world, 0, 0), strict=True):
        monkeypatch.setenv(name, str(value))


def test_torchrun_decides_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """With devices left at 1, each of its processes trained a network of its own."""
    assert num_ranks(1) == 1
    assert num_ranks(3) == 3
    torchrun(monkeypatch, 2, 4)
    assert num_ranks(1) == num_ranks(2) == 4
    strategy: Any = make_fabric(Config())._strategy
    assert (strategy.num_processes, strategy.num_nodes) == (2, 2)
    with pytest.raises(ConfigError, match="torchrun has started 2 processes on this machine, and"):
        make_fabric(Config(devices=3))
    with pytest.raises(ConfigError, match="Got batch_size=3 and devices=4"):
        check_trainable(make_graphs(), Config(batch_size=3))


def test_more_processes_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "num_cores", lambda: 2)
    fabric = make_fabric(Config())
    warn_of_few_cores(fabric, 2)
    with pytest.warns(IGSDWarning, match="devices=8 on 2 cores: processes that share a core"):
        warn_of_few_cores(fabric, 8)


class Pair:
    """Stands for a Fabric of two processes."""

    world_size = 2


def fail(fabric: Any, checkpoint: Path | None, text: str) -> None:
    with all_or_none(fabric, checkpoint):
        raise RuntimeError(text)


def test_a_lost_process_is_a_sentence(tmp_path: Path) -> None:
    lost = "[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:3"
    with pytest.raises(TrainingError, match="One of the 2 processes that train together") as found:
        fail(Pair(), tmp_path / "none", lost)
    assert "--resume" not in str(found.value)
    (tmp_path / "c").touch()
    with pytest.raises(TrainingError, match=r"It continues from the last checkpoint, .* --resume"):
        fail(Pair(), tmp_path / "c", lost)
    with pytest.raises(RuntimeError, match="shapes"):
        fail(Pair(), None, "shapes do not fit")
    with pytest.raises(RuntimeError, match="gloo"):
        fail(make_fabric(Config()), None, lost)


def test_another_number_of_processes_goes_on(tmp_path: Path) -> None:
    import json

    from igsd.files.arrays import read_arrays, write_arrays

    graphs, path = make_graphs(), tmp_path / "c"
    whole = train(graphs, {"epochs": 3}, checkpoint=path)
    arrays, header = read_arrays(path, "checkpoint")
    assert header["identity"]["devices"] == 1
    header = json.loads(json.dumps(header))
    header["identity"]["devices"] = 2
    kept = {name: array.copy() for name, array in arrays.items()}
    write_arrays(path, kept, {k: v for k, v in header.items() if k != "checksum"})
    with pytest.warns(IGSDWarning, match="began with 2 processes and continues with 1: every step"):
        again = train(graphs, {"epochs": 3}, checkpoint=path)
    assert again.history == whole.history


def run_until_busy(command: list[str], folder: Path, is_busy: Any) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 300
    while not is_busy() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    return process


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["first", "second"])
def test_a_killed_process_ends_the_others_and_the_run_goes_on(tmp_path: Path, victim: str) -> None:
    toy, run = write_toy(tmp_path), tmp_path / "run"
    base = [sys.executable, "-m", "igsd", "train", str(toy), "-o", "run", "--quiet"]
    many = [*SETTINGS, "--set=epochs=100000", "--set=checkpoint_every=3"]
    checkpoint = run / "checkpoint.safetensors"
    process = run_until_busy([*base, *many, "--set=devices=2"], tmp_path, checkpoint.exists)
    try:
        children = psutil.Process(process.pid).children()
        (other,) = [child for child in children if "train" in child.cmdline()]
        os.kill(process.pid if victim == "first" else other.pid, signal.SIGKILL)
        err = process.communicate(timeout=120)[1]
        other.wait(60)
    finally:
        process.kill()
    assert not other.is_running()
    assert "Traceback" not in err
    assert "of the 2 processes that train together has ended" in err or victim == "first"
    assert process.returncode == (2 if victim == "second" else -signal.SIGKILL)
    # One process goes on alone, and says so.
    saved = checkpoint.stat().st_mtime_ns
    further = lambda: checkpoint.stat().st_mtime_ns > saved  # noqa: E731
    process = run_until_busy([*base, "--resume", "--set=devices=1"], tmp_path, further)
    process.send_signal(signal.SIGTERM)
    err = process.communicate(timeout=60)[1]
    assert "The run began with 2 processes and continues with 1" in err
    assert "To continue: igsd train" in err


@pytest.mark.slow
def test_pretraining_under_torchrun(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rows = [f"{'C' * n}O\n{'C' * n}N\nc1ccccc1{'C' * n}\n" for n in range(1, 8)]
    (tmp_path / "corpus.csv").write_text("smiles\n" + "".join(rows))
    small = ["hidden_dim=8", "num_layers=2", "head_dim=8", "head_hidden_dim=8", "epochs=2"]
    small += ["batch_size=8", "num_fragments=16"]
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"),
        *("--master_addr=127.0.0.1", f"--master_port={free_port()}", "-m", "igsd", "pretrain"),
        *("corpus.csv", "-o", "encoder.safetensors", "--quiet"),
        *(f"--set={text}" for text in small),
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("vectors of") == 1
    assert (tmp_path / "encoder.safetensors").exists()
    assert not (tmp_path / "encoder.safetensors.checkpoint").exists()
