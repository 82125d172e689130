from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from igsd.evaluation.decisions import predict


def kernels(classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (K_train, y, K_test) of a linear kernel on noisy points, classes not 0, 1, ..."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, 60) * 3 + 2
    X, X_test = random.normal(size=(60, 3)) + y[:, None] / 4, random.normal(size=(40, 3)) + 1
    return X @ X.T, y, X_test @ X.T


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_equals_libsvm(classes: int, C: float) -> None:
    K, y, K_test = kernels(classes, classes)
    model = SVC(C=C, kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(predict(model, K_test), model.predict(K_test))


class Refusing:
    """A fitted model that notes when it is asked itself."""

    def __init__(self, model: SVC) -> None:
        self.model, self.asked = model, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def predict(self, K: np.ndarray) -> np.ndarray:
        self.asked += 1
        return self.model.predict(K)


def test_a_vote_too_close_for_rounding_is_left_to_libsvm() -> None:
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    model = Refusing(SVC(C=1.0, kernel="precomputed").fit(K, [0, 1]))
    assert predict(model, np.array([[1.0, -1.0]])).tolist() == [0]
    assert model.asked == 0
    predict(model, np.array([[0.0, 0.0], [1.0, -1.0]]))
    assert model.asked == 1
