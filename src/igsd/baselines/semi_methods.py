"""Methods that learn from few labels, by name: the rows of the paper's semi-supervised table."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from igsd.config_semi import SemiConfig, load_semi_recipe
from igsd.errors import ConfigError, nearest
from igsd.estimators.classifier import GraphClassifier
from igsd.estimators.regressor import GraphRegressor

_SELF = {"self_weight": 1.0, "supcon_weight": 0.0}
_SUPCON = {"self_weight": 0.0, "supcon_weight": 1.0}
_OFF, _ON = {"self_training": False}, {"self_training": True}


@dataclass(frozen=True)
class SemiMethod:
    """A method: what it is called in a table, where its estimators are, what makes it this row."""

    title: str
    module: str
    stem: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_for_numbers(self) -> bool:
        """Whether it is a method of its own without classes: no Eq. supcon, no pseudo-labels."""
        return not (self.settings.get("supcon_weight") or self.settings.get("self_training"))

    @property
    def classifier(self) -> type[GraphClassifier]:
        """The estimator for classes."""
        return getattr(importlib.import_module(self.module), f"{self.stem}Classifier")

    @property
    def regressor(self) -> type[GraphRegressor]:
        """The estimator for numbers."""
        return getattr(importlib.import_module(self.module), f"{self.stem}Regressor")


_IGSD = ("igsd.estimators", "IGSD")
_GIN = ("igsd.baselines.gin_supervised", "GIN")

SEMI_METHODS: dict[str, SemiMethod] = {
    "mean-teacher": SemiMethod("Mean Teachers", "igsd.baselines.mean_teacher", "MeanTeacher"),
    "infograph": SemiMethod(
        "InfoGraph (regulariser)", "igsd.baselines.infograph_regulariser", "InfoGraph"
    ),
    "infograph-star": SemiMethod("InfoGraph*", "igsd.baselines.infograph_star", "InfoGraphStar"),
    "gin": SemiMethod("GIN (supervised only)", *_GIN, _OFF),
    "igsd-self": SemiMethod("IGSD (Self-supp)", *_IGSD, _SELF | _OFF),
    "igsd-supcon": SemiMethod("IGSD (SupCon)", *_IGSD, _SUPCON | _OFF),
    "gin+self-training": SemiMethod("GIN + self-training", *_GIN, _ON),
    "igsd-self+self-training": SemiMethod("IGSD (Self-supp) + self-training", *_IGSD, _SELF | _ON),
    "igsd-supcon+self-training": SemiMethod("IGSD (SupCon) + self-training", *_IGSD, _SUPCON | _ON),
}
"""In the order of the paper's table; ``infograph`` is in its figure on molecules."""


def find_semi_method(name: str) -> SemiMethod:
    """Return the method with this name; raises ``ConfigError`` with the nearest names."""
    if name not in SEMI_METHODS:
        raise ConfigError(f"There is no method {name!r}. {nearest(name, SEMI_METHODS)}")
    return SEMI_METHODS[name]


def method_config(name: str, recipe: str, changes: Mapping[str, Any]) -> SemiConfig:
    """Return the settings of a method for classes: recipe, then its own, then ``changes``.

    Raises ``ConfigError`` for an unknown name, recipe or setting.
    """
    method = find_semi_method(name)
    config: SemiConfig = load_semi_recipe(recipe, method.classifier.config_class)
    return config.updated(method.settings).updated(changes)


def regression_config(name: str, recipe: str, changes: Mapping[str, Any]) -> SemiConfig:
    """Return the settings of a method for numbers: recipe, then ``changes``.

    The weight of Eq. InfoNCE is the recipe's. Raises ``ConfigError`` as ``method_config`` does, and
    for a method that is made of what numbers do not have, Eq. supcon or pseudo-labels.
    """
    method = find_semi_method(name)
    if not method.is_for_numbers:
        others = ", ".join(n for n, other in SEMI_METHODS.items() if other.is_for_numbers)
        raise ConfigError(
            f"The method {name!r} needs classes: Eq. supcon pulls graphs of one class together, "
            f"and self-training guesses classes. For numbers there are {others}."
        )
    config: SemiConfig = load_semi_recipe(recipe, method.regressor.config_class)
    return config.updated(changes)
