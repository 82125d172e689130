from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from igsd.config import Config
from igsd.errors import ConfigError
from igsd.views.spec import ViewSpec


def test_defaults_are_the_papers() -> None:
    spec = ViewSpec()
    assert (spec.kind, spec.teleport, spec.threshold, spec.top_k) == ("ppr", 0.2, 1e-3, None)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("teleport", 2, "greater than 0 and less than 1"),
        ("teleport", 0.0, "greater than 0 and less than 1"),
        ("teleport", "0.2", "a number"),
        ("teleport", float("nan"), "finite"),
        ("heat_time", 0, "greater than 0"),
        ("heat_time", float("inf"), "finite"),
        ("threshold", -0.1, "at least 0 and less than 1"),
        ("threshold", 1, "at least 0 and less than 1"),
        ("drop_rate", 1.0, "at least 0 and less than 1"),
        ("drop_rate", True, "a number"),
        ("tolerance", 0, "greater than 0 and less than 1"),
        ("exact_limit", -1, "at least 0"),
        ("top_k", 0, "None or a whole number, at least 1"),
        ("top_k", 2.5, "None or a whole number, at least 1"),
    ],
)
def test_a_value_out_of_range_is_named(name: str, value: Any, rule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ViewSpec(**{name: value})
    expected = f"The {name!r} parameter of ViewSpec must be {rule}. Got {value!r} instead."
    assert str(caught.value) == expected


def test_ranges_and_defaults_are_those_of_the_settings() -> None:
    # They once stood in two places and differed: exact_limit=0 was a view but no setting.
    shared = ("teleport", "heat_time", "threshold", "drop_rate", "exact_limit")
    assert {name: getattr(ViewSpec(), name) for name in shared} == {
        name: getattr(Config(), name) for name in shared
    }
    assert Config(exact_limit=0).exact_limit == ViewSpec(exact_limit=0).exact_limit == 0


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
