"""``LabelDegreeHistogram``: graphs as counts of node labels and of degrees, nothing learned."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from igsd.errors import StorageError
from igsd.estimator_base import GraphInputMixin
from igsd.graphs.convert import as_graphset
from igsd.graphs.features import FeatureMap
from igsd.graphs.unseen_labels import warn_of_unseen_labels
from igsd.model_file import read_model, whole_model, write_model


class LabelDegreeHistogram(GraphInputMixin, TransformerMixin, BaseEstimator):
    """Counts, for each graph, how often each node label and each degree stands in it.

    The counts of labels (where there are any) and of degrees stand side by side. ``fit`` learns
    which labels there are and the largest degree; degrees from ``degree_cap`` on share a column,
    and a label not seen by ``fit`` is not counted,
    with a warning. Takes the same graphs as ``igsd.IGSD``.

    Learned: ``features_`` (the ``FeatureMap``), ``n_features_out_``.
    """

    features_: FeatureMap
    n_features_out_: int

    def __init__(self, *, degree_cap: int = 64) -> None:
        self.degree_cap = degree_cap

    def fit(self, X: Any, y: Any = None) -> LabelDegreeHistogram:
        """Learn the columns from graphs and return self; ``y`` is never read."""
        graphs = as_graphset(X)
        parts = "degree" if graphs.node_labels is None else "label+degree"
        return self._set_fitted(FeatureMap.fit(graphs, parts, self.degree_cap))

    def transform(self, X: Any) -> np.ndarray:
        """Return the counts [G, labels + degrees] float32."""
        check_is_fitted(self, "features_")
        graphs = as_graphset(X)
        warn_of_unseen_labels(self.features_, graphs)
        codes, width = self.features_.transform(graphs).codes, self.features_.dim
        cells = graphs.graph_of_node()[:, None] * width + codes
        counts = np.bincount(cells[codes >= 0], minlength=len(graphs) * width)
        return counts.reshape(len(graphs), width).astype(np.float32)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: ``label C``, ..., ``degree 0``, ..."""
        check_is_fitted(self, "features_")
        names = [f"label {name}" for name in self.features_.label_names]
        names += [f"degree {number}" for number in range(self.features_.degree_cap + 1)]
        return np.array(names, dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "features_")
        header = {"estimator": "LabelDegreeHistogram", "degree_cap": self.degree_cap}
        write_model(path, {}, header | {"features": self.features_.to_json()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LabelDegreeHistogram:
        """Return the estimator that ``save`` wrote; raises ``StorageError`` for another file."""
        header = read_model(path)[1]
        if header.get("estimator") != "LabelDegreeHistogram":
            raise StorageError(f"{path} holds a model, but no LabelDegreeHistogram.")
        with whole_model(path):
            estimator = cls(degree_cap=header["degree_cap"])
            return estimator._set_fitted(FeatureMap.from_json(header["features"]))

    def _set_fitted(self, features: FeatureMap) -> LabelDegreeHistogram:
        self.features_, self.n_features_out_ = features, features.dim
        return self
