"""The method as scikit-learn estimators: vectors without labels, classes and values with few."""

from igsd.estimators.classifier import IGSDClassifier
from igsd.estimators.igsd import IGSD
from igsd.estimators.regressor import IGSDRegressor

__all__ = ["IGSD", "IGSDClassifier", "IGSDRegressor"]
