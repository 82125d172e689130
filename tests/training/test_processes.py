"""Runs in processes of their own: several at once, and one that is told to stop."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from igsd.files.arrays import read_header
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs
from tests.training.runs import assert_same_run, train
from tests.training.together import histories

ROOT = Path(__file__).parents[2]
TOGETHER = """
import json, sys
from tests.training.together import histories

found = histories(devices=2)
import torch.distributed
assert torch.distributed.get_world_size() == 2
if torch.distributed.get_rank() == 0:
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)
"""

RESUMED = """
import json, os, sys, pytest
from tests.small_graphs import make_graphs
from tests.training.runs import after_steps, train_with_labels

checkpoint, result, steps = sys.argv[1:]
if int(steps):
    after_steps(pytest.MonkeyPatch(), int(steps), lambda: os._exit(0), with_labels=True)
changes = {"devices": 2, "self_training": False, "checkpoint_every": 2}
fitted = train_with_labels(make_graphs(16), changes, checkpoint=checkpoint)
import torch.distributed
if torch.distributed.get_rank() == 0:
    with open(result, "w") as file:
        json.dump(fitted.history, file)
"""

FOR_LONG = """
import sys
from tests.small_graphs import make_graphs
from tests.training.runs import train

print("ready", flush=True)
try:
    train(make_graphs(), {"epochs": 100_000}, checkpoint=sys.argv[1])
except KeyboardInterrupt:
    print("stopped", flush=True)
    sys.exit(130)
"""


def environment() -> dict[str, str]:
    """Return the environment of a child process that finds the package and the tests."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    """Every neural method, with labels and without: the loss is that of the joint batch."""
    (script := tmp_path / "together.py").write_text(TOGETHER)
    run_together(script, tmp_path / "histories.json")
    together = json.loads((tmp_path / "histories.json").read_text())
    alone = histories(devices=1)
    assert together.keys() == alone.keys()
    for name, losses in alone.items():
        # Adam turns rounding of a gradient that is zero into a step, so later losses drift apart.
        np.testing.assert_allclose(together[name][0], losses[0], rtol=1e-4, err_msg=name)
        np.testing.assert_allclose(together[name], losses, rtol=1e-2, err_msg=name)


def run_together(script: Path, *arguments: object) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"),
            *("--master_addr=127.0.0.1", f"--master_port={free_port()}"),
            *(str(word) for word in (script, *arguments)),
        ],
        env=environment(),
        check=True,
        timeout=600,
    )


@pytest.mark.slow
def test_two_processes_resume_to_the_same_end(tmp_path: Path) -> None:
    """Dropout of the second process went on from the random state of the first."""
    (script := tmp_path / "resumed.py").write_text(RESUMED)
    whole, resumed = tmp_path / "whole.json", tmp_path / "resumed.json"
    run_together(script, tmp_path / "a", whole, 0)
    run_together(script, tmp_path / "b", resumed, 5)
    assert not resumed.exists()
    run_together(script, tmp_path / "b", resumed, 0)
    assert json.loads(resumed.read_text()) == json.loads(whole.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_told_to_stop_leaves_a_checkpoint(tmp_path: Path, number: int) -> None:
    path = tmp_path / "c"
    process = subprocess.Popen(
        [sys.executable, "-c", FOR_LONG, str(path)],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # checkpoint_every is 200 steps: the first file shows that training is under way.
        for _ in range(1200):
            if path.exists():
                break
            time.sleep(0.1)
        process.send_signal(number)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (rest, process.returncode) == ("stopped\n", 130)
    header = read_header(path)
    assert header is not None
    progress = header["progress"]
    assert len(progress["history"]) == progress["epoch"] > 0
    # As far as it came, it is the run that was never stopped.
    alone = train(make_graphs(), {"epochs": min(progress["epoch"], 3)})
    assert progress["history"][: len(alone.history)] == alone.history


@pytest.mark.slow
def test_killed_without_warning_and_resumed(graphs: GraphSet, tmp_path: Path) -> None:
    script = (
        "import os, sys, pytest\n"
        "from tests.small_graphs import make_graphs\n"
        "from tests.training.runs import after_steps, train\n"
        "after_steps(pytest.MonkeyPatch(), 5, lambda: os.kill(os.getpid(), 9))\n"
        "train(make_graphs(), {'epochs': 3, 'checkpoint_every': 2}, checkpoint=sys.argv[1])\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "c")], env=environment(), timeout=300
    )
    assert killed.returncode == -signal.SIGKILL
    changes = {"epochs": 3, "checkpoint_every": 2}
    resumed = train(graphs, changes, checkpoint=tmp_path / "c")
    assert_same_run(resumed, train(graphs, changes))
