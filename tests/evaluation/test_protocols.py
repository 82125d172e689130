from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError, StorageError
from igsd.evaluation import PROTOCOLS
from igsd.evaluation.nested import nested
from igsd.evaluation.paper import paper
from igsd.evaluation.protocols import run_protocol
from tests.reference.grid_search import graph_like_features

X, Y = graph_like_features(40, 4, 2, 0)
SETTINGS = {"seed": 1, "num_folds": 3, "grid": (0.1, 1.0)}


@pytest.mark.parametrize("function", [nested, paper])
def test_by_name(function) -> None:
    found = run_protocol(function.__name__, X, Y, dataset="not used", **SETTINGS)
    assert found == function(X, Y, **SETTINGS)
    assert found.protocol in PROTOCOLS


def test_gckn_needs_to_know_the_data_set(tmp_path) -> None:
    with pytest.raises(ConfigError, match="name of a data set"):
        run_protocol("gckn", X, Y)
    with pytest.raises(StorageError, match="no fold file"):
        run_protocol("gckn", X, Y, dataset="PTC", folder=tmp_path)


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'nested'"):
        run_protocol("nestd", X, np.zeros(3))
