"""Several commands in one folder at once: one owner, one result, and no mixture."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.torture.attack import Attack, Command, Row
from tests.torture.kills import records_result, training_result
from tests.torture.materials import train, write_materials

_LONG = ("--set=epochs=8", "--set=checkpoint_every=1")


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row each for starts, --force, --resume and reproduce."""
    materials = write_materials(attack)
    wanted = {seed: _alone(attack, materials, seed) for seed in (1, 2)}
    yield _starts(attack, materials, wanted)
    yield _forced(attack, materials, wanted)
    yield _resumed(attack, materials, wanted)
    if attack.size != "short":
        yield _reproduced(attack, materials)


def _training(seed: int, *options: str) -> list[str]:
    return train("toy.graphs", "out", *_LONG, f"--set=seed={seed}", *options)


def _folder(attack: Attack, materials: Path, name: str) -> Path:
    folder = attack.place(name)
    shutil.copy(materials / "toy.graphs", folder)
    return folder


def _alone(attack: Attack, materials: Path, seed: int) -> Any:
    folder = _folder(attack, materials, f"alone-{seed}")
    if (fault := Command(folder, *_training(seed), cache=materials).fault()) is not None:
        raise RuntimeError(fault)
    return training_result(folder)


def _fault_of(folder: Path, wanted: dict[int, Any], started: list[Command]) -> str | None:
    """Return a fault unless the run is one whole run, and every command ended with a reason."""
    for command in started:
        if (fault := command.fault((0, 2))) is not None:
            return fault
    if all(command.wait() != 0 for command in started):
        return f"nobody trained: {[command.text()[-150:] for command in started]}"
    try:
        seed = tomllib.loads((folder / "out" / "config.toml").read_text())["seed"]
        stored = json.loads((folder / "out" / "metrics.json").read_text())["seed"]
        result = training_result(folder)
    except (OSError, ValueError, KeyError) as error:
        return f"no whole run: {error}"
    if seed != stored or result != wanted[seed]:
        return f"a mixture: settings of seed {seed}, metrics of seed {stored}"
    return None


def _starts(attack: Attack, materials: Path, wanted: dict[int, Any]) -> Row:
    row = Row("races: starts in one folder")
    for number in range(attack.amount(3, 20)):
        folder = _folder(attack, materials, f"starts-{number % 2}")
        started = [Command(folder, *_training(seed), cache=materials) for seed in (1, 2)]
        row.count(_fault_of(folder, wanted, started), f"pair {number}")
        row.tried += 1  # two starts
    return row


def _forced(attack: Attack, materials: Path, wanted: dict[int, Any]) -> Row:
    row, rng = Row("races: --force beside a training"), attack.rng("force")
    for number in range(attack.amount(2, 8)):
        folder = _folder(attack, materials, "forced")
        first = Command(folder, *_training(1), cache=materials)
        first.process.join(float(rng.uniform(0.05, 1.0)))
        second = Command(folder, *_training(2, "--force"), cache=materials)
        row.count(_fault_of(folder, wanted, [first, second]), f"try {number}")
    return row


def _resumed(attack: Attack, materials: Path, wanted: dict[int, Any]) -> Row:
    row, rng = Row("races: three --resume"), attack.rng("resume")
    for number in range(attack.amount(2, 8)):
        folder = _folder(attack, materials, "resumed")
        first = Command(folder, *_training(1), cache=materials)
        first.process.join(float(rng.uniform(0.05, 1.0)))
        first.kill()
        started = [Command(folder, *_training(1, "--resume"), cache=materials) for _ in range(3)]
        row.count(_fault_of(folder, wanted, started), f"try {number}")
    return row


def _reproduced(attack: Attack, materials: Path) -> Row:
    """Three commands share the work; the one that is killed loses no more than its run."""
    row, rng = Row("races: three reproduce, one killed"), attack.rng("reproduce")
    line = ("reproduce", "beyond", "--data", "toy.graphs", "--methods", "wl", "--seeds", "3")
    line += ("--jobs", "1", "--records", "out", "--quiet")
    whole = _folder(attack, materials, "reproduced")
    if (fault := Command(whole, *line, cache=materials).fault()) is not None:
        row.count(fault, "alone")
        return row
    wanted = records_result(whole)
    for number in range(attack.amount(1, 3)):
        folder = _folder(attack, materials, "shared")
        started = [Command(folder, *line, cache=materials) for _ in range(3)]
        started[0].process.join(float(rng.uniform(0.2, 6.0)))
        started[0].kill()
        faults = [command.fault((0, 1)) for command in started[1:]]
        faults.append(Command(folder, *line, cache=materials).fault())
        same = records_result(folder) == wanted
        faults.append(None if same else f"other records: {sorted(records_result(folder))}")
        row.count(next((fault for fault in faults if fault), None), f"try {number}")
    return row
