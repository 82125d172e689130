from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from igsd.errors import ConfigError
from igsd.evaluation.kernels import kernel_sources

X = np.random.default_rng(0).normal(size=(12, 3)) * [1.0, 10.0, 0.1] + 5
X[:, 1] = np.where(np.arange(12) < 8, 2.0, X[:, 1])
TRAIN, TEST = np.arange(8), np.arange(8, 12)


def test_standardised_kernel_uses_the_training_part_only():
    # Feature 1 is constant in the training part, where its scale counts as 1.
    scaler = StandardScaler().fit(X[TRAIN])
    A, B = scaler.transform(X[TRAIN]), scaler.transform(X[TEST])
    gamma = 1 / (3 * A.var())
    K_train, K_test = kernel_sources(X, standardise="yes")[0].split(TRAIN, TEST)
    np.testing.assert_allclose(K_train, rbf_kernel(A, A, gamma), rtol=1e-10)
    np.testing.assert_allclose(K_test, rbf_kernel(B, A, gamma), rtol=1e-10)


@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_test_rows_do_not_touch_the_training_kernel(standardise):
    changed = X.copy()
    changed[TEST] += 100
    before = kernel_sources(X, standardise=standardise)[0].split(TRAIN, TEST)[0]
    after = kernel_sources(changed, standardise=standardise)[0].split(TRAIN, TEST)[0]
    np.testing.assert_allclose(before, after, rtol=1e-9)


def test_precomputed_blocks():
    K = X @ X.T
    K_train, K_test = kernel_sources(K, "precomputed")[0].split(TRAIN, TEST)
    np.testing.assert_array_equal(K_train, K[:8, :8])
    np.testing.assert_array_equal(K_test, K[8:, :8])


def test_search_offers_the_plain_kernel_first():
    assert [s.standardised for s in kernel_sources(X, standardise="search")] == [False, True]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "rfb"}, "Did you mean 'rbf'"),
        ({"standardise": "yess"}, "Did you mean 'yes'"),
        ({"kernel": "precomputed", "standardise": "yes"}, "has no features"),
    ],
)
def test_unknown_settings(settings, words):
    with pytest.raises(ConfigError, match=words):
        kernel_sources(X, **settings)
