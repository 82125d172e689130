"""What all estimators of igsd share: graphs as input, settings as parameters, ``random_state``."""

from __future__ import annotations

import re
from typing import Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from igsd.errors import ParameterError
from igsd.settings import Settings

C = TypeVar("C", bound=Settings)


class GraphInputMixin:
    """Marks an estimator whose input is graphs and not a table of numbers.

    It stands before scikit-learn's own mixins: ``class X(GraphInputMixin, TransformerMixin,
    BaseEstimator)``.
    """

    def __sklearn_tags__(self) -> Any:
        """Return the tags: graphs or strings come in, and igsd itself checks them."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        return tags


class ConfiguredEstimator(GraphInputMixin, TransformerMixin, BaseEstimator, Generic[C]):
    """Base of estimators whose parameters are the settings of ``config_class``.

    Learned: ``config_``, the settings of ``fit``, and ``n_features_out_``, the width of a vector.
    """

    config_class: type[C]
    config_: C

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: C, **others: Any) -> Self:
        """Return an unfitted estimator with these settings; ``others`` are no settings."""
        settings = config.to_json()
        return cls(random_state=settings.pop("seed"), **settings, **others)

    def config(self) -> C:
        """Return the settings, checked; raises ``ConfigError`` for one outside its rule.

        Where ``random_state`` is no number, the seed is the one that ``fit`` drew, 0 before it.
        """
        seed = self.get_params(deep=False)["random_state"]
        if is_drawn(seed):
            seed = self.config_.seed if hasattr(self, "config_") else self.config_class.seed
        return self._config_with(seed)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: the method and a number, igsd0, igsd1, ..."""
        check_is_fitted(self, "config_")
        method = re.sub("(classifier|regressor|kernel)$", "", type(self).__name__.lower())
        return np.array([f"{method}{i}" for i in range(self.n_features_out_)], dtype=object)

    def _config_of_fit(self) -> C:
        """Return the settings with the seed that ``random_state`` gives a new fit."""
        return self._config_with(draw_seed(self.get_params(deep=False)["random_state"]))

    def _config_with(self, seed: Any) -> C:
        given = self._given_settings() | {"seed": seed}
        try:
            return self.config_class(**given)
        except ParameterError as error:
            raise error.of_estimator(type(self).__name__) from error

    def _given_settings(self) -> dict[str, Any]:
        """Return the parameters that are settings, as they stand now."""
        given = self.get_params(deep=False)
        names = {entry.name for entry in self.config_class.settings()}
        return {name: value for name, value in given.items() if name in names}


def is_drawn(random_state: Any) -> bool:
    """Say whether a ``random_state`` is a source of seeds (None too) and not a seed itself."""
    return random_state is None or isinstance(
        random_state, np.random.RandomState | np.random.Generator
    )


def draw_seed(random_state: Any) -> Any:
    """Return the seed that ``random_state`` stands for, as scikit-learn understands it.

    A number is its own seed. None, a ``RandomState`` and a ``Generator`` give a new one each time;
    None draws from NumPy's global state.
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if is_drawn(random_state):
        return int(check_random_state(random_state).randint(2**32, dtype=np.uint32))
    return random_state
