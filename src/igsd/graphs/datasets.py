"""The data sets known by name, as ``data/catalogue.toml`` lists them, and where they are found.

A name is looked up in this order: the folder in ``IGSD_DATA`` (NAME.zip or NAME/, or the table that
the catalogue names), the cache of what was downloaded or parsed before, an installed package that
carries the data set (MUTAG in igsd itself, B3DB in qc-B3DB, QM9 in qm9pack), and last the site of
the TU collection. A parsed set is kept in the cache as a packed file under a digest of the source's
content, so that it opens quickly the next time.
"""

import glob
import hashlib
import importlib.util
import os
import tempfile
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from igsd.errors import DataError, nearest, shortened, warn_user
from igsd.files.cache import cache_dir, recall, store
from igsd.graphs.download import Progress, download
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers import qm9, table
from igsd.graphs.readers.text_table import SUFFIXES
from igsd.graphs.readers.tu import find_tu_files, read_tu

DATA_VARIABLE = "IGSD_DATA"
"""Environment variable: a folder with NAME.zip or NAME/ for each data set, QM9.csv.gz for QM9."""

TU_SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
"""Where the TU collection is published, one zip per data set."""

# Part of the name of every parsed file: raise it when a reader's result changes.
_READER_VERSION = 4
_LONGEST_NAME = 200  # bytes; a file name has at most 255
_OTHER_FILES = {"QM9": qm9.TABLE}


@dataclass(frozen=True)
class CatalogueEntry:
    """One named data set, see ``data/catalogue.toml``; 0 and empty stand for what is unknown.

    ``file``: a table of molecules in the folder ``IGSD_DATA``; ``smiles``, ``label`` and
    ``targets`` are its columns, None for all columns of numbers.
    """

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
    where: str = ""
    file: str = ""
    smiles: str = ""
    label: str = ""
    targets: tuple[str, ...] | None = None


_CONTENT = tomllib.loads((Path(__file__).parent / "data" / "catalogue.toml").read_text("utf-8"))
_ALIASES: dict[str, str] = _CONTENT["aliases"]

CATALOGUE = {
    name: CatalogueEntry(
        name, **entry | ({"targets": tuple(entry["targets"])} if "targets" in entry else {})
    )
    for name, entry in _CONTENT["listed"].items()
}
"""The listed data sets by name; other sets of the TU collection are known by name only."""

_NAMES: dict[str, dict[str, dict[str, str]]] = _CONTENT["names"]

_KNOWN = CATALOGUE | {name: CatalogueEntry(name) for name in _CONTENT["other"]["names"].split()}
_BY_LOWER_CASE = {name.lower(): entry for name, entry in _KNOWN.items()}
_BY_LOWER_CASE |= {alias.lower(): _KNOWN[name] for alias, name in _ALIASES.items()}


def find_entry(name: str) -> CatalogueEntry | None:
    """Return the entry of the data set called ``name`` (any case, or an alias), or None."""
    return _BY_LOWER_CASE.get(name.strip().lower())


def aliases() -> dict[str, str]:
    """Return the aliases of data sets, with the name each stands for."""
    return dict(_ALIASES)


def shown_names(graphs: GraphSet, kind: Literal["classes", "nodes", "edges"]) -> list[str]:
    """Return human-readable names of classes or labels, e.g. C for node label 0 of MUTAG.

    These are the names in the set unless the catalogue says what they mean; a set of the same name
    with classes or labels that the catalogue does not know is another one.
    """
    own = {"classes": graphs.class_names, "nodes": graphs.node_label_names}
    own |= {"edges": graphs.edge_label_names}
    known = _NAMES.get(graphs.name, {})
    is_it = all(str(name) in table for key, table in known.items() for name in own[key])
    table = known.get(kind, {}) if is_it else {}
    return [table.get(str(name), str(name)) for name in own[kind]]


def unknown_name(name: str) -> DataError:
    """Return the error for an unknown name, with the nearest known ones."""
    close = nearest(name.upper(), [*CATALOGUE, *_ALIASES])
    return DataError(
        f"There is no data set named {shortened(name)!r}. {close} A set of your own is opened "
        "by its path (in Python with igsd.open_data), or by name when the folder in IGSD_DATA "
        "holds NAME.zip or NAME/."
    )


def in_data_folder(name: str) -> Path | None:
    """Return NAME.zip or NAME/ (for QM9 a table) in the folder of ``IGSD_DATA``, or None."""
    if not os.environ.get(DATA_VARIABLE):
        return None
    folder = Path(os.environ[DATA_VARIABLE]).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"{DATA_VARIABLE} must name a folder with data sets, but {folder} is not a folder. "
            "Correct it or unset it."
        )
    files = [f"{name}.zip", name, _OTHER_FILES.get(name, name)]
    if (entry := _KNOWN.get(name)) and entry.file:
        files += [entry.file, Path(entry.file).name]
    paths = [folder / file for file in files]
    return next((path for path in paths if path.exists()), None)


def in_cache(name: str) -> Path | None:
    """Return the packed file of a data set downloaded or parsed before (the newest), or None."""
    path = downloaded_file(name)
    if os.path.exists(path):
        return path
    parsed = f"{glob.escape(name)}-r{_READER_VERSION}-{'[0-9a-f]' * 20}.graphs"
    return max(path.parent.glob(parsed), key=_written, default=None)


