"""``LearnedConfig``: the settings that learned baselines share with IGSD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from igsd.config import Config, group_settings, load_recipe
from igsd.settings import setting
from igsd.settings_text import read_recipe


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


C = TypeVar("C", bound=LearnedConfig)

SHARED = group_settings("run", "features", "encoder") - {"seed"}
"""What a recipe of IGSD says of the data, and so to every method."""


def learned_recipe(name: str, config_class: type[C]) -> C:
    """Return a method's configuration with what an IGSD recipe says of nodes, encoder and run.

    A setting that the method's own configuration gives a value keeps it, e.g. MVGRL's few epochs:
    it was chosen for the method, the recipe's was chosen for IGSD. Raises ``ConfigError`` for an
    unknown recipe.
    """
    load_recipe(name)  # checks every key
    kinds = [kind for kind in config_class.__mro__ if kind not in LearnedConfig.__mro__]
    own = {key for kind in kinds for key in vars(kind).get("__annotations__", {})}
    known = {entry.name for entry in config_class.settings()} & SHARED - own
    return config_class().updated({k: v for k, v in read_recipe(name).items() if k in known})
