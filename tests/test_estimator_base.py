from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.estimator_base import GraphInputMixin
from igsd.estimators import IGSD


class Plain(GraphInputMixin, TransformerMixin, BaseEstimator):
    """The smallest estimator with the mixin."""


@pytest.mark.parametrize("estimator", [Plain(), IGSD(), LabelDegreeHistogram()])
def test_scikit_learn_is_told_that_graphs_come_in(estimator: BaseEstimator) -> None:
    tags = get_tags(estimator)
    assert tags.no_validation
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.string
    assert tags.transformer_tags is not None
