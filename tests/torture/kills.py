"""Killed with -9 at any moment: the same command ends with the result of an unbroken run."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.experiments.run_folder import FILES
from tests.torture.attack import Attack, Command, Death, Row, fresh_command
from tests.torture.materials import PRETRAIN, SETTINGS, train, write_materials

MOMENTS = ("writing", "renaming", "renamed")
_LONG = ("--set=epochs=12", "--set=checkpoint_every=1")


@dataclass(frozen=True)
class Victim:
    """A command, how it is continued, what its result is, and the files whose writing is hit."""

    name: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]
    result: Callable[[Path], Any]
    again: tuple[str, ...] = ()
    most: int = 2

    def deaths(self, count: int, rng: np.random.Generator) -> list[Death | None]:
        """Return where to kill: None for a random moment, which every third is."""
        found: list[Death | None] = []
        for number in range(count):
            name = self.files[number % len(self.files)]
            nth = int(rng.integers(1, self.most + 1)) if name == self.files[0] else 1
            moment = MOMENTS[int(rng.integers(3))]
            found.append(None if number % 3 == 2 else Death(name, nth, moment))
        return found


def training_result(folder: Path) -> Any:
    """Return the bytes of the model and the vectors of a run; raises for files left behind."""
    run = folder / "out"
    left = [p.name for p in run.iterdir() if any(p.name.startswith(f".{n}.") for n in FILES)]
    if left or (run / "checkpoint.safetensors").exists():
        raise ValueError(f"left behind: {left or 'the checkpoint'}")
    status = json.loads((run / "metrics.json").read_text())["status"]
    return status, (run / "model.safetensors").read_bytes(), (run / "embeddings.npy").read_bytes()


def records_result(folder: Path) -> Any:
    """Return the figures of all records."""
    return {
        str(path.relative_to(folder)): json.loads(path.read_text())["rows"]
        for path in sorted((folder / "out").rglob("seed-*.json"))
    }


def file_result(name: str) -> Callable[[Path], Any]:
    """Return a function that returns the bytes of a file; raises for files left beside it."""

    def result(folder: Path) -> Any:
        return (folder / name).read_bytes()

    return result


def search_result(folder: Path) -> Any:
    """Return the recipe of a search, and its trials without their times."""
    lines = (folder / "out" / "trials.csv").read_text().splitlines()
    return (folder / "out" / "recipe.toml").read_text(), len(lines)


def victims() -> list[Victim]:
    """Return the commands that are killed."""
    runs = ("--seeds", "2", "--jobs", "1", "--records", "out", "--quiet")
    tuned = ("--trials", "2", "--seeds", "1", "--jobs", "1", "--quiet", "--grid", "epochs=1,2")
    settings = tuple(text for text in SETTINGS if "epochs" not in text)
    return [
        Victim(
            "embed", ("embed", "run", "toy.graphs", "-o", "out.npy", "--quiet"), ("out.npy",),
            file_result("out.npy"), most=1,
        ),
        Victim(
            "data import", ("data", "import", "TOY", "-o", "out.graphs"), ("out.graphs",),
            file_result("out.graphs"), ("--force",), most=1,
        ),
        Victim(
            "index", ("index", "run", "toy.graphs", "-o", "out.index", "--quiet"), ("out.index",),
            file_result("out.index"), ("--force",), most=1,
        ),
        Victim(
            "pretrain", (*PRETRAIN, "--set=checkpoint_every=1", "-o", "out.model"),
            ("out.model.checkpoint", "out.model"), file_result("out.model"), ("--force",),
        ),
        Victim(
            "compare", ("compare", "toy.graphs", "--methods", "histogram", *runs), ("seed-",),
            records_result,
        ),
        Victim(
            "reproduce", ("reproduce", "beyond", "--data", "toy.graphs", "--methods", "wl", *runs),
            ("seed-",), records_result,
        ),
        Victim(
            "tune", ("tune", "toy.graphs", "-o", "out", *tuned, *settings),
            ("recipe.toml", "trials.csv"), search_result,
        ),
    ]  # fmt: skip


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row for trainings, and one for each other command."""
    materials = write_materials(attack)
    files = ("checkpoint.safetensors", "model.safetensors", "embeddings.npy", "metrics.json")
    training = Victim(
        "train", tuple(train("toy.graphs", "out", *_LONG)), files, training_result, ("--resume",), 8
    )
    yield _row(attack, materials, training, attack.amount(5, 20, 70))
    for victim in victims():
        is_quick = victim.name in ("embed", "data import")
        if attack.size != "short" or is_quick:
            yield _row(attack, materials, victim, attack.amount(2, 6))


def _row(attack: Attack, materials: Path, victim: Victim, count: int) -> Row:
    row, rng = Row(f"kills: {victim.name}"), attack.rng(f"kills {victim.name}")
    whole = _new_folder(attack, materials, "whole")
    start = time.monotonic()
    fault = Command(whole, *victim.arguments, cache=materials).fault()
    took = time.monotonic() - start
    if fault is not None:
        row.count(fault, "without a kill")
        return row
    wanted = victim.result(whole)
    for number, death in enumerate(victim.deaths(count, rng)):
        folder = _new_folder(attack, materials, "cut")
        where: object = death
        if death is not None:
            Command(folder, *victim.arguments, death=death, cache=materials).wait()
        elif number % 2:
            delay = float(rng.uniform(0, 3))
            where = f"{delay:.2f} s after the start of Python"
            process = fresh_command(folder, *victim.arguments)
            time.sleep(delay)
            process.kill()
            process.wait()
        else:
            delay = float(rng.uniform(0, took))
            where = f"{delay:.2f} s after the start"
            running = Command(folder, *victim.arguments, cache=materials)
            time.sleep(delay)
            running.kill()
        again = () if _is_new(folder, victim) else victim.again
        fault = Command(folder, *victim.arguments, *again, cache=materials).fault()
        if fault is None:
            try:
                fault = None if victim.result(folder) == wanted else "another result"
            except (OSError, ValueError, KeyError) as error:
                fault = f"no result: {error}"
        row.count(fault, f"killed at {where}")
    return row


def _is_new(folder: Path, victim: Victim) -> bool:
    """Whether a killed import has left nothing, so that it needs no --force."""
    return victim.again == ("--force",) and not any(
        (folder / name).exists() for name in victim.files
    )


def _new_folder(attack: Attack, materials: Path, name: str) -> Path:
    folder = attack.place(name)
    for file in ("toy.graphs", "molecules.csv"):
        shutil.copy(materials / file, folder)
    shutil.copytree(materials / "TOY", folder / "TOY")
    shutil.copytree(materials / "run", folder / "run")
    return folder
