from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from igsd.errors import ConfigError
from igsd.views.spec import ViewSpec


def test_defaults_are_the_papers() -> None:
    spec = ViewSpec()
    assert (spec.kind, spec.teleport, spec.threshold, spec.top_k) == ("ppr", 0.2, 1e-3, None)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("teleport", 2, "in (0, 1)"),
        ("teleport", 0.0, "in (0, 1)"),
        ("teleport", "0.2", "in (0, 1)"),
        ("teleport", float("nan"), "in (0, 1)"),
        ("heat_time", 0, "above 0 and finite"),
        ("heat_time", float("inf"), "above 0 and finite"),
        ("threshold", -0.1, "in [0, 1)"),
        ("threshold", 1, "in [0, 1)"),
        ("drop_rate", 1.0, "in [0, 1)"),
        ("drop_rate", True, "in [0, 1)"),
        ("tolerance", 0, "in (0, 1)"),
        ("exact_limit", -1, "a whole number from 0 up"),
        ("top_k", 0, "None or a whole number from 1 up"),
        ("top_k", 2.5, "None or a whole number from 1 up"),
    ],
)
def test_a_value_out_of_range_is_named(name: str, value: Any, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ViewSpec(**{name: value})
    expected = f"The {name!r} parameter of ViewSpec must be {rule}. Got {value!r} instead."
    assert str(caught.value) == expected


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"Got 'pppr' instead\. Did you mean 'ppr'"):
        ViewSpec(kind="pppr")


def test_only_what_matters_is_relevant() -> None:
    assert ViewSpec().relevant() == ViewSpec(heat_time=3.0, drop_rate=0.5).relevant()
    assert ViewSpec().relevant() != ViewSpec(teleport=0.3).relevant()
    assert ViewSpec(kind="heat").relevant() != ViewSpec(kind="heat", heat_time=3.0).relevant()
    assert ViewSpec(top_k=4).relevant() == ViewSpec(top_k=4, threshold=0.1).relevant()
    assert ViewSpec(kind="edge-drop").relevant() == {"kind": "edge-drop", "drop_rate": 0.2}


def test_a_spec_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ViewSpec().teleport = 0.5  # type: ignore[misc]
