"""Where the files of a named data set stand on this machine, without opening them."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

from igsd.cache import cache_dir
from igsd.errors import DataError
from igsd.graphs.qm9_files import TABLE as QM9_TABLE

DATA_VARIABLE = "IGSD_DATA"
"""Environment variable: a folder with NAME.zip or NAME/ for each data set, QM9.csv.gz for QM9."""

# Part of the name of every parsed file: raise it when a reader gives another result for a file.
_READER_VERSION = 3
_PACKAGED = {
    "MUTAG": ("grakel", "tests/data/MUTAG"),
    "B3DB": ("B3DB", "B3DB_classification.tsv"),
    "QM9": ("qm9pack", "data"),
}
_OTHER_FILES = {"QM9": QM9_TABLE}


def in_data_folder(name: str) -> Path | None:
    """Return NAME.zip or NAME/ in the folder that ``IGSD_DATA`` names, or None; QM9 is a table.

    Raises ``DataError`` when ``IGSD_DATA`` names something that is no folder.
    """
    chosen = os.environ.get(DATA_VARIABLE)
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"{DATA_VARIABLE} must name a folder with data sets, but {folder} is none. "
            "Correct it or unset it."
        )
    for path in (folder / f"{name}.zip", folder / name, folder / _OTHER_FILES.get(name, name)):
        if path.exists():
            return path
    return None


def in_cache(name: str) -> Path | None:
    """Return the packed file of a data set that was downloaded or parsed before, or None.

    Of several that were parsed, from sources that are perhaps no longer there, the newest.
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

    The package is found but never imported: its code has nothing to do with reading its files.
    """
    if name not in _PACKAGED:
        return None
    package, inner = _PACKAGED[name]
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / inner
        if path.exists():
            return path
    return None


def downloaded_file(name: str) -> Path:
    """Return where the packed file of a downloaded data set belongs."""
    return cache_dir() / "datasets" / f"{name}.graphs"


def parsed_file(name: str, digest: str) -> Path:
    """Return where the packed file of a data set with this content digest belongs."""
    return cache_dir() / "datasets" / f"{name}-r{_READER_VERSION}-{digest[:20]}.graphs"
