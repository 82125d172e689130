"""What the code makes of the records in ``results/``: what they are of, and what they say.

The one file besides ``subjects.py`` that knows names of the package which are not public.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import igsd
from igsd.experiments.exhibits import exhibit_names, find_exhibits
from igsd.experiments.records import Identity, algorithm_version, is_fresh, read_record
from igsd.experiments.run import Options, Run
from igsd.experiments.work import plan_exhibits
from igsd.report.records import RecordFolder
from igsd.report.render import text
from igsd.report.tables import fill

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "results"
RECORDS, PLANS, TABLES = HERE / "records.json", HERE / "plans.json", HERE / "tables"
EXHIBITS = exhibit_names()


def places() -> list[str]:
    """Return where the records are, inside ``results/``, but for those of an older version."""
    found = sorted(path.relative_to(RESULTS).as_posix() for path in RESULTS.glob("*/*/*/seed-*"))
    records = [(place, read_record(RESULTS / place)) for place in found]
    return [place for place, record in records if record is None or is_fresh(record)]


def pin_of(place: str) -> list[Any]:
    """Return what is pinned of a record: of which run it is, and its figures as the code reads it.

    The run is a hash of the stored settings that decide which numbers come out, the checksum of
    the data, the protocol and the version of the algorithm. Settings that are added later are not
    in it: a record counts as if it had their default.
    """
    record = read_record(RESULTS / place)
    assert record is not None, place
    assert is_fresh(record), place
    config = type(_like(record))().updated(record["config"])
    version = algorithm_version(record.get("method", "igsd"))
    identity = Identity(config, record["data"]["checksum"], record["protocol"], version)
    assert identity.differences(record) == [], place
    learned = {key: v for key, v in config.learned().items() if key in record["config"]}
    parts = [learned, identity.checksum, identity.protocol, identity.algorithm, record["status"]]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    figures: dict[str, Any] = {}
    for row in record["rows"]:
        key, figure = f"{row['method']} {row['protocol']}", _figure(row)
        # Rows of several numbers of labels are one method's; their scores are pinned by a hash.
        figures[key] = _hash([figures.get(key), figure]) if "splits" in row else figure
    return [digest[:16], figures]


def _figure(row: dict[str, Any]) -> Any:
    """Return the mean accuracy of a row, the error of each target, or the scores of splits."""
    if "splits" in row:
        return {f"{row['labels']} {name}": values for name, values in row["metrics"].items()}
    if "accuracies" in row:
        return round(float(np.mean(row["accuracies"])), 12)
    mae = row["mae"]
    return mae if isinstance(mae, float) else {key: round(v, 12) for key, v in mae.items()}


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def _like(record: dict[str, Any]) -> Any:
    """Return settings of a record's method and task."""
    protocol, name = record["protocol"], record.get("method", "igsd")
    recipe = "qm9" if protocol["name"] == "qm9" else "molecules"
    return Run(protocol["name"], "", name, recipe, 0, target=protocol.get("target", "")).config()


@cache
def opened(name: str) -> Any:
    """Return a data set, kept for the next exhibit."""
    return igsd.load_dataset(name, allow_download=False)


def plan_of(name: str) -> dict[str, str]:
    """Return how the runs of an exhibit stand against ``results/``, by the place of their record.

    As ``igsd reproduce NAME --dry-run`` sees them: ``done``, to be ``run``, ``other`` where the
    record of another run is in the place, or ``broken``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work = plan_exhibits(find_exhibits(name), Options(RESULTS), open_source=opened)
    assert work.problems == []
    runs = {run: "run" for batch in work.batches for run in batch}
    runs |= dict.fromkeys(work.done, "done") | dict.fromkeys(work.broken, "broken")
    runs |= dict.fromkeys(work.others, "other")
    found = {run.path(RESULTS).relative_to(RESULTS).as_posix(): s for run, s in runs.items()}
    assert len(found) == len(runs)
    return dict(sorted(found.items()))


def data_of(name: str) -> tuple[str, ...]:
    """Return the data sets of an exhibit."""
    return find_exhibits(name)[0].data


def table_of(name: str) -> str:
    """Return an exhibit as ``igsd reproduce NAME --budget 0`` prints it."""
    return text(fill(find_exhibits(name)[0], RecordFolder(RESULTS))) + "\n"


def read_json(path: Path) -> Any:
    """Return what is committed, nothing where there is none yet."""
    return json.loads(path.read_text()) if path.exists() else {}


def write_records() -> None:
    """Write what the records are."""
    _write(RECORDS, {place: pin_of(place) for place in places()})


def write_plans() -> None:
    """Write how the runs of all exhibits stand."""
    plans = {name: plan_of(name) for name in EXHIBITS}
    parts = [f'"{name}": {_lines(plan)}' for name, plan in plans.items()]
    PLANS.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def write_tables() -> None:
    """Write all exhibits as they are printed."""
    TABLES.mkdir(exist_ok=True)
    for name in EXHIBITS:
        (TABLES / f"{name}.txt").write_text(table_of(name))


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(_lines(values) + "\n")


def _lines(values: dict[str, Any]) -> str:
    """Return JSON with a line for each entry, so that a diff shows which changed."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
