from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from igsd.baselines.registry import METHODS
from igsd.cli.method_options import given_settings, methods_text, parse_methods, shared_out
from igsd.errors import ConfigError


def test_names_of_methods() -> None:
    assert parse_methods("wl, igsd,wl") == ["wl", "igsd"]
    assert parse_methods("all") == list(METHODS)
    assert all(name in methods_text() for name in METHODS)
    with pytest.raises(ConfigError, match=r"no method 'w1'.*'wl'"):
        parse_methods("igsd,w1")
    with pytest.raises(ConfigError, match="Got none"):
        parse_methods(",")


def test_a_setting_goes_to_all_that_have_it() -> None:
    names = ["igsd", "infograph", "wl", "untrained"]
    shares = shared_out({"epochs": 3, "wl.iterations": 2}, names)
    # What makes a method this method is not changed with the others.
    expected = {"igsd": {"epochs": 3}, "infograph": {"epochs": 3}}
    assert shares == expected | {"wl": {"iterations": 2}, "untrained": {}}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("epoch", "no setting 'epoch' of 'igsd' or 'wl'.*'epochs'"),
        ("wl.epochs", "no setting 'epochs' of 'wl'"),
        ("gcc.epochs", "a setting of 'gcc', which is not run"),
    ],
)
def test_a_setting_that_nobody_has(key: str, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        shared_out({key: 1}, ["igsd", "wl"])


def test_settings_from_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("epochs = 4\n[wl]\niterations = 3\n")
    args = argparse.Namespace(config=str(file), settings=["wl.iterations=2"])
    assert given_settings(args) == {"epochs": 4, "wl.iterations": 2}
    for pair in ("seed=1", "wl.seed=1"):
        with pytest.raises(ConfigError, match="cannot be set"):
            given_settings(argparse.Namespace(config=None, settings=[pair]))
