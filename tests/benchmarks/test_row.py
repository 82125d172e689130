"""Bars and their outcomes."""

from __future__ import annotations

import pytest

from benchmarks.row import Row


def row(ratio: float | None, bar: float | None, **rest: bool) -> Row:
    return Row("what", "data", 1.0, 2.0, ratio, bar, "s", "note", **rest)


@pytest.mark.parametrize(
    ("ratio", "bar", "at_most", "expected"),
    [
        (2.0, 2.0, False, "ok"),
        (1.9, 2.0, False, "MISSED"),
        (1.8, 1.8, True, "ok"),
        (1.9, 1.8, True, "MISSED"),
        (1.0, None, False, "info"),
        (None, None, False, "skipped"),
    ],
)
def test_a_bar_is_a_floor_or_a_ceiling(
    ratio: float | None, bar: float | None, at_most: bool, expected: str
) -> None:
    found = row(ratio, bar, at_most=at_most)
    assert found.status == expected
    assert found.failed == (expected == "MISSED")


def test_a_fast_row_with_another_result_fails() -> None:
    found = row(9.0, 2.0, agrees=False)
    assert found.status == "DIFFERS"
    assert found.failed


def test_json_and_back() -> None:
    for value in (row(1.0, 2.0, at_most=True), Row.skipped("a", "b", "no data")):
        assert Row.from_json(value.to_json()) == value
