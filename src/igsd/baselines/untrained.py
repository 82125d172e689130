"""``untrained_encoder``: the encoder as it was drawn, before any training."""

from __future__ import annotations

from typing import Any

from igsd.config import Config
from igsd.estimators import IGSD


def untrained_encoder(config: Config, **others: Any) -> IGSD:
    """Return an ``IGSD`` with the same settings and seed that does not train: ``epochs=0``.

    A random message-passing encoder already tells many graphs apart, so a gain of training is a
    gain over this. ``others``: parameters of ``IGSD`` that are no settings, e.g. ``verbose``.
    """
    return IGSD.from_config(config.updated({"epochs": 0}), **others)
