from __future__ import annotations

import tomllib

import pytest

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.parameter_config import ParameterConfig
from igsd.baselines.wl import WLKernel
from igsd.errors import ConfigError

WL = ParameterConfig.of(WLKernel)


def test_the_defaults_of_an_estimator() -> None:
    values = {"seed": 0, "iterations": 5, "normalise": True, "max_features": 4096}
    assert WL.to_json() == WL.learned() == values
    assert WL.seed == 0
    assert ParameterConfig.of(LabelDegreeHistogram).to_json() == {"seed": 0, "degree_cap": 64}


def test_changes_are_checked() -> None:
    changed = WL.updated({"iterations": 2, "seed": 7})
    assert (changed.seed, changed.to_json()["iterations"]) == (7, 2)
    assert changed.unchanged() == WL
    for config, change, text in (
        (WL, {"iteration": 2}, "no setting 'iteration'.*'iterations'"),
        (WL, {"iterations": -1}, "'iterations' parameter of WLKernel must be a whole number"),
        (WL, {"seed": -1}, "'seed' parameter"),
        (ParameterConfig.of(LabelDegreeHistogram), {"degree_cap": 0}, "at least 1"),
    ):
        with pytest.raises(ConfigError, match=text):
            config.updated(change)


def test_toml_gives_the_values_back() -> None:
    text = WL.updated({"normalise": False}).to_toml()
    assert tomllib.loads(text) == WL.to_json() | {"normalise": False}
    assert "iterations = 5  # a whole number from 0" in text
