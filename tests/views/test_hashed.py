from __future__ import annotations

import numpy as np

from igsd.views.hashed import hashed_uniform, node_uniform


def test_numbers_are_uniform_and_keys_tell_them_apart() -> None:
    x = hashed_uniform(7, np.arange(200)[:, None], np.arange(100)[None, :])
    assert x.shape == (200, 100)
    ordered = np.sort(x.ravel())
    assert ordered[0] >= 0
    assert ordered[-1] < 1
    assert len(np.unique(ordered)) == 20_000
    assert np.abs(ordered - (np.arange(20_000) + 0.5) / 20_000).max() < 1.63 / np.sqrt(20_000)
    # Neighbouring rows and columns have nothing in common: standard deviation about 0.007.
    assert abs(np.corrcoef(x[:-1].ravel(), x[1:].ravel())[0, 1]) < 0.03
    assert abs(np.corrcoef(x[:, :-1].ravel(), x[:, 1:].ravel())[0, 1]) < 0.03


def test_a_pure_function_of_seed_and_keys() -> None:
    keys = np.arange(5)
    np.testing.assert_array_equal(hashed_uniform(3, keys), hashed_uniform(3, keys.copy()))
    assert (hashed_uniform(3, keys) != hashed_uniform(4, keys)).all()
    pair = np.array([1]), np.array([2])
    assert hashed_uniform(3, *pair) != hashed_uniform(3, *pair[::-1])


def test_a_node_has_its_number_in_every_batch() -> None:
    alone = node_uniform(np.array([0, 4]), np.array([9]), seed=1)
    among = node_uniform(np.array([0, 2, 6, 10]), np.array([5, 9, 9]), seed=1)
    np.testing.assert_array_equal(among[2:6], alone)
    np.testing.assert_array_equal(among[6:], alone)
    assert (among[:2] != alone[:2]).all()
