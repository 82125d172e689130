"""Full and read-only disks: a sentence, nothing half-written, and no loss of what was there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.torture.attack import Attack, Command, Row
from tests.torture.materials import train, write_materials


@contextlib.contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    """Mount an empty disk of some KiB; raises ``OSError`` where mounting is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr.strip() or "mounting is not allowed")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row for full and one for read-only disks; skipped where mounting is not allowed."""
    materials = write_materials(attack)
    for name, attempt in (("full", _full), ("read-only", _read_only)):
        row = Row(f"disks: {name}")
        try:
            attempt(attack, materials, row)
        except (OSError, FileNotFoundError) as error:
            if row.tried:
                raise
            row.skipped = f"no disk could be mounted ({error})"
        yield row


def _commands(materials: Path, disk: Path) -> dict[str, list[str]]:
    toy, run = materials / "toy.graphs", materials / "run"
    return {
        "train": train(toy, disk / "run"),
        "embed .npy": ["embed", str(run), str(toy), "-o", str(disk / "v.npy"), "--quiet"],
        "embed .parquet": ["embed", str(run), str(toy), "-o", str(disk / "v.parquet"), "--quiet"],
        "import": ["data", "import", "MUTAG", "-o", str(disk / "m.graphs")],
        "report": ["report", "--run", str(run), "-o", str(disk / "page.html")],
    }


def _full(attack: Attack, materials: Path, row: Row) -> None:
    """Fill the disk up to a few KiB, so that the writing of each file is hit."""
    sizes = {"train": (4, 12, 20, 32, 48, 64), "report": (8, 40), "import": (8, 40)}
    for name in _commands(materials, Path()):
        for kib in sizes.get(name, (0, 4))[: attack.amount(1, 6)]:
            with small_disk(attack.place("disk"), max(kib, 4)) as disk:
                old = disk / "v.npy"
                if kib == 0:
                    old.write_bytes(bytes(4096))
                line = _commands(materials, disk)[name]
                # A cache that cannot be written is no reason to fail either.
                running = Command(materials, *line, cache=disk if name == "train" else materials)
                fault = running.fault((0, 2))
                row.count(fault or _left(disk), f"{name}, {kib} KiB free")


def _left(disk: Path) -> str | None:
    """Return a fault if a file on the disk is not whole."""
    for path in sorted(disk.rglob("*")):
        if path.is_dir():
            continue
        if path.name.startswith(".") and not path.name.endswith(".lock"):
            return f"left behind: {path.name}"
        try:
            if path.suffix == ".json":
                json.loads(path.read_text())
            elif path.suffix == ".npy" and path.stat().st_size != 4096:
                np.load(path, allow_pickle=False)
            elif path.suffix == ".safetensors" and not path.stat().st_size:
                return f"empty: {path.name}"
        except ValueError as error:
            return f"half-written: {path.name} ({error})"
    return None


def _read_only(attack: Attack, materials: Path, row: Row) -> None:
    """Nothing can be written; what is there can still be used."""
    with small_disk(attack.place("disk"), 4096) as disk:
        shutil.copytree(materials / "run", disk / "done")
        shutil.copy(materials / "toy.graphs", disk)
        os.sync()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for name, line in _commands(materials, disk).items():
            row.count(Command(materials, *line).fault((2,)), f"{name} to a read-only disk")
        out = attack.place("from-disk")
        uses = {
            "embed": [
                "embed",
                str(disk / "done"),
                str(disk / "toy.graphs"),
                "-o",
                str(out / "v.npy"),
            ],
            "resume": ["train", str(disk / "toy.graphs"), "-o", str(disk / "done"), "--resume"],
            "report": ["report", "--run", str(disk / "done"), "-o", str(out / "p.html")],
            "a cache": train(disk / "toy.graphs", out / "run", "--set=cache_views=true"),
        }
        for name, line in uses.items():
            row.count(Command(out, *line, cache=disk).fault(), f"{name} from a read-only disk")
