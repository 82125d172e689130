"""A run folder has one owner: what a second command does, and what killed ones leave."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from igsd.cli import train
from igsd.experiments.run_folder import RunFolder
from igsd.files.atomic import write_text
from igsd.settings.igsd import Config
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import TINY

ENDLESS = [f"--set={key}={str(v).lower()}" for key, v in (TINY | {"epochs": 10**6}).items()]
SOURCES = os.pathsep.join(map(str, (Path(__file__).parents[2] / "src", Path(__file__).parents[2])))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        ["train", *SETTINGS],
        ["train", "--force", *SETTINGS],
        ["train", "--resume"],
        ["evaluate", "--recipe", "molecules", "--seeds", "1", "--force", *SETTINGS],
        ["tune", "--trials", "1", "--force"],
    ],
)
def test_a_folder_in_use_is_refused_and_left_alone(
    igsd: Run, toy: Path, tmp_path: Path, command: list[str]
) -> None:
    folder = RunFolder(tmp_path / "r")
    if command[0] == "tune":
        pytest.importorskip("optuna")
    else:
        folder.create({"recipe": "molecules", "data": {"source": str(toy)}}, Config(**TINY))
    with folder.owned():
        before = content(folder.path)
        code, _, err = igsd(*command, toy, "-o", "r", "--quiet")
        assert code == 2
        assert err.startswith(f"igsd: r is in use: process {os.getpid()} is writing there.")
        assert content(folder.path) == before


@pytest.mark.parametrize("is_named", [True, False])
def test_resume_of_what_another_process_has_just_finished(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch, *, is_named: bool
) -> None:
    place = ["-o", "r"] if is_named else []
    assert igsd("train", toy, *place, "--quiet", *SETTINGS)[0] == 0
    (path,) = [found.parent for found in Path().rglob("metrics.json")]
    metrics = RunFolder(path).metrics() or {}
    RunFolder(path)._write_metrics(metrics | {"status": "unfinished"})
    real = RunFolder.owned

    def late(folder: RunFolder, *args: Any) -> Any:
        RunFolder(path)._write_metrics(metrics)
        return real(folder, *args)

    monkeypatch.setattr(RunFolder, "owned", late)
    code, out, _ = igsd("train", toy, *place, "--resume", "--quiet")
    assert (code, out) == (0, f"{path} is finished: nothing to do.\n")


def test_resume_of_what_another_process_began_meanwhile(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, folder = train.open_graphs, RunFolder(tmp_path / "r")

    def slow(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        data: Any = {"source": str(toy)}
        folder.create({"recipe": "molecules", "data": data}, Config(**TINY | {"epochs": 1}))
        return real(*args, **kwargs)

    monkeypatch.setattr(train, "open_graphs", slow)
    code, _, err = igsd("train", toy, "-o", "r", "--resume", "--quiet", *SETTINGS)
    assert (code, "r is a run with epochs 1, and" in err) == (2, True)
    assert folder.state == "unfinished"


def test_what_killed_processes_left_goes_with_the_next_command(
    igsd: Run, toy: Path, tmp_path: Path
) -> None:
    assert igsd("train", toy, "-o", "r", "--quiet", *SETTINGS)[0] == 0
    names = set(content(tmp_path / "r"))
    for name in (".lock", ".metrics.json.abcdefgh~", "checkpoint.safetensors"):
        (tmp_path / "r" / name).write_text("x")
    assert igsd("train", toy, "-o", "r", "--resume")[1:] == ("r is finished: nothing to do.\n", "")
    assert set(content(tmp_path / "r")) == names


def test_a_finished_run_that_cannot_be_written(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert igsd("train", toy, "-o", "r", "--quiet", *SETTINGS)[0] == 0

    def refused(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(FileLock, "acquire", refused)
    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    assert igsd("train", toy, "-o", "r", "--resume")[:2] == (0, "r is finished: nothing to do.\n")
    code, _, err = igsd("train", toy, "-o", "r", "--force", *SETTINGS)
    assert (code, "file system is read-only" in err) == (2, True)


KILLED = """
import os, sys
from igsd.files.atomic import atomic_file

with atomic_file(sys.argv[1]) as file:
    os.kill(os.getpid(), 9)
"""


def test_the_temporary_file_of_a_killed_writer(tmp_path: Path) -> None:
    from igsd.files.atomic import atomic_file

    path = tmp_path / "out [1].npy"
    subprocess.run([sys.executable, "-c", KILLED, path], env=os.environ | {"PYTHONPATH": SOURCES})
    assert len(content(tmp_path)) == 1
    with atomic_file(path) as file:  # of a writer that is alive
        file.write(b"first")
        assert len(content(tmp_path)) == 1
        write_text(path, "second")
        assert len(content(tmp_path)) == 2
    assert content(tmp_path) == {path.name: b"first"}


def start(toy: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `igsd train` on the toy graphs in the folder ``r`` beside them."""
    command = [sys.executable, "-m", "igsd", "train", toy, "-o", "r", "--quiet", *arguments]
    kwargs: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    kwargs["env"] = os.environ | {"PYTHONPATH": SOURCES, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=toy.parent, **kwargs)


@pytest.mark.slow
def test_of_concurrent_starts_one_trains(toy: Path) -> None:
    """Two of forty mixed the files of two runs."""
    each = [[*SETTINGS, f"--set=seed={seed}"] for seed in range(3)]
    processes = [start(toy, *arguments) for arguments in each]
    errors = [process.communicate(timeout=300)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert sorted(codes) == [0, 2, 2]
    reasons = ("igsd: r is in use: process ", "igsd: r already holds a run ")
    assert all(e.startswith(reasons) for e, code in zip(errors, codes, strict=True) if code)
    metrics = RunFolder(toy.parent / "r").metrics() or {}
    assert (metrics["status"], metrics["seed"]) == ("finished", codes.index(0))
    assert f"seed = {codes.index(0)} " in (toy.parent / "r" / "config.toml").read_text()


@pytest.mark.slow
def test_force_and_resume_beside_a_training(toy: Path) -> None:
    """Three of three mixed the files of two runs."""
    first = start(toy, *ENDLESS)
    try:
        while not (toy.parent / "r" / "checkpoint.safetensors").exists():
            assert first.poll() is None
            time.sleep(0.1)
        others = [start(toy, "--force", *SETTINGS), start(toy, "--resume")]
        for other in others:
            reason = f"igsd: r is in use: process {first.pid} is writing there."
            assert other.communicate(timeout=300)[1].startswith(reason)
            assert other.returncode == 2
    finally:
        first.kill()
    first.communicate()
    assert (toy.parent / "r" / ".lock").exists()  # of a killed process, which the system has freed
    code = start(toy, "--force", *SETTINGS).wait(300)
    names = {path.name for path in (toy.parent / "r").iterdir()}
    assert (code, [name for name in names if name.startswith(".")]) == (0, [])
