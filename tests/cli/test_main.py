from __future__ import annotations

import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from igsd.cli import data, main
from igsd.errors import IGSDWarning, ParameterError, StorageError
from tests.cli.conftest import Run

HEAVY = ("torch", "sklearn", "numpy", "scipy", "matplotlib", "pyarrow", "rich", "networkx")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom igsd.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for command in ("data", "train", "embed", "evaluate", "neighbors"):
        assert command in done.stdout


@pytest.mark.parametrize(
    "command",
    [["data"], ["data", "import"], ["train"], ["embed"], ["evaluate"], ["neighbors"]],
)
def test_every_command_explains_itself(igsd: Run, command: list[str]) -> None:
    code, out, _ = igsd(*command, "--help")
    assert code == 0
    assert "usage: igsd" in out


def test_train_help_lists_every_setting(igsd: Run) -> None:
    from dataclasses import fields

    from igsd.settings.igsd import Config

    out = igsd("train", "--help")[1]
    assert [f.name for f in fields(Config) if f"    {f.name} = " not in out] == []


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["train"], ["train", "x", "--what"]])
def test_wrong_usage(igsd: Run, arguments: list[str]) -> None:
    code, _, err = igsd(*arguments)
    assert code == 2
    assert "usage: igsd" in err


@pytest.mark.parametrize(
    "arguments", [["data", "show", ""], ["train", "x", "--config", " "], ["data", "list", "--x="]]
)
def test_an_empty_argument(igsd: Run, arguments: list[str]) -> None:
    """As of an unset variable of a shell; an empty --records meant the working folder."""
    code, _, err = igsd(*arguments)
    assert code == 2
    assert f"The argument after {'--x' if '--x=' in arguments else arguments[-2]} is empty." in err


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), 130, "igsd: Stopped."),
        (MemoryError(), 2, "Out of memory"),
        (ParameterError("epochs", "IGSD", "must be"), 2, "igsd: The setting 'epochs' must be"),
        (ParameterError("random_state", "IGSD", "must"), 2, "igsd: The setting 'seed' must"),
        (StorageError("The file is broken."), 2, "igsd: The file is broken."),
        (OSError(28, "No space left on device", "/x/y"), 2, "The disk is full, cannot write /x/y"),
        (PermissionError(13, "Permission denied", "/x"), 2, "Cannot access /x: Permission denied"),
    ],
)
def test_errors_become_a_sentence(
    igsd: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, text: str
) -> None:
    def fail(args: object) -> int:
        raise error

    monkeypatch.setattr(data, "run_list", fail)
    found, _, err = igsd("data", "list")
    assert found == code
    assert text in err


def test_warnings_become_notes_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    with main.warnings_as_notes():
        for _ in range(2):
            warnings.warn("the cache is full", IGSDWarning, stacklevel=1)
        warnings.warn("the other one", IGSDWarning, stacklevel=1)
    err = capsys.readouterr().err
    assert err == "igsd: note: the cache is full\nigsd: note: the other one\n"


def test_shown_by_the_command_line_without_source_code(
    igsd: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warn(args: object) -> int:
        warnings.warn("something odd", IGSDWarning, stacklevel=1)
        return 0

    monkeypatch.setattr(data, "run_list", warn)
    assert igsd("data", "list") == (0, "", "igsd: note: something odd\n")


def test_a_reader_that_stops_reading_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m igsd data list | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout.strip() == "0"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("streams", "code", "reason"),
    [
        (">/dev/full", 2, "No space left on device"),
        (">&-", 2, "it is closed"),
        ("2>/dev/full", 0, ""),
        (">&- 2>&- <&-", 2, ""),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written(
    streams: str, code: int, reason: str, unbuffered: str
) -> None:
    """Neither a traceback nor, in the middle of a training, the end of it."""
    command = f"{shlex.quote(sys.executable)} -m igsd --help {streams}"
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment)
    assert done.returncode == code
    lost = f"igsd: Cannot write to standard output: {reason}.\n"
    assert done.stderr == (lost if reason else "")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("embed molecules - -o v.csv <&-", "Cannot read from standard input: it is closed"),
        ("embed molecules m.csv -o - --quiet >&-", "Cannot write to standard output: it is closed"),
    ],
)
def test_closed_streams_that_are_needed(arguments: str, reason: str, tmp_path: Path) -> None:
    """The first was a traceback, the second wrote nothing and reported success."""
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    command = f"{shlex.quote(sys.executable)} -m igsd {arguments}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.csv"]


def test_is_a_module_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "igsd", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.startswith("igsd ")
    assert main.make_parser().prog == "igsd"


@pytest.mark.parametrize(
    "command",
    [
        ("train", "MUTAG", "-o", "s3://bucket/run"),
        ("data", "import", "MUTAG", "-o", "file:///tmp/mutag.graphs"),
        ("index", "model", "MUTAG", "-o", "gs://bucket/index"),
        ("map", "model", "MUTAG", "--plot", "s3://bucket/map.png"),
        ("compare", "MUTAG", "--json", "s3://bucket/scores.json"),
    ],
)
def test_a_url_where_a_path_is_needed(igsd: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    """It was taken for a path: a folder called ``s3:`` appeared."""
    code, _, err = igsd(*command)
    assert code == 2
    assert f"{command[-2]} must be a path on this machine. Got the URL {command[-1]}" in err
    assert not list(tmp_path.glob("*:"))
