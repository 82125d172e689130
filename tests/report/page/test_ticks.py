from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from igsd.report.page.ticks import nice_ticks, tick_text


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_enclose_the_values_and_are_few(low: float, width: float) -> None:
    ticks = nice_ticks(low, low + width)
    assert ticks[0] <= low + 1e-6 * width
    assert ticks[-1] >= low + width - 1e-6 * width
    assert 2 <= len(ticks) <= 7
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize("value", [0.0, 5.0, -2.0])
def test_one_value_gets_room(value: float) -> None:
    ticks = nice_ticks(value, value)
    assert ticks[0] < value < ticks[-1]


def test_texts_have_the_digits_of_the_step() -> None:
    assert [tick_text(t, [1.0, 1.25, 1.5]) for t in (1.0, 1.25)] == ["1.00", "1.25"]
    assert tick_text(20, [0, 20, 40]) == "20"
    assert tick_text(2000, [0, 2000]) == "2,000"
