"""``MajorityClass``: the reference that looks at no graph."""

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings


@settings_as_parameters(Settings)
class MajorityClass(ShallowEstimator):
    """Vectors without a column: every protocol scores them as the largest class, or as the mean.

    A method that is not better than this has learned nothing.
    """

    n_features_out_ = 0

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        return np.zeros((len(graphs), 0), np.float32)
