"""Mutants of every kind of file: damaged, or lying with correct checksums.

A command that reads a mutant must succeed or end in a sentence, within 2 GB and 60 seconds.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.torture.attack import Attack, Batch, Row, fault_of, fault_of_error
from tests.torture.materials import train, write_materials

Rng = np.random.Generator
Mutate = Callable[[bytes, Rng], bytes]

_NUMBERS = [0, 1, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
_WORDS = ["", "-1", "0", "nan", "inf", "-inf", "1e300", "1e-320", "9" * 30, "2.5", "null", "true"]
_WORDS += ["[]", "{}", '"', "'", ",", ";", "\t", "\n", "\x00", "é", "\ud7ff", "x" * 5000, "../x"]
_WORDS += ["=1+1", "<b>", "\x1b[2J", "1_0", "0x10", "١", "[[" * 400, "{'a':" * 400]
_VALUES: list[Any] = [None, True, -1, 0, 1.5, 10**30, -(2**63), 1e308, float("inf"), "", "x", []]
_VALUES += [{}, [None], {"a": None}, "é" * 300, [[[]]], [1] * 50, float("nan"), "../../x", 2**40]


# Mutations


def mutate_bytes(content: bytes, rng: Rng) -> bytes:
    """Change, remove, repeat, insert or overwrite a few bytes, or cut the rest."""
    data = bytearray(content or b"\0")
    for _ in range(int(rng.integers(1, 4))):
        start = int(rng.integers(len(data) + 1))
        stop = min(len(data), start + int(rng.integers(1, 65)))
        choice = int(rng.integers(8))
        if choice == 0 and start < len(data):
            data[start] ^= 1 << int(rng.integers(8))
        elif choice == 1:
            del data[start:stop]
        elif choice == 2:
            data[start:start] = data[start:stop]
        elif choice == 3:
            data[start:start] = rng.bytes(stop - start)
        elif choice == 4:
            data[start:stop] = rng.bytes(stop - start)
        elif choice == 5:
            data[start:stop] = bytes(stop - start)
        elif choice == 6:
            number = _NUMBERS[int(rng.integers(len(_NUMBERS)))]
            data[start : start + 8] = number.to_bytes(8, "little")
        else:
            del data[start:]
    return bytes(data)


def mutate_text(content: bytes, rng: Rng) -> bytes:
    """Replace words, remove, repeat or exchange lines, or mutate bytes."""
    choice = int(rng.integers(6))
    if choice == 0:
        return mutate_bytes(content, rng)
    if choice <= 3:
        parts = re.split(rb"(\w[\w.+-]*)", content)
        place = 2 * int(rng.integers(len(parts) // 2 or 1)) + 1
        if place < len(parts):
            parts[place] = str(rng.choice(np.array(_WORDS, object))).encode()
        return b"".join(parts)
    lines = content.splitlines(keepends=True)
    one, other = (int(place) for place in rng.integers(len(lines), size=2))
    if choice == 4:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one : one + 1] = [lines[one]] * int(rng.choice([0, 2]))
    return b"".join(lines)


def mutate_values(value: Any, rng: Rng) -> Any:
    """Return parsed JSON with one value replaced, removed, nested or renamed."""
    places = list(_places(value))
    if not places or rng.random() < 0.02:
        return _VALUES[int(rng.integers(len(_VALUES)))]
    parent, key = places[int(rng.integers(len(places)))]
    choice = int(rng.integers(8))
    if choice == 0:
        del parent[key]
    elif choice == 1:
        parent[key] = [parent[key]]
    elif choice == 2 and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    elif choice == 3 and isinstance(parent[key], int | float):
        parent[key] = parent[key] * int(rng.integers(-3, 4)) + int(rng.integers(-2, 3))
    else:
        parent[key] = _VALUES[int(rng.integers(len(_VALUES)))]
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def mutate_json(content: bytes, rng: Rng) -> bytes:
    """Mutate the values of JSON, now and then its text."""
    if rng.random() < 0.25:
        return mutate_text(content, rng)
    return json.dumps(mutate_values(json.loads(content), rng)).encode()


def mutate_container(content: bytes, rng: Rng) -> bytes:
    """Mutate the bytes of a container; or its table, its header or its data with true checksums."""
    choice = int(rng.integers(5))
    if choice == 0:
        return mutate_bytes(content, rng)
    length = int.from_bytes(content[:8], "little")
    table, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    own = table["__metadata__"]
    if choice == 1:
        own["igsd"] = json.dumps(mutate_values(json.loads(own["igsd"]), rng))
    elif choice <= 3:
        table = mutate_values(table, rng)
    else:
        size = len(data)
        data = mutate_bytes(data, rng)
        data = (data + bytes(size))[:size]
    return seal(table, data)


def seal(table: Any, data: bytes) -> bytes:
    """Return a container with this table and data whose checksums are correct."""
    from igsd.files.arrays import checksums

    own = table.get("__metadata__") if isinstance(table, dict) else None
    if isinstance(own, dict) and isinstance(own.get("blocks"), str):
        own |= {"blocks": json.dumps(checksums([data])), "table": "00000000"}
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    head = head.replace(b'"table": "00000000"', b'"table": "%08x"' % zlib.crc32(head), 1)
    return len(head).to_bytes(8, "little") + head + data


def mutate_gzip(content: bytes, rng: Rng) -> bytes:
    """Mutate a gzip file, or the text in it."""
    if rng.random() < 0.5:
        return mutate_bytes(content, rng)
    return gzip.compress(mutate_text(gzip.decompress(content), rng), mtime=0)


def mutate_zip(content: bytes, rng: Rng) -> bytes:
    """Mutate a zip file, or the text or name of one of its members."""
    if rng.random() < 0.4:
        return mutate_bytes(content, rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        chosen = int(rng.integers(len(old.namelist())))
        for place, name in enumerate(old.namelist()):
            text = old.read(name)
            if place == chosen and rng.random() < 0.7:
                text = mutate_text(text, rng)
            elif place == chosen:
                name = mutate_text(name.encode(), rng).decode("latin-1").replace("\0", "") or "x"
            new.writestr(name, text)
    return packed.getvalue()


def mutate_npz(content: bytes, rng: Rng) -> bytes:
    """Mutate an archive of NumPy, or the numbers of one of its arrays."""
    if rng.random() < 0.3:
        return mutate_bytes(content, rng)
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name].copy() for name in archive.files}
    array = arrays[str(rng.choice([name for name in arrays if arrays[name].ndim]))]
    number = rng.choice([-1, 0, 1, 5, 99, 2**20, 2**31 - 1, -(2**31)])
    array[int(rng.integers(len(array)))] = number
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


# What reads a mutant


@dataclass(frozen=True)
class Kind:
    """A kind of file: where it is among the materials, and the commands that read it.

    ``around``: a folder that is copied with it. ``{it}`` in a command is the mutant, ``{run}`` the
    copied folder, ``{all}`` the materials, ``{new}`` a place for output.
    """

    name: str
    file: str
    mutate: Mutate
    commands: tuple[str, ...] = ()
    around: str = ""
    may_need_memory: bool = False


_TRAIN = " ".join(train("{all}/toy.graphs", "{new}", "--set=epochs=1"))
_RESUME = "train {all}/toy.graphs -o {run} --resume --quiet"
_PAGE = "report --run {run} -o {new}.html"
KINDS = (
    Kind("graph sets", "toy.graphs", mutate_container, ("embed {all}/run {it} -o {new}.npy",)),
    Kind(
        "models",
        "run/model.safetensors",
        mutate_container,
        ("embed {it} {all}/toy.graphs -o {new}.npy",),
    ),
    Kind(
        "models with labels",
        "labelled/model.safetensors",
        mutate_container,
        ("predict {it} {all}/toy.graphs -o {new}.csv",),
    ),
    Kind(
        "predictors of molecules",
        "predictor/model.safetensors",
        mutate_container,
        ("predict {it} {all}/molecules.csv -o {new}.csv",),
    ),
    Kind(
        "encoders of molecules",
        "encoder.safetensors",
        mutate_container,
        ("embed {it} {all}/molecules.csv -o {new}.npy",),
    ),
    Kind("checkpoints", "stopped/checkpoint.safetensors", mutate_container, (_RESUME,), "stopped"),
    Kind(
        "cached views",
        "cache/views/*",
        mutate_container,
        (f"{_TRAIN} --set=cache_views=true",),
        "cache",
    ),
    Kind("cached data sets", "cache/datasets/*", mutate_container, ("data show MUTAG",), "cache"),
    Kind(
        "indices",
        "toy.index",
        mutate_container,
        ("neighbors {all}/run --index {it} --query 3",),
    ),
    Kind("vectors, .npy", "vectors.npy", mutate_bytes),
    Kind("vectors, .csv", "vectors.csv", mutate_text),
    Kind("vectors, .parquet", "vectors.parquet", mutate_bytes),
    Kind("TU files: edges", "TOY/TOY_A.txt", mutate_text, ("data show {run}",), "TOY"),
    Kind(
        "TU files: graphs", "TOY/TOY_graph_indicator.txt", mutate_text, ("data show {run}",), "TOY"
    ),
    Kind("TU files: labels", "TOY/TOY_node_labels.txt", mutate_text, ("data show {run}",), "TOY"),
    Kind("TU zips", "TOY.zip", mutate_zip, ("data show {it}",)),
    *(
        Kind(f"networks, .{suffix}", f"networks/a.{suffix}", mutate_text, ("data show {it}",))
        for suffix in ("graphml", "gml", "gexf", "net", "json", "edgelist")
    ),
    *(
        Kind(f"matrices, {form}", f"networks/{form}.npz", mutate_npz, ("data show {it}",))
        for form in ("csr", "coo")
    ),
    Kind("structures, .sdf", "molecules.sdf", mutate_text, ("data show {it}",)),
    Kind("tables", "molecules.csv", mutate_text, ("data show {it}",)),
    Kind("packed tables", "molecules.csv.gz", mutate_gzip, ("data show {it}",)),
    Kind("files of labels", "labels.txt", mutate_text, (f"{_TRAIN} --labels {{it}}",)),
    Kind(
        "settings",
        "run/config.toml",
        mutate_text,
        (f"{_TRAIN} --config {{it}}",),
        may_need_memory=True,
    ),
    Kind(
        "settings of a run",
        "stopped/config.toml",
        mutate_text,
        (_RESUME,),
        "stopped",
        may_need_memory=True,
    ),
    Kind(
        "metrics of a run",
        "run/metrics.json",
        mutate_json,
        (_PAGE, _RESUME, "embed {run} {all}/toy.graphs -o {new}.npy"),
        "run",
    ),
    Kind("metrics of a stopped run", "stopped/metrics.json", mutate_json, (_RESUME,), "stopped"),
    Kind("histories of a run", "run/history.csv", mutate_text, (_PAGE,), "run"),
    Kind("vectors of a run", "run/embeddings.npy", mutate_bytes, (_PAGE,), "run"),
    Kind(
        "records",
        "records/nested/toy/histogram/seed-0.json",
        mutate_json,
        ("report {run} -o {new}.html",),
        "records",
    ),
    Kind(
        "journals of a search",
        "tuned/trials.journal",
        mutate_text,
        ("tune {all}/toy.graphs -o {run} --trials 1 --dry-run",),
        "tuned",
    ),
)


def open_mutant(kind: Kind, materials: Path, place: Path, content: bytes) -> str | None:
    """Return the fault of what reads a mutant, None if there is none; runs in a batch."""
    import os

    source = next(iter(materials.glob(kind.file)))
    place.mkdir(parents=True)
    os.environ["IGSD_CACHE"] = str(materials / "cache")
    if kind.around:
        shutil.copytree(materials / kind.around, place / kind.around)
        mutant = place / source.relative_to(materials)
    else:
        mutant = place / source.name
    mutant.write_bytes(content)
    if kind.around == "cache":
        os.environ["IGSD_CACHE"] = str(place / "cache")
    if not kind.commands:
        return _read_vectors(mutant)
    names = {"it": mutant, "run": place / kind.around, "all": materials, "new": place / "new"}
    for line in kind.commands:
        words = [word.format(**names) for word in line.split()]
        if (fault := fault_of(words, may_need_memory=kind.may_need_memory)) is not None:
            return f"{line.split()[0]}: {fault}"
    return None


def _read_vectors(path: Path) -> str | None:
    from igsd.files.columns import read_vectors

    try:
        read_vectors(path)
    except Exception as error:
        return fault_of_error(error)
    return None


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row per kind of file; a failing mutant is kept in the folder ``failing``."""
    materials = write_materials(attack)
    everything = -(-10_000 // len(KINDS))
    for kind in KINDS:
        row, rng = Row(f"mutants: {kind.name}"), attack.rng(kind.name)
        content = next(iter(materials.glob(kind.file))).read_bytes()
        folder = attack.place("mutants")
        with Batch(folder) as batch:
            for number in range(attack.amount(8, 150, everything)):
                mutant = kind.mutate(content, rng)
                place = folder / str(number)
                fault = batch.run(open_mutant, kind, materials, place, mutant)
                row.count(fault, f"{kind.name} {number}")
                if fault is not None:
                    kept = (
                        attack.folder / "failing" / f"{kind.name} {number}{Path(kind.file).suffix}"
                    )
                    kept.parent.mkdir(exist_ok=True)
                    kept.write_bytes(mutant)
        yield row
