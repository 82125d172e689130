"""The data sets known by name, as ``data/catalogue.toml`` lists them, and where they are found.

A name is looked up in this order: the folder in ``IGSD_DATA`` (NAME.zip or NAME/), the cache of
what was downloaded or parsed before, an installed package that carries the data set (MUTAG in igsd
itself, B3DB in qc-B3DB, QM9 in qm9pack), and last the site of the TU collection. A parsed set is
kept in the cache as a packed file under a digest of the source's content, so that it opens quickly
the next time.
"""

import contextlib
import hashlib
import importlib.util
import os
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from igsd.errors import DataError, StorageError, nearest, warn_user
from igsd.files.atomic import cache_dir
from igsd.graphs.download import Progress, download
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.qm9_files import TABLE as QM9_TABLE
from igsd.graphs.readers.qm9_files import is_qm9, qm9_digest
from igsd.graphs.readers.tu import find_tu_files, read_tu


@dataclass(frozen=True)
class CatalogueEntry:
    """One named data set, see ``data/catalogue.toml``; 0 and empty stand for what is unknown."""

    name: str
    about: str = "a data set of the TU collection"
    graphs: int = 0
    classes: int = 0
    checksum: str = ""
    downloadable: bool = True
    package: str = ""
    inside: str = ""
    extra: str = ""
    how_to_get: str = ""


_Entries = dict[str, CatalogueEntry]


def _read_catalogue() -> tuple[_Entries, _Entries, dict[str, str]]:
    """Return the listed data sets, all known ones, and the aliases."""
    content = tomllib.loads((Path(__file__).parent / "data" / "catalogue.toml").read_text("utf-8"))
    listed = {name: CatalogueEntry(name, **about) for name, about in content["listed"].items()}
    others = {name: CatalogueEntry(name) for name in content["other"]["names"].split()}
    return listed, listed | others, content["aliases"]


CATALOGUE, _KNOWN, _ALIASES = _read_catalogue()
_BY_LOWER_CASE = {name.lower(): entry for name, entry in _KNOWN.items()}
_BY_LOWER_CASE |= {alias.lower(): _KNOWN[name] for alias, name in _ALIASES.items()}


def find_entry(name: str) -> CatalogueEntry | None:
    """Return the entry of the data set called ``name`` (any case, or an alias), or None."""
    return _BY_LOWER_CASE.get(name.strip().lower())


def aliases() -> dict[str, str]:
    """Return the aliases of data sets, with the name each stands for."""
    return dict(_ALIASES)


def unknown_name(name: str) -> DataError:
    """Return the error for an unknown name, with the nearest known ones."""
    close = nearest(name.upper(), [*CATALOGUE, *_ALIASES])
    return DataError(
        f"There is no data set named {name!r}. {close} A set of your own is opened by its path "
        "(in Python with igsd.open_data), or by name when the folder in IGSD_DATA holds NAME.zip "
        "or NAME/."
    )


DATA_VARIABLE = "IGSD_DATA"
"""Environment variable: a folder with NAME.zip or NAME/ for each data set, QM9.csv.gz for QM9."""

# Part of the name of every parsed file: raise it when a reader's result changes.
_READER_VERSION = 3
_OTHER_FILES = {"QM9": QM9_TABLE}


def in_data_folder(name: str) -> Path | None:
    """Return NAME.zip or NAME/ in the folder that ``IGSD_DATA`` names, or None; QM9 is a table.

    Raises ``DataError`` if ``IGSD_DATA`` does not name a folder.
    """
    chosen = os.environ.get(DATA_VARIABLE)
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"{DATA_VARIABLE} must name a folder with data sets, but {folder} is not a folder. "
            "Correct it or unset it."
        )
    for path in (folder / f"{name}.zip", folder / name, folder / _OTHER_FILES.get(name, name)):
        if path.exists():
            return path
    return None


def in_cache(name: str) -> Path | None:
    """Return the packed file of a data set that was downloaded or parsed before, or None.

    Of several parsed ones, whose sources may be gone, the newest.
    """
    path = downloaded_file(name)
    if path.exists():
        return path
    parsed = re.compile(re.escape(name) + rf"-r{_READER_VERSION}-[0-9a-f]{{20}}\.graphs")
    files = path.parent.iterdir() if path.parent.is_dir() else ()
    found = [file for file in files if parsed.fullmatch(file.name)]
    return max(found, key=lambda file: file.stat().st_mtime, default=None)


