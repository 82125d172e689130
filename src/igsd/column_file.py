"""``write_columns``: a table of columns as a file, ``.csv`` or ``.parquet``."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any, BinaryIO

from igsd.atomic_file import atomic_file

Columns = dict[str, list[Any]]


def write_columns(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write a table as ``.csv`` or ``.parquet``, whole or not at all."""
    with atomic_file(path) as file:
        if Path(path).suffix.lower() == ".csv":
            _write_csv(file, columns)
        else:
            import pyarrow as pa
            import pyarrow.parquet

            pa.parquet.write_table(pa.table(columns), file)


def _write_csv(file: BinaryIO, columns: Columns) -> None:
    """Write rows as `igsd embed` does: quotes only where they are needed, nine digits."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([f"{v:.9g}" if isinstance(v, float) else v for v in row])
    text.flush()
    text.detach()
