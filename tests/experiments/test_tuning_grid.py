from __future__ import annotations

import pytest

from igsd.baselines.semi_methods import method_config
from igsd.config import Config
from igsd.errors import ConfigError
from igsd.experiments.tuning_grid import (
    PAPER_GRID,
    PAPER_LABEL_GRID,
    make_grid,
    num_choices,
    paper_grid,
    parse_grid,
)


def test_the_grids_of_the_paper() -> None:
    assert num_choices(paper_grid(Config())) == 3 * 6 * 3 * 2 * 2 * 2
    labelled = method_config("igsd-supcon+self-training", "molecules", {})
    assert paper_grid(labelled) == PAPER_LABEL_GRID
    assert num_choices(PAPER_LABEL_GRID) == 2**7


def test_what_a_method_has_no_use_for_is_not_searched() -> None:
    without = paper_grid(method_config("igsd-self", "molecules", {}))
    assert not any(key.startswith("self_training") for key in without)
    gin = paper_grid(method_config("gin+self-training", "molecules", {}))
    assert "head_dim" not in gin
    assert "self_training_rounds" in gin


def test_grids_of_the_user() -> None:
    given = parse_grid(["epochs = 2, 4,2", "learning_rate=1,0.5", "view=ppr,heat"])
    grid = make_grid(Config(), given, {"num_layers"})
    assert grid["epochs"] == (2, 4)
    assert grid["learning_rate"] == (1.0, 0.5)
    assert grid["view"] == ("ppr", "heat")
    assert grid["head_dim"] == PAPER_GRID["head_dim"]
    assert "num_layers" not in grid


@pytest.mark.parametrize(
    ("texts", "fixed", "text"),
    [
        (["epochs"], [], "given as key=a,b,c"),
        (["epochs=,"], [], "given as key=a,b,c"),
        (["epoch=1,2"], [], "There is no setting 'epoch'. Did you mean 'epochs'"),
        (["epochs=1,x"], [], "'epochs' parameter of IGSD must be a whole number. Got 'x'"),
        (["epochs=1,-2"], [], "must be at least 0"),
        (["seed=1,2"], [], "leave seed out of the grid"),
        (["epochs=1,2"], ["epochs"], "set to a value and in the grid"),
        ([], list(PAPER_GRID), "nothing to search"),
    ],
)
def test_wrong_grids(texts: list[str], fixed: list[str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        make_grid(Config(), parse_grid(texts), fixed)
