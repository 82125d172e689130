"""Small files that unpack, nest or widen without end: a sentence within 2 GB and 60 seconds."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.torture.attack import Attack, Batch, Row, fault_of
from tests.torture.materials import train, write_materials
from tests.torture.mutants import seal

_MIB = 2**20


def _zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("DS_graph_indicator.txt", "1\n1\n")
        with archive.open("DS_A.txt", "w", force_zip64=True) as member:
            for _ in range(192):
                member.write(b"1,2\n" * (4 * _MIB))


def _zip_with_many_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("DS_A.txt", "1,2\n")
        for number in range(50_000):
            archive.writestr(f"DS/{number}.txt", "")


def _gzip_bomb(path: Path) -> None:
    """Many gzip members in a row are one file: 3 GB of rows."""
    part = gzip.compress(b"CCO,1\n" * (8 * _MIB), 1)
    path.write_bytes(gzip.compress(b"smiles,label\n") + part * 64)


def _one_line(path: Path) -> None:
    path.write_bytes(b"smiles,label\n" + b"C" * (10 * _MIB) + b",1\n")


def _wide(path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(100_000))
    path.write_text(f"smiles,{names}\nCCO{',1' * 100_000}\n")


def _wide_vectors(path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(100_000))
    path.write_text(f"graph,{names}\n0{',1' * 100_000}\n")


def _quote(path: Path) -> None:
    path.write_bytes(b'smiles,label\n"' + b"C\n" * (10 * _MIB))


def _deep_json(path: Path) -> None:
    path.write_text('{"kind": "igsd run", "data": ' + "[" * 100_000 + "]" * 100_000 + "}")


def _deep_toml(path: Path) -> None:
    path.write_text("epochs = " + "[" * 100_000 + "]" * 100_000)


def _dotted_toml(path: Path) -> None:
    path.write_text(".".join("a" * 50_000) + " = 1")


def _deep_header(path: Path) -> None:
    table = {"__metadata__": {"igsd": "[" * 100_000, "blocks": "[0]", "table": "00000000"}}
    path.write_bytes(seal(table, b""))


def _huge_shape(path: Path) -> None:
    own = {"igsd": json.dumps({"kind": "graph set", "version": 1}), "blocks": "[0]"}
    entry = {"dtype": "F32", "shape": [2**31, 2**31], "data_offsets": [0, 0]}
    path.write_bytes(seal({"__metadata__": own | {"table": "00000000"}, "a": entry}, b""))


def _many_arrays(path: Path) -> None:
    own = {"igsd": json.dumps({"kind": "model", "version": 1}), "blocks": "", "table": "00000000"}
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    path.write_bytes(seal({"__metadata__": own} | {f"a{i}": entry for i in range(200_000)}, b""))


def _wide_npy(path: Path) -> None:
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)


def _many_graphs(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("DS_A.txt", "1,2\n2,1\n")
        archive.writestr("DS_graph_indicator.txt", "1\n1000000000000\n")


def _large_ids(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("DS_A.txt", "1,9000000000000000000\n")
        archive.writestr("DS_graph_indicator.txt", "1\n1\n")


_SHOW = "data show {it}"
_VECTORS = "evaluate {it} {all}/toy.graphs --seeds 1 --quiet"
BOMBS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "a zip of 3 GB": ("bomb.zip", _zip_bomb, _SHOW),
    "a zip with 50,000 members": ("many.zip", _zip_with_many_members, _SHOW),
    "a gzip of 3 GB": ("bomb.csv.gz", _gzip_bomb, _SHOW),
    "a line of 10 MB": ("line.csv", _one_line, _SHOW),
    "a quote that never ends": ("quote.csv", _quote, _SHOW),
    "100,000 columns": ("wide.csv", _wide, _SHOW),
    "vectors of 100,000 columns": ("wide.csv", _wide_vectors, _VECTORS),
    "a shape of 10^18 numbers": ("wide.npy", _wide_npy, _VECTORS),
    "metrics nested 100,000 deep": ("run/metrics.json", _deep_json, "report --run run -o p.html"),
    "a nested metrics.json to resume": (
        "again/metrics.json", _deep_json, "train {all}/toy.graphs -o again --resume --quiet",
    ),
    "settings nested 100,000 deep": (
        "deep.toml", _deep_toml, " ".join(train("{all}/toy.graphs", "new", "--config", "{it}")),
    ),
    "a setting with 50,000 dots": (
        "dots.toml", _dotted_toml, " ".join(train("{all}/toy.graphs", "new", "--config", "{it}")),
    ),
    "a header nested 100,000 deep": ("deep.graphs", _deep_header, _SHOW),
    "a container of 2^62 numbers": ("huge.graphs", _huge_shape, _SHOW),
    "a model of 200,000 arrays": (
        "many.safetensors", _many_arrays, "embed {it} {all}/toy.graphs -o v.npy --quiet",
    ),
    "10^12 graphs in a line": ("graphs.zip", _many_graphs, _SHOW),
    "node 9 * 10^18": ("ids.zip", _large_ids, _SHOW),
}  # fmt: skip

SETTINGS = {
    "num_layers": (100_000_000,), "hidden_dim": (10**9, 10**30), "batch_size": (10**18,),
    "head_dim": (10**12,), "epochs": (10**30,), "learning_rate": ("1e300", "1e-320"),
    "temperature": ("1e-300",), "seed": (10**40, -1), "teleport": ("1e-300",),
    "checkpoint_every": (10**30,), "weight_decay": ("1e300",),
}  # fmt: skip
"""Absurd values: refused by their rule, or a sentence with the setting to change."""


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row for files and one for settings."""
    materials, folder = write_materials(attack), attack.place("bombs")
    row = Row("bombs: files")
    is_short = attack.size == "short"
    with Batch(folder) as batch:
        for name, (file, write, line) in BOMBS.items():
            if is_short and "GB" in name:
                continue
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            write(path)
            words = [word.format(it=path, all=materials) for word in line.split()]
            row.count(batch.run(fault_of, words), name)
            path.unlink()
    yield row
    row = Row("bombs: settings")
    with Batch(folder) as batch:
        for key, values in SETTINGS.items():
            for value in values:
                new = folder / f"{key}-{str(value)[:8]}"
                words = train(
                    materials / "toy.graphs", new, "--set=epochs=1", f"--set={key}={value}"
                )
                fault = batch.run(fault_of_setting, words, new)
                row.count(fault, f"{key}={str(value)[:20]}")
    yield row


def fault_of_setting(words: list[str], new: Path) -> str | None:
    """Return a fault of a training with an absurd setting; a refused one leaves no folder."""
    fault = fault_of(words, may_need_memory=True)
    if fault is None and new.exists() and not (new / "model.safetensors").exists():
        return "refused, but a folder is left"
    return fault
