"""Random forests: grown by scikit-learn, kept as arrays."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn import ensemble

from igsd.evaluation.small_model_base import SmallModel, hold_out_folds

_MOST_TRIED = 100
"""Columns that a split of a tree for numbers is chosen among."""
_SPARSE = 0.2
"""Share of values that are not the lowest of their column, below which forests use it."""
_OUT_OF_BAG = 200
"""Rows from which trees that have not drawn a row predict it; with fewer that flatters a forest."""


@dataclass(frozen=True, eq=False)
class Forest(SmallModel):
    """The mean of trees. Nodes of all trees follow each other; ``feature`` is -1 in a leaf.

    Raises ``ValueError`` unless children come after their node, so that no walk is endless.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    def __post_init__(self) -> None:
        num_nodes, inner = len(self.feature), np.flatnonzero(self.feature >= 0)
        for children in (self.left, self.right):
            if (children[inner] <= inner).any() or (children[inner] >= num_nodes).any():
                raise ValueError("a node of a tree has no place")
        if not len(self.roots) or self.roots.min() < 0 or self.roots.max() >= num_nodes:
            raise ValueError("a tree has no root")

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the mean value of the leaves that each row falls into."""
        rows, total = X.astype(np.float32), np.zeros((len(X), self.value.shape[1]))
        for root in self.roots:
            total += self.value[self.leaves(rows, root)]
        return total / len(self.roots)

    def leaves(self, rows: np.ndarray, root: int) -> np.ndarray:
        """Return the leaves [n] of the tree at ``root`` that rows [n, d] in float32 fall into."""
        place = np.full(len(rows), root)
        moving = np.flatnonzero(self.feature[place] >= 0)
        while len(moving):
            here = place[moving]
            goes_left = rows[moving, self.feature[here]] <= self.threshold[here]
            place[moving] = np.where(goes_left, self.left[here], self.right[here])
            moving = moving[self.feature[place[moving]] >= 0]
        return place

    @classmethod
    def of(cls, trees: list[Any]) -> Self:
        """Return the forest of scikit-learn's trees, fitted to classes or to one number."""
        sizes = [tree.tree_.node_count for tree in trees]
        roots = np.cumsum([0, *sizes[:-1]])

        def joined(name: str, *, shifted: bool = False) -> np.ndarray:
            parts = [getattr(tree.tree_, name) for tree in trees]
            if shifted:
                parts = [part + root for part, root in zip(parts, roots, strict=True)]
            return np.concatenate(parts)

        left = joined("children_left", shifted=True)
        is_leaf = joined("children_left") < 0
        value = joined("value")[:, 0, :]
        return cls(
            roots=roots.astype(np.int64),
            feature=np.where(is_leaf, -1, joined("feature")).astype(np.int32),
            threshold=joined("threshold"),
            left=left.astype(np.int32),
            right=joined("children_right", shifted=True).astype(np.int32),
            value=value.astype(np.float32),
        )


def _grown(
    X: np.ndarray, Y: np.ndarray, trees: int, is_class: bool, seed: int
) -> tuple[Any, np.ndarray]:
    """Return scikit-learn's forest on the columns of classes, or on one number, and their lowest.

    The forest sees rows from which the lowest values [d] were subtracted: counts are mostly 0 then,
    and the trees of classes are grown from a sparse matrix, the same in a fraction of the time.
    """
    rows, most = X.astype(np.float32), min(len(X), 10_000)
    lowest = rows.min(axis=0) if is_class else np.zeros(X.shape[1], np.float32)
    if is_class:
        rows -= lowest
        forest = ensemble.RandomForestClassifier(trees, random_state=seed, max_samples=most)
        is_sparse = np.count_nonzero(rows) < _SPARSE * rows.size
        codes = Y.argmax(axis=1)
        return forest.fit(sparse.csr_matrix(rows) if is_sparse else rows, codes), lowest
    tried = min(max(X.shape[1] // 3, 1), _MOST_TRIED)
    numbers = ensemble.RandomForestRegressor(
        trees, random_state=seed, max_samples=most, max_features=tried
    )
    return numbers.fit(rows, Y[:, 0]), lowest


def fit_forest(
    X: np.ndarray, Y: np.ndarray, values: tuple[Any, ...], is_class: bool, seed: int
) -> list[SmallModel]:
    """Return a forest for each number of trees."""
    return [_kept(*_grown(X, Y, trees, is_class, seed), Y, is_class) for trees in values]


def _kept(forest: Any, lowest: np.ndarray, Y: np.ndarray, is_class: bool) -> Forest:
    """Return the model of scikit-learn's forest; its values for classes are probabilities."""
    model = Forest.of(forest.estimators_)
    model = replace(model, threshold=model.threshold + lowest[np.maximum(model.feature, 0)])
    if not is_class:
        return model
    value = np.zeros((len(model.value), Y.shape[1]), np.float32)
    seen = np.unique(Y.argmax(axis=1))
    value[:, seen] = model.value / model.value.sum(axis=1, keepdims=True)
    return replace(model, value=value)


def hold_out_forest(
    X: np.ndarray,
    Y: np.ndarray,
    folds: list[np.ndarray],
    groups: np.ndarray,
    values: tuple[Any, ...],
    is_class: bool,
    seed: int,
) -> tuple[np.ndarray, list[SmallModel]]:
    """Return for each row the mean of the trees that have drawn none of its group (out of bag)."""
    if len(np.unique(groups)) < _OUT_OF_BAG:
        return hold_out_folds(fit_forest, X, Y, folds, groups, values, is_class, seed)
    found, models = np.empty((len(values), *Y.shape)), list[SmallModel]()
    for outputs, trees in zip(found, values, strict=True):
        forest, lowest = _grown(X, Y, trees, is_class, seed)
        model = _kept(forest, lowest, Y, is_class)
        total, count, rows = np.zeros_like(outputs), np.zeros(len(X)), X.astype(np.float32)
        for root, drawn in zip(model.roots, forest.estimators_samples_, strict=True):
            own = np.flatnonzero(~np.isin(groups, groups[drawn]))
            total[own] += model.value[model.leaves(rows[own], root)]
            count[own] += 1
        outputs[:] = np.where(
            count[:, None] > 0, total / np.maximum(count, 1)[:, None], Y.mean(axis=0)
        )
        models.append(model)
    return found, models
