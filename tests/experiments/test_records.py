from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from igsd.baselines.kernels.wl import WLConfig
from igsd.errors import IGSDWarning, StorageError, TrainingError
from igsd.experiments.records import (
    KIND,
    Identity,
    Record,
    failure,
    fit_seconds,
    in_words,
    make_records_folder,
    plain_name,
    read_record,
    record_fault,
    record_path,
    run_seconds,
    usable_record,
    variant_label,
)
from igsd.settings.igsd import Config

PROTOCOL = {"name": "nested", "standardise": "no", "twins": False}
IDENTITY = Identity(Config(), "abc", PROTOCOL, algorithm=1)


ROW = {"method": "igsd", "protocol": "nested", "accuracies": [0.5, 1.0]}
ROW |= {"mean": 0.75, "std": 0.25, "optimistic": False}


def record(**changes: Any) -> dict[str, Any]:
    values = {
        "kind": KIND,
        "status": "ok",
        "algorithm": 1,
        "data": {"name": "toy", "checksum": "abc", "graphs": 8},
        "protocol": PROTOCOL,
        "config": Config().to_json(),
        "seed": 0,
        "rows": [ROW],
    }
    return values | changes


def test_where_a_record_stands() -> None:
    path = record_path(Path("results"), "nested", "IMDB-BINARY", "social", 3)
    assert path == Path("results/nested/IMDB-BINARY/social/seed-3.json")


@pytest.mark.parametrize(
    ("text", "name"), [("a b/c", "a_b_c"), ("..", "data"), ("", "data"), ("x-1.5_y", "x-1.5_y")]
)
def test_names_stay_inside_their_folder(text: str, name: str) -> None:
    assert plain_name(text) == name


def test_runtime_settings_and_new_settings_make_no_other_run() -> None:
    config = Config(checkpoint_every=7).to_json()
    del config["weight_decay"]
    assert IDENTITY.differences(record(config=config)) == []


def test_settings_that_come_and_go() -> None:
    config = WLConfig().to_json() | {"gone": 3}
    del config["iterations"]  # it had its default then
    identity = Identity(WLConfig(iterations=2), "abc", PROTOCOL, algorithm=1)
    assert identity.differences(record(config=config)) == [
        "gone is 3 there and None here",
        "iterations is 5 there and 2 here",
    ]


def test_the_digest_depends_on_all_of_it() -> None:
    others = [replace(IDENTITY, checksum="x"), replace(IDENTITY, config=Config(epochs=3))]
    assert len({one.digest for one in (IDENTITY, replace(IDENTITY), *others)}) == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    make_records_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="for records"):
        make_records_folder(tmp_path / "file" / "results")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"data": {"name": "toy", "checksum": "xyz", "graphs": 8}}, "checksum"),
        ({"algorithm": 2}, "algorithm"),
        ({"protocol": PROTOCOL | {"standardise": "yes"}}, "standardise"),
        ({"config": Config(epochs=3).to_json()}, "epochs is 3 there and 20 here"),
        ({"config": Config().to_json() | {"gone": 1}}, "gone"),
        ({"config": Config().to_json() | {"epochs": None}}, "configuration is not valid"),
    ],
)
def test_differences_are_named(changes: dict[str, Any], word: str) -> None:
    (difference,) = IDENTITY.differences(record(**changes))
    assert word in difference


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"kind": "other"}', f'{{"kind": "{KIND}"}}', "[" * 100_000, "\xff"]
)
def test_foreign_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(StorageError, match="not a record"):
        read_record(path)
    with pytest.warns(IGSDWarning, match=r"not a record of igsd: .* Move it away; --force"):
        assert usable_record(path) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": []},
        {"rows": "abc"},
        {"rows": [ROW | {"accuracies": ["x", None]}]},
        {"rows": [ROW | {"accuracies": [float("nan")]}]},
        {"rows": [ROW | {"accuracies": []}]},
        {"rows": [ROW | {"accuracies": [0.5, -3.0]}]},
        {"rows": [{"method": "igsd"}]},
        {"rows": [ROW | {"mae": {"mu": None}}]},
        {"rows": [{key: value for key, value in ROW.items() if key != "std"}]},
        {"data": {"name": "toy"}},
        {"seed": "0"},
        {"seed": None},
        {"seconds": {"train": None}},
        {"seconds": 3.0},
        {"history": [{"epoch": 0, "total": "x"}]},
        {"notes": "none"},
        {"status": "limit"},
        {"pseudo_labels": {"rounds": [1, 2], "given": [1]}},
        {"peak_memory_mib": float("inf")},
        {"config": {"epochs": json.loads("[" * 40 + "]" * 40)}},
    ],
)
def test_what_tables_could_not_be_made_of_is_no_record(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """One such file had ended the whole page, or stood there as nan."""
    path = tmp_path / "r.json"
    path.write_text(json.dumps(record(**changes)))
    with pytest.raises(StorageError, match="not a record"):
        read_record(path)
    assert record_fault(record(status="failed", rows=[])) is None


def test_what_ends_one_run_and_what_ends_all() -> None:
    assert failure(TrainingError("The loss is nan.")) == "The loss is nan."
    assert failure(KeyError("oh")) == "KeyError: 'oh'"
    lasting = (StorageError("no"), OSError(errno.ENOSPC, "full"), OSError(errno.EDQUOT, "full"))
    for error in lasting:
        with pytest.raises(type(error)):
            failure(error)


def test_a_name_for_many_changes_is_short() -> None:
    first, second = (
        variant_label("wl", [(f"setting_number_{i}", i + more) for i in range(20)])
        for more in (0, 1)
    )
    assert len(first) == len(second) == len("wl+12345678")
    assert first != second
    assert variant_label("wl", []) == "wl"


def test_scoring_is_no_part_of_fitting() -> None:
    seconds = {"train": 2.0, "embed": 0.5, "evaluate": 9.0, "processor": 30.0}
    record: Record = {"seconds": seconds}
    assert (fit_seconds(record), run_seconds(record)) == (2.5, 11.5)
    assert fit_seconds({"seconds": {"train": 2.0}}) == 2.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(40, "40 s"), (700, "12 min"), (5400, "1 h 30 min"), (12003, "3 h 20 min")],
)
def test_words(seconds: float, text: str) -> None:
    assert in_words(seconds) == text
