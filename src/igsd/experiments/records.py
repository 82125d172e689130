"""Records: one JSON file per run, with everything needed to say what its figures mean."""

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict, cast

from igsd.baselines.registry import METHODS
from igsd.errors import ConfigError, IGSDError, StorageError, warn_user
from igsd.experiments import ALGORITHM, environment
from igsd.files.atomic import write_json
from igsd.files.models import DataMetrics
from igsd.files.shapes import fault, read_json
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, present_names

KIND = "igsd record"

_LONGEST_LABEL = 80
_REQUIRED = ("algorithm", "status", "seed", "rows", "data", "protocol", "config")


class RecordRow(TypedDict, total=False):
    """The result of one method: of the run's own, or of a reference scored beside it.

    Protocols with classes store a ``ProtocolResult``, those for numbers ``mae``: one value, or one
    per target. The protocols ``random`` and ``scaffold`` store a row for each number of ``labels``
    shown (0: all), with a value for each of its ``splits``: ``metrics`` are means over the targets,
    ``by_target`` has the main one of each, ``calibration`` the sums of ``calibration_sums`` over
    all test parts.
    """

    method: Required[str]
    protocol: Required[str]
    seed: int
    accuracies: list[float]
    mean: float
    std: float
    optimistic: bool
    notes: list[str]
    roc_auc: float | None
    mae: float | Mapping[str, float]
    validation_mae: Mapping[str, float]
    units: Mapping[str, str]
    labels: int
    splits: list[int]
    metrics: Mapping[str, list[float | None]]
    by_target: Mapping[str, list[float | None]]
    calibration: list[list[float]]


class Record(TypedDict, total=False):
    """A run as its file holds it.

    ``status``: ``ok``, ``failed`` (see ``error``), or ``limit`` with the ``word`` a table prints
    (OMR or > limit). ``seconds``: wall time by part of the run; ``cpu_seconds``: processor time of
    fitting and embedding, child processes included (missing in older records). Records
    of IGSD by a recipe may lack ``method``. ``test_parts``: the positions of the graphs that each
    split tests, as by ``evaluation.holdout.index_text``.
    """

    kind: str
    algorithm: int
    status: str
    error: str | None
    word: str
    recipe: str
    method: str
    seed: int
    data: DataMetrics
    protocol: Mapping[str, Any]
    config: Mapping[str, Any]
    limits: Mapping[str, float | None]
    commit: Mapping[str, Any]
    versions: Mapping[str, str | None]
    threads: int
    processor: str
    started: str
    seconds: dict[str, float]
    cpu_seconds: float
    peak_memory_mib: float | None
    features: int
    notes: list[str]
    history: list[dict[str, float]]
    pretraining: list[dict[str, float]]
    pseudo_labels: Mapping[str, list[int]]
    test_parts: Mapping[str, str]
    num_labelled: int
    steps: int
    score: float
    rows: list[RecordRow]


@dataclass(frozen=True)
class Identity:
    """What makes two runs the same: settings, data, protocol and the version of the algorithm."""

    config: Settings
    checksum: str
    protocol: Mapping[str, object]
    algorithm: int = ALGORITHM

    def differences(self, record: Mapping[str, Any]) -> list[str]:
        """Return how a stored record differs, as texts ``KEY is STORED there and WANTED here``.

        Settings added since it was stored take their default; those that no longer exist count.
        """
        stored_config = present_names(record["config"])
        config = self.config.known(stored_config)
        gone = {key: value for key, value in stored_config.items() if key not in config}
        try:
            learned = type(self.config)().updated(config).learned() | gone
        except ConfigError as error:  # a value that this version would never have stored
            return [f"its configuration is not valid: {error}"]
        checksum = record["data"]["checksum"]
        stored = _facts(checksum, record["algorithm"], record["protocol"], learned)
        wanted = _facts(self.checksum, self.algorithm, self.protocol, self.config.learned())
        return [
            f"{key} is {stored.get(key)!r} there and {wanted.get(key)!r} here"
            for key in sorted(stored.keys() | wanted.keys())
            if stored.get(key) != wanted.get(key)
        ]

    @property
    def digest(self) -> str:
        """Eight characters that distinguish this run from those of other settings or data."""
        parts = [self.config.learned(), self.checksum, self.protocol, self.algorithm]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


def _facts(
    checksum: str, algorithm: int, protocol: Mapping[str, object], learned: Mapping[str, object]
) -> dict[str, object]:
    named = {f"protocol {key}": value for key, value in protocol.items()}
    return {"checksum of the data": checksum, "algorithm": algorithm, **named, **learned}


def first_of(differences: Sequence[str]) -> str:
    """Return the first difference, and how many more there are."""
    more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
    return differences[0] + more


def record_path(folder: Path, protocol: str, data: str, label: str, seed: int) -> Path:
    """Return the path of a record: ``PROTOCOL/DATA/LABEL/seed-N.json``."""
    return folder / protocol / plain_name(data) / plain_name(label) / f"seed-{seed}.json"


