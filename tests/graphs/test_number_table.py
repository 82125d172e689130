from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from igsd.errors import DataError
from igsd.graphs.number_table import line_of, parse_numbers


@pytest.mark.parametrize(
    "raw",
    [
        b"1, 2\n-3, 4\n",
        b"1,2\n-3,4",
        b"1 2\n-3 4\n",
        b"1\t2\n-3\t4\n",
        b"1;2\r\n-3;4\r\n",
        b"\n1, 2\r\n\r\n  -3 ,\t4  \r\n\n",
        b"1   2 \n -3   4\n",
        b"1.0, 2.0\n-3.0, 4e0\n",
        b"\xef\xbb\xbf1, 2\n-3, 4\n",
        b"1, 2,\n-3, 4,\n",
    ],
)
def test_every_spacing_gives_the_same_numbers(raw: bytes) -> None:
    for columns in (None, 2):
        table = parse_numbers(raw, "f", whole=True, columns=columns)
        assert table.tolist() == [[1, 2], [-3, 4]]
        assert table.dtype == np.int64
    assert parse_numbers(raw, "f", whole=False).tolist() == [[1.0, 2.0], [-3.0, 4.0]]


@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6)), min_size=1))
def test_numbers_survive(rows: list[tuple[int, float]]) -> None:
    raw = "\n".join(f"{a}, {b!r}" for a, b in rows).encode()
    assert parse_numbers(raw, "f", whole=False).tolist() == [[float(a), b] for a, b in rows]


@pytest.mark.parametrize(
    ("raw", "whole", "columns", "message"),
    [
        (b"", True, None, "f is empty"),
        (b" \r\n\n", True, None, "f is empty"),
        (b"1\n\nx\n", True, 1, "f, line 3: a whole number was expected, found 'x'"),
        (b"1\n1.5\n", True, 1, "f, line 2: a whole number was expected, found '1.5'"),
        (b"1, 2\n3\n", True, 2, "f, line 2: 2 numbers expected, found 1: '3'. Was the file cut"),
        (b"1, 2\n3, 4, 5\n", True, None, "f, line 2: 2 numbers expected, found 3"),
        (b"1, 2\n", True, 1, "f, line 1: 1 number expected, found 2"),
        (b"0.5\n\nnan\n", False, None, r"f, line 3: numbers must be finite, got \[nan\]"),
        (b"inf\n", False, None, "f, line 1: numbers must be finite"),
        (b"1e400\n", False, None, "f, line 1: numbers must be finite"),
        (b"99999999999999999999\n", True, None, "f, line 1: a whole number was expected"),
        (b"\x80\x04\x95\n", True, None, "f, line 1"),
        (b"a" * 200, True, None, r"aaa\.\.\.'"),
    ],
)
def test_broken_lines_are_named(raw: bytes, whole: bool, columns: int | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_numbers(raw, "f", whole=whole, columns=columns)


def test_line_of_skips_blank_lines() -> None:
    assert [line_of(b"\n1\n\n2\n3", row) for row in range(3)] == [2, 4, 5]
