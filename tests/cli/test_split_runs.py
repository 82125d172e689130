from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from igsd.cli.split_runs import changes_for_splits, plan_fields
from igsd.errors import ConfigError


def arguments(**changes: Any) -> argparse.Namespace:
    given: dict[str, Any] = {"inputs": ["MUTAG"], "protocol": "semi", "output": None}
    given |= {"config": None, "settings": [], "seeds": 3, "records": None, "force": False}
    return argparse.Namespace(**(given | {"quiet": True} | changes))


def test_set_goes_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("epochs = 3\nhidden_dim = 8\n")
    args = arguments(config=str(tmp_path / "c.toml"), settings=["epochs=7"])
    assert changes_for_splits(args) == {"epochs": 7, "hidden_dim": 8}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ["model", "MUTAG"]}, "Protocol semi takes DATA alone"),
        ({"output": "run"}, "leaves records and no run folder"),
        ({"settings": ["seed=1"]}, "seed cannot be set"),
    ],
)
def test_what_these_protocols_refuse(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        changes_for_splits(arguments(**changes))


def test_options_that_are_fields_of_a_plan() -> None:
    fields = {"num_seeds": 3, "records": None, "force": False, "verbose": False}
    assert plan_fields(arguments()) == fields
    assert plan_fields(arguments(records="r"))["records"] == Path("r")
