"""The records in ``results/`` count as they did, and give the tables that they gave.

A change that makes a committed record no longer count, or reads another figure from it, is seen
here. ``python -m tests.golden.write --records --plans --tables`` writes what is pinned anew.
"""

from __future__ import annotations

import os

import pytest

from tests.golden.records import (
    EXHIBITS,
    PLANS,
    RECORDS,
    RESULTS,
    TABLES,
    data_of,
    pin_of,
    places,
    plan_of,
    read_json,
    table_of,
)

pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="there is no folder results/")

STORED, STORED_PLANS = read_json(RECORDS), read_json(PLANS)
LARGE = {"COLLAB", "QM9", "HIV"}
"""Data sets that take more than ten seconds to open for the first time."""


def test_places_of_records() -> None:
    assert places() == list(STORED)


@pytest.mark.parametrize("folder", sorted({place.split("/")[0] for place in STORED}))
def test_identities_and_figures(folder: str) -> None:
    wanted = {place: pin for place, pin in STORED.items() if place.split("/")[0] == folder}
    assert {place: pin_of(place) for place in wanted} == wanted


def test_every_exhibit_is_pinned() -> None:
    assert sorted(STORED_PLANS) == sorted(EXHIBITS)
    assert sorted(path.stem for path in TABLES.iterdir()) == sorted(EXHIBITS)


@pytest.mark.skipif("IGSD_DATA" not in os.environ, reason="IGSD_DATA is not set")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if LARGE & {*data_of(n)} else []) for n in EXHIBITS],
)
def test_what_is_done_and_what_is_left(name: str) -> None:
    assert plan_of(name) == STORED_PLANS[name]


@pytest.mark.parametrize("name", EXHIBITS)
def test_table(name: str) -> None:
    assert table_of(name) == (TABLES / f"{name}.txt").read_text()
