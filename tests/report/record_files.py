"""Records of made-up runs, for the tests of the tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.evaluation.result import ProtocolResult
from igsd.experiments import ALGORITHM
from igsd.experiments.exhibits import read_exhibit
from igsd.experiments.records import KIND, record_path, write_record
from igsd.report.records import RecordFolder
from igsd.report.tables import Table, fill
from igsd.settings.igsd import Config
from igsd.settings.text import load_recipe, recipe_names


def make_record(
    data: str, recipe: str, seed: int, scores: dict[str, float], /, **changes: Any
) -> Any:
    """Return the record of a run whose methods have these accuracies on both of two folds."""
    protocol = changes.pop("protocol", "nested")
    config = load_recipe(recipe if recipe in recipe_names() else "molecules", Config)
    rows = [
        {"method": method} | ProtocolResult(protocol, seed, (mean, mean)).to_dict()
        for method, mean in scores.items()
    ]
    record = {
        "kind": KIND,
        "algorithm": ALGORITHM,
        "status": "ok",
        "recipe": recipe,
        "seed": seed,
        "data": {"name": data, "checksum": "abc", "graphs": 10},
        "protocol": {"name": protocol, "standardise": "yes", "twins": False},
        "config": config.updated({"seed": seed}).to_json(),
        "rows": rows,
    }
    return record | changes


def write(folder: Path, record: dict[str, Any]) -> None:
    """Write a record to its place under ``folder``."""
    names = record["protocol"]["name"], record["data"]["name"], record["recipe"], record["seed"]
    write_record(record_path(folder, *names), record)


def half_of_table_3(folder: Path) -> None:
    """Write the records of IGSD on all four data sets of the table, without the other row."""
    for data in ("MUTAG", "PTC", "IMDB-BINARY", "IMDB-MULTI"):
        recipe = "social" if data.startswith("IMDB") else "molecules"
        for protocol in ("nested", "paper"):
            write(folder, make_record(data, recipe, 0, {"igsd": 0.9}, protocol=protocol))


def table(name: str, records: str | Path, *data: str) -> Table:
    """Return a table or figure from a folder of records, with its own data sets or these."""
    exhibit = read_exhibit(name)
    exhibit = replace(exhibit, data=data, other_data=False) if data else exhibit
    return fill(exhibit, RecordFolder(Path(records)))
