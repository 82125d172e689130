"""``LabelDegreeHistogram``: graphs as counts of node labels and of degrees, nothing learned."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.batches.features import FeatureMap
from igsd.batches.unseen import warn_of_unseen_labels
from igsd.estimators.base import settings_as_parameters
from igsd.evaluation.heads import HEAD_NAMES
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, setting


class HistogramConfig(Settings):
    """The settings of the histogram."""

    degree_cap: int = setting(64, "method", "larger degrees share one column", low=1, high=100_000)
    head: str = setting(
        "auto", "method", "model that predicts from the vectors", choices=HEAD_NAMES
    )


@settings_as_parameters(HistogramConfig)
class LabelDegreeHistogram(ShallowEstimator):
    """Counts how often each node label and each degree occurs in a graph.

    The counts of labels (if there are any) and of degrees stand side by side. ``fit`` learns the
    labels and the largest degree; degrees from ``degree_cap`` on share a column, and a label that
    ``fit`` has not seen is not counted, with a warning. Accepts the same graphs as ``igsd.IGSD``.
    Learned: ``features_`` (the ``FeatureMap``), ``config_``, ``n_features_out_``.
    """

    @property
    def features_(self) -> FeatureMap:
        """The labels and degrees that are columns."""
        return FeatureMap.from_json(self.state_["features"])

    def _fit(self, graphs: GraphSet) -> None:
        parts = "degree" if graphs.node_labels is None else "label+degree"
        features = FeatureMap.fit(graphs, parts, self.config_.degree_cap)
        self.state_["features"] = features.to_json()

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        features = self.features_
        warn_of_unseen_labels(features, graphs)
        codes, width = features.transform(graphs).codes, features.dim
        cells = graphs.graph_of_node()[:, None] * width + codes
        counts = np.bincount(cells[codes >= 0], minlength=len(graphs) * width)
        return counts.reshape(len(graphs), width)

    @property
    def n_features_out_(self) -> int:
        """The number of labels and degrees."""
        return self.features_.dim

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: ``label C``, ..., ``degree 0``, ..."""
        check_is_fitted(self, "config_")
        features = self.features_
        names = [f"label {name}" for name in features.label_names]
        names += [f"degree {number}" for number in range(features.degree_cap + 1)]
        return np.array(names, dtype=object)

    @classmethod
    def _stored(cls, header: Mapping[str, Any]) -> Mapping[str, Any]:
        if "settings" in header:
            return header
        # An older format has settings and columns at the top of the header.
        settings = {"random_state": header["seed"], "degree_cap": header["degree_cap"]}
        return {"settings": settings, "state": {"features": header["features"]}, "notes": []}
