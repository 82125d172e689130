"""``untrained_twin``: a network as it was drawn, before any training."""

from __future__ import annotations

from typing import Any


def untrained_twin(estimator: Any) -> Any:
    """Return an unfitted estimator with the same settings and seed that does not train.

    A random message-passing encoder already tells many graphs apart, so a gain of training is a
    gain over this. ``estimator``: of a method that trains a network for some ``epochs``.
    """
    return type(estimator).from_config(estimator.config().updated({"epochs": 0}))