def variant_label(base: str, changes: Iterable[tuple[str, object]]) -> str:
    """Return the name of a variant, for folders and rows; long lists of changes are hashed.

    >>> variant_label("wl", [("iterations", 2)])
    'wl+iterations-2'
    """
    changed = "+".join(f"{key}-{str(value).lower()}" for key, value in changes)
    if len(changed) > _LONGEST_LABEL:
        changed = hashlib.sha256(changed.encode()).hexdigest()[:8]
    return f"{base}+{changed}" if changed else base


def plain_name(text: str) -> str:
    """Return ``text`` as a file name: letters, digits and ``. _ + -`` only."""
    return re.sub(r"[^\w.+-]+", "_", text).lstrip(".") or "data"


def read_record(path: Path) -> Record | None:
    """Return the record at ``path``, None without a file; ``StorageError`` for other content."""
    if not path.exists():
        return None
    way_out = "Move it away; --force (force=True in Python) replaces it."
    record = read_json(path, "a record of igsd", way_out)
    if (reason := record_fault(record)) is None:
        return cast(Record, record)
    raise StorageError(f"{path} is not a record of igsd: {reason} {way_out}")


def record_fault(values: Any) -> str | None:
    """Return why parsed JSON is not a record that tables can be made of, None if it is one."""
    if not isinstance(values, dict) or values.get("kind") != KIND:
        return f"it does not have kind {KIND!r}."
    if (reason := fault(values, Record, _REQUIRED)) is not None:
        return reason
    for key in ("name", "checksum", "graphs"):
        if key not in values["data"]:
            return f"data.{key} is missing."
    if values["status"] == "ok" and not values["rows"]:
        return "rows is empty."
    if values["status"] == "limit" and "word" not in values:
        return "word is missing."
    for place, row in enumerate(values["rows"]):
        missing = [key for key in ("mean", "std", "optimistic") if key not in row]
        if "accuracies" in row and (missing or not row["accuracies"]):
            return f"rows[{place}].{missing[0]} is missing." if missing else "accuracies is empty."
        if not all(0 <= share <= 1 for share in row.get("accuracies", ())):
            return f"rows[{place}].accuracies must be shares from 0 to 1."
    rounds = values.get("pseudo_labels", {})
    if rounds and (
        not {"rounds", "given"} <= rounds.keys() or len({*map(len, rounds.values())}) > 1
    ):
        return "pseudo_labels must have lists 'rounds' and 'given' of one length."
    return None


def usable_record(path: Path) -> Record | None:
    """Return the record at ``path``, or None; warns about a file that is not a record."""
    try:
        return read_record(path)
    except StorageError as error:
        warn_user(str(error))
        return None


def algorithm_version(method: str) -> int:
    """Return the version of what a method trains and scores, its own revision included."""
    known = METHODS.get(method)
    return ALGORITHM + (0 if known is None else known.revision)


def is_fresh(record: Mapping[str, Any]) -> bool:
    """Whether this version of the algorithm made the record; others are stale."""
    return bool(record["algorithm"] == algorithm_version(record.get("method", "igsd")))


def start_record(
    identity: Identity, graphs: GraphSet, *, method: str, recipe: str, seed: int
) -> Record:
    """Return what is known about a run before it starts."""
    return {
        "kind": KIND,
        "algorithm": identity.algorithm,
        "status": "running",
        "error": None,
        "recipe": recipe,
        "method": method,
        "seed": seed,
        "data": data_summary(graphs),
        "protocol": identity.protocol,
        "config": identity.config.to_json(),
        "commit": environment.commit(),
        "versions": environment.versions(),
        "threads": environment.num_threads(),
        "processor": environment.processor(),
        "started": environment.now(),
        "rows": [],
    }


def data_summary(graphs: GraphSet) -> DataMetrics:
    """Return what a record says about its data."""
    found: DataMetrics = {
        "name": graphs.name,
        "checksum": graphs.checksum,
        "graphs": len(graphs),
    }
    return found | {"standardised": graphs.standardised} if graphs.standardised else found


def make_records_folder(path: Path) -> None:
    """Create the folder for records; raises ``StorageError`` before hours of training."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Cannot make the folder {path} for records: {error.strerror}. Choose another."
        ) from error
    if not os.access(path, os.W_OK):
        raise StorageError(f"The folder {path} for records cannot be written to. Choose another.")


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record, whole or not at all."""
    write_json(path, dict(record))


def failure(error: Exception) -> str:
    """Return what a record says about an error that ended its run.

    Raises the error again if it would end every other run too: ``StorageError``, a full disk.
    """
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if is_full or isinstance(error, StorageError):
        raise error
    return str(error) if isinstance(error, IGSDError) else f"{type(error).__name__}: {error}"


def fit_seconds(record: Record) -> float:
    """Return the seconds of fitting and embedding; training inside a split includes its score."""
    seconds = record.get("seconds", {})
    return float(seconds.get("train", 0.0) + seconds.get("embed", 0.0))


def run_seconds(record: Record) -> float:
    """Return the seconds of all parts of a run; old records list processor time among them."""
    return float(sum(v for k, v in record.get("seconds", {}).items() if k != "processor"))


def in_words(seconds: float) -> str:
    """Return a duration in words: ``40 s``, ``12 min``, ``3 h 20 min``.

    >>> in_words(12003)
    '3 h 20 min'
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
