from __future__ import annotations

import subprocess
import sys

import pytest

from igsd.baselines.registry import METHODS, has_kernel, make, method
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
        make("zzz")


def test_unknown_parameter() -> None:
    with pytest.raises(ConfigError, match=r"'wl' has no parameter 'iteration'.*'iterations'"):
        make("wl", iteration=3)


def test_parameters_and_random_state() -> None:
    made = make("graph2vec", dim=7, random_state=5)
    assert (made.dim, made.random_state) == (7, 5)
    assert make("untrained", random_state=3).epochs == 0
    assert make("histogram", random_state=3).degree_cap == 64


def test_kernels_and_features() -> None:
    kernels = {name for name in NAMES if name in ("wl", "mlg") and has_kernel(make(name))}
    assert kernels == {"wl", "mlg"}
    assert not has_kernel(make("graph2vec"))


def test_the_names_cost_no_heavy_import() -> None:
    code = (
        "import sys; import igsd.baselines.registry; "
        "sys.exit(bool({'torch', 'sklearn', 'gensim', 'grakel'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
