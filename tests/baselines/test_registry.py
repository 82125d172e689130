from __future__ import annotations

import subprocess
import sys

import pytest

from igsd.baselines.registry import (
    METHODS,
    build,
    configure,
    defaults,
    has_kernel,
    make_method,
    method,
    name_of,
    setting_names,
    takes_recipe,
)
from igsd.config import load_recipe
from igsd.errors import ConfigError

NAMES = [
    *("igsd", "infograph", "mvgrl", "graphcl", "gcc", "graph2vec", "deep-graph-kernel"),
    *("random-walk", "shortest-path", "graphlet", "wl", "mlg", "wl-oa", "gckn"),
    *("barlow", "byol", "untrained", "histogram"),
]


def test_every_method_of_the_tables_has_a_name() -> None:
    assert list(METHODS) == NAMES


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match=r"no method 'wloa'.*'wl-oa'"):
        method("wloa")
    with pytest.raises(ConfigError, match=r"no method 'zzz'.*Valid names: barlow, byol"):
        make_method("zzz")
    for near, wanted in (("WL", "'wl'"), ("cmc-graph", "'mvgrl'"), ("Graph2Vec", "'graph2vec'")):
        with pytest.raises(ConfigError, match=f"Did you mean {wanted}"):
            make_method(near)


def test_a_recipe_is_for_methods_with_a_network() -> None:
    without = [name for name in METHODS if not takes_recipe(name)]
    assert without == [
        *("graph2vec", "deep-graph-kernel", "random-walk", "shortest-path", "graphlet", "wl"),
        *("mlg", "wl-oa", "gckn", "histogram"),
    ]


def test_unknown_parameter() -> None:
    with pytest.raises(ConfigError, match=r"'wl' has no parameter 'iteration'.*'iterations'"):
        make_method("wl", iteration=3)


def test_parameters_and_random_state() -> None:
    made = make_method("graph2vec", dim=7, random_state=5)
    assert (made.dim, made.random_state) == (7, 5)
    assert make_method("untrained", random_state=3).epochs == 0
    assert make_method("histogram", random_state=3).degree_cap == 64


def test_kernels_and_features() -> None:
    kernels = {name for name in NAMES if name in ("wl", "mlg") and has_kernel(make_method(name))}
    assert kernels == {"wl", "mlg"}
    assert not has_kernel(make_method("graph2vec"))


def test_the_names_cost_no_heavy_import() -> None:
    code = (
        "import sys; import igsd.baselines.registry; "
        "sys.exit(bool({'torch', 'sklearn', 'gensim', 'grakel'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_is_imported_before_the_clock_starts() -> None:
    assert METHODS["wl"].modules == ("igsd.baselines.wl",)
    assert METHODS["graph2vec"].modules == ("igsd.baselines.graph2vec", "gensim.models.doc2vec")


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_every_method(name: str) -> None:
    config = configure(name, "molecules", {"seed": 3})
    estimator = build(name, config)
    assert name_of(estimator) == name
    assert getattr(estimator, "random_state", 3) == 3
    assert defaults(name).updated(config.to_json()) == config
    assert config.learned().keys() <= config.to_json().keys()
    assert config.to_toml()
    assert "seed" not in setting_names(name)


def test_what_a_recipe_says_to_a_method() -> None:
    assert configure("igsd", "social") == load_recipe("social")
    untrained = configure("untrained", "social")
    assert untrained == load_recipe("social").updated({"epochs": 0})
    mvgrl, recipe = configure("mvgrl", "molecules"), load_recipe("molecules")
    assert (mvgrl.batch_size, mvgrl.node_features) == (recipe.batch_size, recipe.node_features)
    # What was chosen for the method is not overruled by what was chosen for IGSD.
    assert (mvgrl.epochs, recipe.epochs) == (5, 60)
    assert configure("infograph", "molecules", {"epochs": 7}).epochs == 7


def test_settings_that_a_method_does_not_have() -> None:
    for name, key in (("wl", "epochs"), ("untrained", "epochs"), ("infograph", "temperature")):
        with pytest.raises(ConfigError, match=f"'{name}' has no setting '{key}'"):
            configure(name, "molecules", {key: 1})
    with pytest.raises(ConfigError, match="no recipe 'x'"):
        configure("wl", "x")


def test_only_methods_that_draw_depend_on_their_seed() -> None:
    fixed = {name for name in NAMES if not METHODS[name].draws}
    assert fixed == {
        *("deep-graph-kernel", "random-walk", "shortest-path", "graphlet", "wl", "wl-oa"),
        "histogram",
    }