def _written(file: Path) -> float:
    """Return when a file was written, 0 if it has vanished."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def in_package(name: str) -> Path | None:
    """Return the files of a data set in an installed package, which is not imported, or None."""
    entry = _KNOWN.get(name)
    if entry is None or not entry.package:
        return None
    spec = importlib.util.find_spec(entry.package)
    folders = (spec.submodule_search_locations if spec else None) or []
    paths = [Path(folder) / entry.inside for folder in folders]
    return next((path for path in paths if path.exists()), None)


def downloaded_file(name: str) -> Path:
    """Return where the packed file of a downloaded data set belongs."""
    return cache_dir() / "datasets" / f"{name}-download.graphs"


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
        graphs = recall(source, f"The cached copy of {exact}", GraphSet.load)
        # A download was checked; a set parsed from IGSD_DATA may have been something else.
        expected = entry.graphs if entry and source != downloaded_file(exact) else 0
        if graphs is not None and expected in (0, len(graphs)):
            return graphs
        source = in_package(exact)
    if source is not None:
        return _parse(exact, source, progress)
    if entry is None or not entry.downloadable or not allow_download:
        allow = (
            f" Or allow the download: load_dataset({exact!r}, allow_download=True) in Python, or "
            f"any igsd command with {exact}."
        )
        raise DataError(_how_to_get(exact) + (allow if entry and entry.downloadable else ""))
    return _fetch(entry, progress)


def check_is_here(name: str) -> None:
    """Raise ``DataError`` for a data set that would have to be downloaded first."""
    entry = find_entry(name)
    if entry is not None and entry.downloadable and _find(entry.name) is None:
        raise DataError(
            f"{entry.name} ({entry.graphs:,} graphs) is not on this machine, and a dry run "
            f"downloads nothing. `igsd data show {entry.name}` downloads it."
        )


def data_sets() -> list[CatalogueEntry]:
    """Return each listed data set and ``where`` it is found, without opening any."""
    return [replace(entry, where=_where(entry)) for entry in CATALOGUE.values()]


def _where(entry: CatalogueEntry) -> str:
    if (source := _find(entry.name)) is not None:
        return str(source)
    if entry.downloadable:
        return "downloaded when first used"
    install = f'pip install "igsd[{entry.extra}]"'
    return install if entry.extra else f"to be put into the folder {DATA_VARIABLE}"


def _find(name: str) -> Path | None:
    """Return where the data set is on this machine, or None."""
    is_name = name and Path(name).name == name and len(os.fsencode(name)) <= _LONGEST_NAME
    return in_data_folder(name) or in_cache(name) or in_package(name) if is_name else None


def _parse(name: str, source: Path, progress: Progress | None) -> GraphSet:
    """Return the set in ``source``, from the cache if it was parsed before."""
    file = f"{name}-r{_READER_VERSION}-{_content_digest(source)[:20]}.graphs"
    cached = downloaded_file(name).with_name(file)
    if (found := recall(cached, f"The cached copy of {name}", GraphSet.load)) is not None:
        return found
    graphs = _read(name, source, progress)
    store(cached, name, graphs.save)
    return graphs


def _read(name: str, source: Path, progress: Progress | None) -> GraphSet:
    """Return the set in the files of a named data set."""
    if qm9.is_qm9(source):
        return qm9.read_qm9(source, progress)
    entry = _KNOWN.get(name)
    if entry is None or not entry.smiles or not source.name.endswith(SUFFIXES):
        return read_tu(source)
    # RDKit rejects a carbon in two molecules of B3DB; their graphs are clear all the same.
    is_b3db = name == "B3DB"
    columns = (entry.smiles, entry.label or None, entry.targets)
    graphs = table.read_smiles_table(source, *columns, name=name, check_valence=not is_b3db)
    # Without ids the checksum of B3DB stays that of earlier versions.
    return replace(graphs, ids=None) if is_b3db else graphs


def _content_digest(source: Path) -> str:
    """Return the SHA-256 of a data set's files."""
    if qm9.is_qm9(source):
        return hashlib.sha256(qm9.qm9_digest(source).encode()).hexdigest()
    digest, files = hashlib.sha256(), [source]
    if source.is_dir():
        files = [source / member for _, member in sorted(find_tu_files(source).parts.items())]
    for file in files:
        digest.update(os.fsencode(f"{file.name} {file.stat().st_size};"))
        with open(file, "rb") as stream:
            while piece := stream.read(1 << 22):
                digest.update(piece)
    return digest.hexdigest()


def _fetch(entry: CatalogueEntry, progress: Progress | None) -> GraphSet:
    """Download a TU zip, verify it, and keep it as a packed file in the cache."""
    try:
        with tempfile.TemporaryDirectory(prefix="igsd-") as folder:
            archive = Path(folder, f"{entry.name}.zip")
            download(f"{TU_SITE}/{entry.name}.zip", archive, progress=progress)
            graphs = read_tu(archive)
    except DataError as error:
        raise DataError(f"{_how_to_get(entry.name)} igsd's own download failed: {error}") from error
    if not entry.checksum:
        warn_user(
            f"The download of {entry.name} could not be verified: the catalogue has no checksum of "
            "it. Compare `igsd data show` with what its authors report."
        )
    elif graphs.checksum != entry.checksum:
        raise DataError(
            f"The download of {entry.name} holds other graphs than expected (checksum "
            f"{graphs.checksum[:16]}, expected {entry.checksum[:16]}). It was not kept. Put a copy "
            f"that you trust into the folder that IGSD_DATA names, as {entry.name}.zip."
        )
    store(downloaded_file(entry.name), entry.name, graphs.save)
    return graphs


def _how_to_get(name: str) -> str:
    """Return the way to get a data set that is not on this machine."""
    if (entry := _KNOWN.get(name)) and entry.how_to_get:
        return entry.how_to_get
    return (
        f"{name} is not on this machine. Fetch {TU_SITE}/{name}.zip where there is a network, put "
        f"it into a folder, and set IGSD_DATA to a folder that holds {name}.zip or {name}/ in TU "
        "layout."
    )
