from __future__ import annotations

import pickle

import networkx as nx
import pytest

from igsd.baselines.kernels.wl import WLKernel
from igsd.errors import (
    ConfigError,
    IGSDError,
    IGSDWarning,
    ParameterError,
    StorageError,
    counted,
    enumerated,
    nearest,
    need,
)


def test_nearest_names_the_close_ones_or_all() -> None:
    assert nearest("temprature", ["temperature", "epochs"]) == "Did you mean 'temperature'?"
    assert nearest("zzz", ["b", "a"]) == "Valid names: a, b."


def test_errors_are_value_errors() -> None:
    assert issubclass(StorageError, IGSDError)
    assert issubclass(IGSDError, ValueError)


def test_a_wrong_parameter_is_told_in_the_words_of_who_has_set_it() -> None:
    error = ParameterError("seed", "IGSD", "must be at least 0. Got -1 instead.")
    assert str(error) == "The 'seed' parameter of IGSD must be at least 0. Got -1 instead."
    in_python = error.of_estimator("BYOL")
    assert str(in_python).startswith("The 'random_state' parameter of BYOL must be")
    assert in_python.as_setting() == "The setting 'seed' must be at least 0. Got -1 instead."
    other = ParameterError("kind", "ViewSpec", "must be 'ppr'.")
    assert str(other.of_estimator("BYOL")) == str(other)


def test_a_wrong_parameter_travels_between_processes() -> None:
    error = ParameterError("epochs", "IGSD", "must be at least 0.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_warning_points_at_the_users_own_line() -> None:
    with pytest.warns(IGSDWarning, match="no node labels") as caught:
        WLKernel().fit([nx.path_graph(3), nx.path_graph(4)])
    assert [warning.filename for warning in caught] == [__file__]


def test_nearest_names_whatever_their_case() -> None:
    assert nearest("mutag", ["MUTAG", "NCI1"]) == "Did you mean 'MUTAG'?"


def test_one_and_many() -> None:
    assert counted(1, "graph") == "1 graph"
    assert counted(0, "graph") == "0 graphs"
    assert counted(2, "class", "classes") == "2 classes"


def test_long_lists_are_cut() -> None:
    assert enumerated([3, 17]) == "3, 17"
    assert enumerated(list("abcdefg"), most=3) == "a, b, c and 4 more"


def test_a_missing_extra_is_named() -> None:
    with pytest.raises(ConfigError, match=r'^A map needs nothing_here.*pip install "igsd\[maps\]"'):
        need("maps", "nothing_here.inside", "A map")
    assert need("maps", "json.decoder", "A map").__name__ == "json.decoder"
