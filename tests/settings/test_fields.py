from __future__ import annotations

import tomllib
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar

import numpy as np
import pytest

from igsd.errors import ConfigError, ParameterError
from igsd.settings.fields import RENAMED, Settings, setting


class Wool(Settings):
    """A group of settings."""

    groups: ClassVar = Settings.groups | {"wool": "The wool"}

    colour: str = setting("red", "wool", "what it looks like", choices=("red", "blue"))
    washed: bool = setting(True, "wool", "before or not")


class Needles(Settings):
    """Another group."""

    needles: int = setting(4, "run", "how many", low=2, high=5)


class Knitting(Wool, Needles):
    """A method composed of groups and a field of its own: every type, with every rule."""

    gauge: float = setting(0.5, "run", "stitches a millimetre", above=0, below=1)


class Finger(Wool):
    """A method without needles, and with a default of its own."""

    washed: bool = setting(False, "wool", "before or not")


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("needles", 1, "at least 2 and at most 5"),
        ("needles", 6, "at least 2 and at most 5"),
        ("needles", 2.0, "a whole number"),
        ("needles", "2", "a whole number"),
        ("needles", True, "a whole number"),
        ("needles", None, "a whole number"),
        ("gauge", 0.0, "greater than 0 and less than 1"),
        ("gauge", 1, "greater than 0 and less than 1"),
        ("gauge", float("nan"), "finite"),
        ("gauge", float("inf"), "finite"),
        ("gauge", False, "a number"),
        ("colour", "Red", "one of 'red', 'blue'"),
        ("colour", 3, "a text"),
        ("washed", 1, "true or false"),
        ("seed", -1, "at least 0"),
        ("seed", 2**32, "at most"),
    ],
)
def test_values_outside_their_rule_are_refused(key: str, value: Any, rule: str) -> None:
    with pytest.raises(ParameterError, match=rf"'{key}'.*{rule}.*Got {value!r}"):
        Knitting(**{key: value})


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("needles", np.int64(3), 3),
        ("needles", 2, 2),
        ("needles", 5, 5),
        ("gauge", np.float32(0.5), 0.5),
        ("washed", np.bool_(False), False),
    ],
)
def test_values_at_the_edge_and_numpy_scalars_pass(key: str, value: Any, kept: Any) -> None:
    found = getattr(Knitting(**{key: value}), key)
    assert found == kept
    assert type(found) is type(kept)


def test_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Knitting().needles = 3  # type: ignore[misc]


def test_updated_leaves_the_original_and_checks() -> None:
    knitting = Knitting()
    assert knitting.updated({"needles": 3}).needles == 3
    assert knitting.needles == 4
    with pytest.raises(ConfigError, match="needles"):
        knitting.updated({"needles": -3})
    with pytest.raises(ConfigError, match=r"'needle'.*'needles'"):
        knitting.updated({"needle": 3})


def test_a_method_has_the_settings_of_its_groups_and_its_own() -> None:
    names = [entry.name for entry in Knitting.settings()]
    assert names == ["seed", "needles", "gauge", "colour", "washed"]
    assert Finger().to_json() == {"seed": 0, "colour": "red", "washed": False}
    with pytest.raises(ConfigError, match="no setting 'needles'"):
        Finger().updated({"needles": 3})


def test_stored_settings_come_back_under_their_names_of_today(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(RENAMED, "pins", "needles")
    assert Knitting.from_json({"pins": 2, "colour": "blue"}) == Knitting(needles=2, colour="blue")
    with pytest.raises(ConfigError, match="no setting 'hooks'"):
        Knitting.from_json({"hooks": 1})


def test_toml_gives_the_values_back_under_their_groups() -> None:
    knitting = Knitting(colour="blue", gauge=1e-5)
    text = knitting.to_toml()
    assert tomllib.loads(text) == knitting.to_json() == knitting.learned()
    assert '# The wool\ncolour = "blue"  # what it looks like\nwashed = true' in text


def test_what_two_methods_have_in_common() -> None:
    shared = Finger.known(Knitting().to_json() | {"sheep": 3})
    assert shared == {"seed": 0, "colour": "red", "washed": True}
