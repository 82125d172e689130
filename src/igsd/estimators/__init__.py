"""IGSD as scikit-learn estimators: vectors without labels, classes and numbers with few."""

from igsd.estimators.igsd import IGSD, IGSDClassifier, IGSDRegressor

__all__ = ["IGSD", "IGSDClassifier", "IGSDRegressor"]
