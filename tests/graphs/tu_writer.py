"""Hand-made TU data sets."""

from __future__ import annotations

import zipfile
from pathlib import Path


def write_tu(folder: Path, **files: str) -> Path:
    """Write the files of a TU data set named like its folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, text in files.items():
        (folder / f"{folder.name}_{part}.txt").write_bytes(text.encode())
    return folder


def zip_folder(folder: Path, target: Path, *, inside: str = "") -> Path:
    """Pack the files of a folder into a zip, below the folder ``inside``, and return the zip."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_BZIP2) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{inside}{file.name}")
    return target
