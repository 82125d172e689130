"""What all estimators of igsd share: graphs as input, and ``random_state``."""

from __future__ import annotations

from typing import Any

import numpy as np


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
        from sklearn.utils import check_random_state

        return int(check_random_state(random_state).randint(2**32, dtype=np.uint32))
    return random_state
