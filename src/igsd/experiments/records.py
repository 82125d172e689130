"""Records: one JSON file per run, with all that is needed to say what a number means."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from igsd.atomic_file import write_json
from igsd.errors import ConfigError, IGSDError, StorageError, warn_user
from igsd.experiments import ALGORITHM
from igsd.experiments.environment import commit, now, versions
from igsd.experiments.identity import Identity
from igsd.experiments.rows import result_from_dict
from igsd.experiments.scoring import Scored
from igsd.graphs.graphset import GraphSet

Record = dict[str, Any]
"""A run as its file holds it."""

KIND = "igsd record"

_LONGEST = 80

RUN_ERRORS = (IGSDError, ArithmeticError, RuntimeError, MemoryError, OSError)
"""What may end a run without being a fault of the program."""

_OF_ROWS = ("method", "protocol")
_NEEDED = {"algorithm", "status", "seed", "data", "protocol", "config", "rows"}


def record_path(folder: Path, protocol: str, data: str, recipe: str, seed: int) -> Path:
    """Return where the record of a run stands: ``PROTOCOL/DATA/RECIPE/seed-N.json``."""
    return folder / protocol / plain_name(data) / plain_name(recipe) / f"seed-{seed}.json"


def variant_label(base: str, changes: Iterable[tuple[str, Any]]) -> str:
    """Return what runs are called: their recipe or method, and what is set otherwise.

    Where much is, eight characters stand for it: the name is one of a folder, and of a row.

    >>> variant_label("wl", [("iterations", 2)])
    'wl+iterations-2'
    """
    changed = "+".join(f"{key}-{str(value).lower()}" for key, value in changes)
    if len(changed) > _LONGEST:
        changed = hashlib.sha256(changed.encode()).hexdigest()[:8]
    return f"{base}+{changed}" if changed else base


def plain_name(text: str) -> str:
    """Return ``text`` as a name for a file: letters, digits and ``. _ + -`` alone."""
    return re.sub(r"[^\w.+-]+", "_", text).lstrip(".") or "data"


def read_record(path: Path) -> Record | None:
    """Return the record at ``path``, None where there is none; raises for any other file."""
    if not path.exists():
        return None
    try:
        record = json.loads(path.read_text())
        if is_record(record):
            return record
    except OSError as error:
        raise StorageError(f"Cannot read the record {path}: {error.strerror}.") from error
    except (ValueError, RecursionError):
        pass
    raise StorageError(
        f"{path} is not a record of igsd. Move it away; --force (force=True in Python) replaces it."
    )


def is_record(values: Any) -> bool:
    """Say whether values, as JSON gives them, are those of a record that tables can be made of."""
    if not isinstance(values, dict) or values.get("kind") != KIND or not values.keys() >= _NEEDED:
        return False
    kinds = {"algorithm": int, "status": str, "seed": int, "rows": list}
    kinds |= dict.fromkeys(("data", "protocol", "config"), dict)
    if not all(isinstance(values[key], kind) for key, kind in kinds.items()):
        return False
    if not values["data"].keys() >= {"name", "checksum", "graphs"}:
        return False
    has_rows = bool(values["rows"]) or values["status"] != "ok"
    return has_rows and all(_is_row(row) for row in values["rows"])


def _is_row(row: Any) -> bool:
    """Say whether a row has a method, a protocol, and numbers where there are figures."""
    if not isinstance(row, dict) or not all(isinstance(row.get(k), str) for k in _OF_ROWS):
        return False
    figures, errors = row.get("accuracies", [0.0]), row.get("mae", 0.0)
    if not isinstance(figures, list) or not figures:
        return False
    figures = [*figures, *(errors.values() if isinstance(errors, dict) else [errors])]
    return all(isinstance(f, (int, float)) and math.isfinite(f) for f in figures)


def usable_record(path: Path) -> Record | None:
    """Return the record at ``path``, None where there is none; warns of any other file.

    One broken file must not cost what all the others say.
    """
    try:
        return read_record(path)
    except StorageError as error:
        warn_user(str(error))
        return None


def is_fresh(record: Record) -> bool:
    """Say whether this version of the algorithm made a record; another one's is stale."""
    return bool(record["algorithm"] == ALGORITHM)


def find_finished(path: Path | None, identity: Identity, *, force: bool = False) -> Record | None:
    """Return the record at ``path`` if it is of this very run and ended well, else None.

    A record of a failed run counts as none. Raises as ``find_record`` does.
    """
    record = find_record(path, identity, force=force)
    return record if record is not None and record["status"] == "ok" else None


def find_record(path: Path | None, identity: Identity, *, force: bool = False) -> Record | None:
    """Return the record at ``path`` if it is of this very run, however that ended, else None.

    Raises ``ConfigError`` for a record of another run and ``StorageError`` for a file that is no
    record, unless ``force`` says that it may be replaced.
    """
    if path is None:
        return None
    record = usable_record(path) if force else read_record(path)
    if record is None:
        return None
    differences = identity.differences(record)
    if not differences:
        return record
    if force:
        return None
    raise ConfigError(
        f"{path} is the record of another run: {differences[0]}"
        + (f", and {len(differences) - 1} more" if len(differences) > 1 else "")
        + ". Use another folder for records, or replace it: --force, or force=True in Python."
    )


def start_record(identity: Identity, graphs: GraphSet, seed: int, **about: Any) -> Record:
    """Return all that is known of a run before it begins; ``about``: e.g. ``recipe``."""
    import torch

    return {
        "kind": KIND,
        "algorithm": identity.algorithm,
        "status": "running",
        "error": None,
        **about,
        "seed": seed,
        "data": data_summary(graphs),
        "protocol": identity.protocol,
        "config": identity.config.to_json(),
        "commit": commit(),
        "versions": versions(),
        "threads": torch.get_num_threads(),
        "started": now(),
        "rows": [],
    }


def data_summary(graphs: GraphSet) -> dict[str, Any]:
    """Return what a record says of the data."""
    return {"name": graphs.name, "checksum": graphs.checksum, "graphs": len(graphs)}


def make_records_folder(path: Path) -> None:
    """Make the folder for records, so that an impossible one is found before hours of training.

    Raises ``StorageError`` where it cannot be made or written in.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Cannot make the folder {path} for records: {error.strerror}. Choose another."
        ) from error
    if not os.access(path, os.W_OK):
        raise StorageError(f"The folder {path} for records cannot be written in. Choose another.")


def write_record(path: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    write_json(path, record)


def failure(error: BaseException) -> dict[str, Any]:
    """Return what a record says of a run that failed with one of ``RUN_ERRORS``.

    Raises ``error`` again where it would end every other run too: a place that cannot be written or
    read (``StorageError``), a full disk.
    """
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if is_full or isinstance(error, StorageError):
        raise error
    return {"status": "failed", "error": f"{type(error).__name__}: {error}"}


def scored_of(record: Record) -> list[Scored]:
    """Return the results in a record, as ``score_seed`` gave them."""
    return [(row["method"], result_from_dict(row)) for row in record["rows"]]


def fit_seconds(record: Record) -> float:
    """Return how long fitting a method and representing all graphs took, without scoring them.

    A method that trains inside its split is scored there too, in the same seconds.
    """
    seconds = record.get("seconds", {})
    return float(seconds.get("train", 0.0) + seconds.get("embed", 0.0))
