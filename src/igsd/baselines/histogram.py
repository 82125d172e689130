"""``LabelDegreeHistogram``: graphs as counts of node labels and of degrees, nothing learned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from igsd.baselines.shallow import ShallowConfig
from igsd.estimator_base import ConfiguredEstimator
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.convert import as_graphset
from igsd.graphs.features import FeatureMap
from igsd.graphs.unseen_labels import warn_of_unseen_labels
from igsd.model_file import read_model, whole_model, write_model
from igsd.settings import setting


@dataclass(frozen=True)
class HistogramConfig(ShallowConfig):
    """The settings of the histogram."""

    degree_cap: int = setting(64, "method", "degrees from here on share a column", low=1)


@settings_as_parameters(HistogramConfig)
class LabelDegreeHistogram(ConfiguredEstimator[HistogramConfig]):
    """Counts, for each graph, how often each node label and each degree stands in it.

    The counts of labels (where there are any) and of degrees stand side by side. ``fit`` learns
    which labels there are and the largest degree; degrees from ``degree_cap`` on share a column,
    and a label not seen by ``fit`` is not counted, with a warning. Takes the same graphs as
    ``igsd.IGSD``. Nothing is drawn: ``random_state`` is there because every method has one.

    Learned: ``features_`` (the ``FeatureMap``), ``config_``, ``n_features_out_``.
    """

    features_: FeatureMap

    def fit(self, X: Any, y: Any = None) -> LabelDegreeHistogram:
        """Learn the columns from graphs and return self; ``y`` is never read."""
        config, graphs = self._config_of_fit(), as_graphset(X)
        parts = "degree" if graphs.node_labels is None else "label+degree"
        return self._set_fitted(config, FeatureMap.fit(graphs, parts, config.degree_cap))

    def transform(self, X: Any) -> np.ndarray:
        """Return the counts [G, labels + degrees] float32."""
        check_is_fitted(self, "features_")
        graphs = as_graphset(X)
        warn_of_unseen_labels(self.features_, graphs)
        codes, width = self.features_.transform(graphs).codes, self.features_.dim
        cells = graphs.graph_of_node()[:, None] * width + codes
        counts = np.bincount(cells[codes >= 0], minlength=len(graphs) * width)
        return counts.reshape(len(graphs), width).astype(np.float32)

    @property
    def n_features_out_(self) -> int:
        """The number of labels and degrees."""
        return self.features_.dim

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: ``label C``, ..., ``degree 0``, ..."""
        check_is_fitted(self, "features_")
        names = [f"label {name}" for name in self.features_.label_names]
        names += [f"degree {number}" for number in range(self.features_.degree_cap + 1)]
        return np.array(names, dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "features_")
        header = {"estimator": type(self).__name__, **self.config_.to_json()}
        write_model(path, {}, header | {"features": self.features_.to_json()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LabelDegreeHistogram:
        """Return the estimator that ``save`` wrote; raises ``StorageError`` for another file."""
        _, header = read_model(path, cls.__name__)
        with whole_model(path):
            config = HistogramConfig(header["seed"], header["degree_cap"])
            features = FeatureMap.from_json(header["features"])
            return cls.from_config(config)._set_fitted(config, features)

    def _set_fitted(self, config: HistogramConfig, features: FeatureMap) -> LabelDegreeHistogram:
        self.config_, self.features_ = config, features
        return self
