"""``LearnedConfig``: the settings that learned baselines share with IGSD."""

from __future__ import annotations

import tomllib
from dataclasses import Field, dataclass, fields
from importlib import resources
from typing import Any, ClassVar, TypeVar

from igsd.config import Config, load_recipe, setting


def group_settings(*groups: str) -> frozenset[str]:
    """Return the settings of ``Config`` that stand in these groups."""
    return frozenset(entry.name for entry in fields(Config) if entry.metadata["group"] in groups)


@dataclass(frozen=True)
class LearnedConfig(Config):
    """The settings of a learned baseline. Raises ``ConfigError`` for a value outside its rule.

    A method names the settings of ``Config`` that it has no use for in ``leaves_out``, and adds its
    own. Baselines train in one process: their losses compare the graphs of one batch.
    """

    leaves_out: ClassVar[frozenset[str]] = frozenset(
        {"devices", "num_views", "edge_hidden_dim", "distance_bins", "set2set_steps"}
    )

    view: str = setting("ppr", "view", "kind of view", choices=("ppr", "heat", "edge-drop"))
    encoder: str = setting("gin", "encoder", "kind of layer", choices=("gin", "gcn"))

    @classmethod
    def settings(cls) -> list[Field[Any]]:
        """Return the settings that this method uses, each with its rule as ``metadata``."""
        return [entry for entry in fields(cls) if entry.name not in cls.leaves_out]


C = TypeVar("C", bound=LearnedConfig)

SHARED = group_settings("run", "features", "encoder") - {"seed"}
"""What a recipe of IGSD says of the data, and so to every method."""


def learned_recipe(name: str, config_class: type[C]) -> C:
    """Return a method's configuration with what an IGSD recipe says of nodes, encoder and run.

    A setting that the method's own configuration gives a value keeps it, e.g. MVGRL's few epochs:
    it was chosen for the method, the recipe's was chosen for IGSD. Raises ``ConfigError`` for an
    unknown recipe.
    """
    load_recipe(name)  # checks the name and every key
    text = (resources.files("igsd.recipes") / f"{name}.toml").read_text()
    kinds = [kind for kind in config_class.__mro__ if kind not in LearnedConfig.__mro__]
    own = {key for kind in kinds for key in vars(kind).get("__annotations__", {})}
    known = {entry.name for entry in config_class.settings()} & SHARED - own
    return config_class().updated({k: v for k, v in tomllib.loads(text).items() if k in known})
