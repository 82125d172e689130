"""Named data sets: where each is found, and how it is read.

A name is looked up in this order: the folder in ``IGSD_DATA`` (NAME.zip or NAME/), the cache of
what was downloaded or parsed before, an installed package that carries the data set (MUTAG in
grakel, B3DB in qc-B3DB, QM9 in qm9pack), and last the site of the TU collection. What had to be
parsed is kept in the cache as a packed file under a digest of the source's content, so that opening
it again takes a moment.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from igsd.errors import DataError, StorageError
from igsd.graphs.catalogue import CATALOGUE, CatalogueEntry, find_entry, unknown_name
from igsd.graphs.dataset_files import (
    DATA_VARIABLE,
    downloaded_file,
    in_cache,
    in_data_folder,
    in_package,
    parsed_file,
)
from igsd.graphs.download import Progress, download
from igsd.graphs.graphset import GraphSet
from igsd.graphs.qm9_files import is_qm9, qm9_digest
from igsd.graphs.tu import read_tu
from igsd.graphs.tu_files import find_tu_files

TU_SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
"""Where the TU collection is published, one zip per data set."""

_IN_SHORT = {"B3DB": 'pip install "igsd[chem]"', "QM9": 'pip install "igsd[qm9]"'}


@dataclass(frozen=True)
class DataSetInfo:
    """One line of ``igsd data list``: what a data set is and where it would be taken from."""

    name: str
    about: str
    graphs: int
    classes: int
    where: str


def load_dataset(
    name: str, *, allow_download: bool = True, progress: Progress | None = None
) -> GraphSet:
    """Return the data set called ``name``, e.g. ``"MUTAG"``; the case of letters does not matter.

    ``progress`` is called with (bytes done, bytes in all) during a download, with (molecules done,
    molecules in all) while QM9 is read for the first time. Raises ``DataError``
    for a name that is in no list, and for a data set that is neither here nor to be had.
    """
    entry = find_entry(name)
    exact = entry.name if entry else name.strip()
    source = _find(exact)
    if source is None and entry is None:
        raise unknown_name(name)
    if source is not None and source == in_cache(exact):
        with contextlib.suppress(StorageError):
            graphs = GraphSet.load(source)
            # A download was checked. What IGSD_DATA once held may have been something else.
            expected = entry.graphs if entry and source != downloaded_file(exact) else 0
            if expected in (0, len(graphs)):
                return graphs
        source = in_package(exact)
    if source is not None:
        return _parse(exact, source, progress)
    if entry is None or not entry.downloadable or not allow_download:
        allow = "" if allow_download else f" Or allow the download: {_allowing(exact)}."
        raise DataError(_how_to_get(exact) + (allow if entry and entry.downloadable else ""))
    return _fetch(entry, progress)


def data_sets() -> list[DataSetInfo]:
    """Return what is known of each listed data set and where it is, without opening any."""
    return [_info(entry) for entry in CATALOGUE.values()]


def _find(name: str) -> Path | None:
    """Return the first place on this machine that has the data set, or None."""
    if not name or Path(name).name != name:
        return None
    return in_data_folder(name) or in_cache(name) or in_package(name)


def _parse(name: str, source: Path, progress: Progress | None) -> GraphSet:
    """Return the set in ``source``, from the cache where it was parsed before."""
    cached = parsed_file(name, _content_digest(source))
    # A cache that is damaged or cannot be written must not keep anyone from the data.
    with contextlib.suppress(StorageError):
        return GraphSet.load(cached)
    graphs = _read(source, progress)
    with contextlib.suppress(StorageError):
        graphs.save(cached)
    return graphs


def _read(source: Path, progress: Progress | None) -> GraphSet:
    """Return the set in the files of a named data set, each by its own reader."""
    if is_qm9(source):
        from igsd.graphs.qm9 import read_qm9

        return read_qm9(source, progress)
    return _read_b3db(source) if source.suffix == ".tsv" else read_tu(source)


def _read_b3db(source: Path) -> GraphSet:
    from igsd.graphs.smiles_table import read_smiles_table

    # Two of its molecules have a carbon that RDKit finds impossible; their graphs are still clear.
    graphs = read_smiles_table(
        source, "SMILES", "BBB+/BBB-", ["logBB"], name="B3DB", check_valence=False
    )
    return replace(graphs, ids=None)  # as in the files that were parsed before there were ids


def _content_digest(source: Path) -> str:
    """Return the SHA-256 of a data set's files."""
    digest = hashlib.sha256()
    files = [source]
    if is_qm9(source):
        digest.update(qm9_digest(source).encode())
        return digest.hexdigest()
    if source.is_dir():
        members = find_tu_files(source).parts
        files = [source / members[part] for part in sorted(members)]
    for file in files:
        digest.update(f"{file.name} {file.stat().st_size};".encode())
        with open(file, "rb") as stream:
            while piece := stream.read(1 << 22):
                digest.update(piece)
    return digest.hexdigest()


def _fetch(entry: CatalogueEntry, progress: Progress | None) -> GraphSet:
    """Download a TU zip, check what it holds, and keep it as a packed file in the cache."""
    target = downloaded_file(entry.name)
    archive = target.with_suffix(".zip.part")
    try:
        download(f"{TU_SITE}/{entry.name}.zip", archive, progress=progress)
        graphs = read_tu(archive)
    except DataError as error:
        raise DataError(f"{_how_to_get(entry.name)} igsd's own download failed: {error}") from error
    finally:
        archive.unlink(missing_ok=True)
    if entry.checksum and graphs.checksum != entry.checksum:
        raise DataError(
            f"The download of {entry.name} does not hold the graphs it should (checksum "
            f"{graphs.checksum[:16]}, expected {entry.checksum[:16]}). It was not kept. Put a copy "
            f"that you trust into the folder that IGSD_DATA names, as {entry.name}.zip."
        )
    graphs.save(target)
    return GraphSet.load(target)


def _how_to_get(name: str) -> str:
    """Return the sentence that says how to get a data set which is not on this machine."""
    folder = f"set IGSD_DATA to a folder that holds {name}.zip or {name}/ in TU layout"
    if name == "B3DB":
        return 'B3DB is carried by the package qc-B3DB: pip install "igsd[chem]".'
    if name == "QM9":
        return (
            'QM9 is carried by the package qm9pack: pip install "igsd[qm9]". Or set IGSD_DATA to a '
            "folder that holds QM9.csv.gz and QM9-geometry.npz."
        )
    if name == "PTC":
        return (
            "PTC, the version with hydrogens, is not on the site of the TU collection (PTC_MR "
            f"there is the same molecules without them) and cannot be downloaded: {folder}."
        )
    return (
        f"{name} is not on this machine. Fetch {TU_SITE}/{name}.zip where there is a network, put "
        f"it into a folder, and {folder}."
    )


def _allowing(name: str) -> str:
    return f"load_dataset({name!r}, allow_download=True) in Python, or any igsd command with {name}"


def _info(entry: CatalogueEntry) -> DataSetInfo:
    source = _find(entry.name)
    if source is not None:
        where = str(source)
    elif entry.downloadable:
        where = "downloaded when first used"
    else:
        where = _IN_SHORT.get(entry.name, f"to be put into the folder {DATA_VARIABLE}")
    return DataSetInfo(entry.name, entry.about, entry.graphs, entry.classes, where)