def in_package(name: str) -> Path | None:
    """Return the files of a data set that an installed package carries, or None.

    The package is located but not imported.
    """
    entry = _KNOWN.get(name)
    if entry is None or not entry.package:
        return None
    spec = importlib.util.find_spec(entry.package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / entry.inside
        if path.exists():
            return path
    return None


def downloaded_file(name: str) -> Path:
    """Return where the packed file of a downloaded data set belongs."""
    return cache_dir() / "datasets" / f"{name}.graphs"


def parsed_file(name: str, digest: str) -> Path:
    """Return where the packed file of a data set with this content digest belongs."""
    return cache_dir() / "datasets" / f"{name}-r{_READER_VERSION}-{digest[:20]}.graphs"


TU_SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
"""Where the TU collection is published, one zip per data set."""


@dataclass(frozen=True)
class DataSetInfo:
    """One line of ``igsd data list``: what a data set is and where it is found."""

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
    molecules in all) while QM9 is read for the first time. Raises ``DataError`` for an unknown
    name, and for a data set that is neither here nor downloadable.
    """
    entry = find_entry(name)
    exact = entry.name if entry else name.strip()
    source = _find(exact)
    if source is None and entry is None:
        raise unknown_name(name)
    if source is not None and source == in_cache(exact):
        with contextlib.suppress(StorageError):
            graphs = GraphSet.load(source)
            # A download was checked; a set parsed from IGSD_DATA may have been something else.
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
    """Return each listed data set and where it is found, without opening any."""
    return [_info(entry) for entry in CATALOGUE.values()]


def _find(name: str) -> Path | None:
    """Return where the data set is on this machine, or None."""
    if not name or Path(name).name != name:
        return None
    return in_data_folder(name) or in_cache(name) or in_package(name)


def _parse(name: str, source: Path, progress: Progress | None) -> GraphSet:
    """Return the set in ``source``, from the cache if it was parsed before."""
    cached = parsed_file(name, _content_digest(source))
    if cached.exists():
        try:
            return GraphSet.load(cached)
        except StorageError as error:
            warn_user(f"The cached copy of {name} cannot be used and is made again. {error}")
    graphs = _read(source, progress)
    # An unwritable cache is no reason to fail.
    with contextlib.suppress(StorageError):
        graphs.save(cached)
    return graphs


def _read(source: Path, progress: Progress | None) -> GraphSet:
    """Return the set in the files of a named data set."""
    if is_qm9(source):
        from igsd.graphs.readers.qm9 import read_qm9

        return read_qm9(source, progress)
    return _read_b3db(source) if source.suffix == ".tsv" else read_tu(source)


def _read_b3db(source: Path) -> GraphSet:
    from igsd.graphs.readers.table import read_smiles_table

    # RDKit rejects a carbon in two of its molecules; their graphs are clear all the same.
    graphs = read_smiles_table(
        source, "SMILES", "BBB+/BBB-", ["logBB"], name="B3DB", check_valence=False
    )
    return replace(graphs, ids=None)  # so that its checksum stays that of earlier versions


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
    """Download a TU zip, verify it, and keep it as a packed file in the cache."""
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
            f"The download of {entry.name} holds other graphs than expected (checksum "
            f"{graphs.checksum[:16]}, expected {entry.checksum[:16]}). It was not kept. Put a copy "
            f"that you trust into the folder that IGSD_DATA names, as {entry.name}.zip."
        )
    graphs.save(target)
    return GraphSet.load(target)


def _how_to_get(name: str) -> str:
    """Return how to get a data set that is not on this machine."""
    if (entry := _KNOWN.get(name)) and entry.how_to_get:
        return entry.how_to_get
    return (
        f"{name} is not on this machine. Fetch {TU_SITE}/{name}.zip where there is a network, put "
        f"it into a folder, and set IGSD_DATA to a folder that holds {name}.zip or {name}/ in TU "
        "layout."
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
        install = f'pip install "igsd[{entry.extra}]"'
        where = install if entry.extra else f"to be put into the folder {DATA_VARIABLE}"
    return DataSetInfo(entry.name, entry.about, entry.graphs, entry.classes, where)
