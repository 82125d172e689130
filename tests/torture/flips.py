"""One flipped bit: refused, or without any effect on a vector. A cache is made again."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from igsd.errors import IGSDError
from tests.torture.attack import Attack, Batch, Row
from tests.torture.materials import write_materials


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with one bit changed."""
    data = bytearray(content)
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def open_model(path: Path, materials: Path) -> str | None:
    """Return a fault if a flipped model gives other vectors."""
    import igsd

    try:
        found = igsd.load_model(path).transform(_graphs(materials))
    except IGSDError:
        return None
    return None if np.array_equal(found, _vectors(materials)) else "other vectors"


def open_set(path: Path, materials: Path) -> str | None:
    """Return a fault if a flipped graph set holds other graphs."""
    import igsd

    whole = _graphs(materials)
    try:
        found = igsd.open_data(path)
    except IGSDError:
        return None
    is_same = (found.checksum, found.ids, found.name) == (whole.checksum, whole.ids, whole.name)
    return None if is_same else "other graphs"


def open_view(path: Path, materials: Path) -> str | None:
    """Return a fault if a flipped view is used; ``path``: the folder of the cache."""
    from igsd.settings.groups import Diffusion
    from igsd.views.cache import cached_view, diffusion_view

    os.environ["IGSD_CACHE"] = str(path)
    graphs, settings = _graphs(materials), Diffusion()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, whole = cached_view(graphs, settings), diffusion_view(graphs, settings)
    is_same = all(np.array_equal(vars(found)[key], value) for key, value in vars(whole).items())
    return None if is_same else "another view"


def open_data_set(path: Path, materials: Path) -> str | None:
    """Return a fault if a flipped copy of MUTAG is used; ``path``: the folder of the cache."""
    import igsd

    os.environ["IGSD_CACHE"] = str(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = igsd.load_dataset("MUTAG")
    return None if found.checksum == _mutag(materials) else "other graphs"


@cache
def _graphs(materials: Path):  # type: ignore[no-untyped-def]
    import igsd

    return igsd.open_data(materials / "toy.graphs")


@cache
def _vectors(materials: Path) -> np.ndarray:
    import igsd

    return igsd.load_model(materials / "run").transform(_graphs(materials))


@cache
def _mutag(materials: Path) -> str:
    from igsd.graphs.graphset import GraphSet

    return GraphSet.load(next((materials / "cache" / "datasets").iterdir())).checksum


def rows(attack: Attack) -> Iterator[Row]:
    """Yield a row each for models, graph sets and caches."""
    materials = write_materials(attack)
    single = {
        "models": (open_model, "run/model.safetensors", attack.amount(25, 300)),
        "graph sets": (open_set, "toy.graphs", attack.amount(25, 300)),
    }
    for name, (read, file, count) in single.items():
        row, rng, folder = Row(f"flipped bits: {name}"), attack.rng(name), attack.place("flips")
        content = (materials / file).read_bytes()
        with Batch(folder) as batch:
            for number in range(count):
                path = folder / f"{number}.safetensors"
                path.write_bytes(flipped(content, rng))
                row.count(batch.run(read, path, materials), f"{name} {number}")
        yield row
    row, rng, folder = Row("flipped bits: caches"), attack.rng("caches"), attack.place("flips")
    with Batch(folder) as batch:
        batch.run(open_view, folder / "first", materials)
        for part, read in (("views", open_view), ("datasets", open_data_set)):
            whole = folder / "first" if part == "views" else materials / "cache"
            for number in range(attack.amount(12, 100)):
                place = folder / f"{part}-{number}"
                (copy,) = shutil.copytree(whole / part, place / part).iterdir()
                copy.write_bytes(flipped(copy.read_bytes(), rng))
                row.count(batch.run(read, place, materials), f"{part} {number}")
    yield row
