"""The text files of one TU data set, in a folder or inside a zip that is never unpacked to disk.

The files ``DS_A.txt``, ``DS_graph_indicator.txt`` and so on may stand at the top or in folders
below (``DS/``, ``DS/raw/``). All of them must be beside each other, one data set per folder or zip.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from igsd.errors import DataError
from igsd.pickles import refuse_pickle

MAX_UNPACKED = 8 * 1024**3
"""Largest declared size of all members of a zip together, in bytes: a guard against zip bombs."""

_ADJACENCY = "_A.txt"
_CLIMBS = re.compile(r"^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)")


@dataclass(frozen=True)
class TUFiles:
    """One data set's files: ``name`` is DS, ``parts`` what follows it (``A``, ``graph_labels``)."""

    source: Path
    name: str
    parts: dict[str, str]

    def label(self, part: str) -> str:
        """Return what messages call the file of ``part``."""
        return f"{self.source}: {self.name}_{part}.txt"

    def read(self, part: str) -> bytes | None:
        """Return the bytes of one file, or None when the data set has no such file."""
        member = self.parts.get(part)
        if member is None:
            return None
        try:
            if self.source.is_dir():
                return (self.source / member).read_bytes()
            with zipfile.ZipFile(self.source) as archive:
                return archive.read(member)
        except (zipfile.BadZipFile, EOFError, zlib.error, OSError) as error:
            raise DataError(
                f"{self.label(part)} cannot be read: {error}. Fetch or unpack the data again."
            ) from error
        except (NotImplementedError, RuntimeError) as error:
            raise DataError(f"{self.label(part)} cannot be unpacked: {error}.") from error


def find_tu_files(path: Path) -> TUFiles:
    """Return the files of the TU data set in the folder or zip at ``path``.

    Raises ``DataError`` for a missing path, a file that is no zip, a zip with a member that would
    land outside its folder or that declares more than ``MAX_UNPACKED`` bytes, no ``DS_A.txt``, and
    more than one.
    """
    if not path.exists():
        raise DataError(f"There is no TU data set at {path}: no such file or folder.")
    members = _folder_members(path) if path.is_dir() else _zip_members(path)
    found = [member for member in members if member.endswith(_ADJACENCY)]
    if not found:
        raise DataError(
            f"{path} holds no TU data set: a file whose name ends in {_ADJACENCY} was expected, "
            f"found {_some(members)}."
        )
    if len(found) > 1:
        raise DataError(
            f"{path} holds {len(found)} data sets ({_some(found)}); one was expected. "
            "Give the folder of one of them."
        )
    chosen = PurePosixPath(found[0])
    name = chosen.name.removesuffix(_ADJACENCY)
    parts = {
        PurePosixPath(member).name[len(name) + 1 : -len(".txt")]: member
        for member in members
        if PurePosixPath(member).parent == chosen.parent
        and PurePosixPath(member).name.startswith(name + "_")
        and member.endswith(".txt")
    }
    return TUFiles(path, name, parts)


def _folder_members(path: Path) -> list[str]:
    """Return the text files in a folder and up to two levels below, hidden ones left out."""
    found = [file for pattern in ("*.txt", "*/*.txt", "*/*/*.txt") for file in path.glob(pattern)]
    members = [file.relative_to(path).as_posix() for file in found if file.is_file()]
    return sorted(member for member in members if not _hidden(member))


def _zip_members(path: Path) -> list[str]:
    """Return the members of a zip, after checking that it is a zip and a decent one."""
    refuse_pickle(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError) as error:
        raise DataError(
            f"{path} is not a zip file, or it was cut short: {error}. A TU data set is a folder or "
            "zip with files such as DS_A.txt; fetch it again if it was downloaded."
        ) from error
    for entry in entries:
        if _CLIMBS.search(entry.filename):
            raise DataError(
                f"{path} is refused as a whole: its member {entry.filename!r} would land outside "
                "the folder. Use a copy from a source you trust."
            )
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNPACKED:
        raise DataError(
            f"{path} is refused: it declares {total / 1024**3:.1f} GiB unpacked, and the limit is "
            f"{MAX_UNPACKED / 1024**3:.0f} GiB. Unpack it and give the folder, if it is meant so."
        )
    return sorted(e.filename for e in entries if not e.is_dir() and not _hidden(e.filename))


def _hidden(member: str) -> bool:
    """Say whether a file is the system's and not the data set's (``__MACOSX``, ``.name``)."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(member).parts)


def _some(members: list[str]) -> str:
    """Return up to five names for a message."""
    if not members:
        return "nothing"
    return ", ".join(members[:5]) + (f" and {len(members) - 5} more" if len(members) > 5 else "")
