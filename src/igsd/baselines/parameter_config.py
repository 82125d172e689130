"""``ParameterConfig``: the settings of methods without a network, as ``Config`` of the others."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from igsd.baselines.setting_rules import Rule, check_settings
from igsd.config import check_setting
from igsd.errors import ConfigError, nearest

_SEED = Rule(int, minimum=0, maximum=2**32 - 1)


@dataclass(frozen=True)
class ParameterConfig:
    """The parameters of an estimator, checked, with ``seed`` in place of ``random_state``.

    It does for methods without a network what ``Config`` does for the others: it goes into records
    and run folders, and says whether two runs are the same. A method that draws nothing has a seed
    too: it is the seed of its folds.
    """

    owner: str
    values: Mapping[str, Any]
    rules: Mapping[str, Rule]
    defaults: Mapping[str, Any]

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the defaults of an estimator's class."""
        parameters = inspect.signature(estimator.__init__).parameters.values()
        values = {p.name: p.default for p in parameters if p.name not in ("self", "random_state")}
        values = {"seed": 0} | values
        return cls(estimator.__name__, values, getattr(estimator, "RULES", {}), values)

    def unchanged(self) -> Self:
        """Return the defaults of the same method."""
        return replace(self, values=self.defaults)

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some settings changed; raises ``ConfigError`` for a wrong one."""
        for key in changes:
            if key not in self.values:
                raise ConfigError(f"There is no setting {key!r}. {nearest(key, self.values)}")
        values = {**self.values, **changes}
        rules = {**self.rules, "seed": _SEED}
        checked = check_settings(self.owner, values, rules)
        for key in checked.keys() - rules.keys():
            # What has no rule here is a setting of IGSD under the same name.
            checked[key] = check_setting(key, values[key], self.owner)
        return replace(self, values=checked)

    def learned(self) -> dict[str, Any]:
        """Return the settings that decide which numbers come out: all of them."""
        return self.to_json()

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return dict(self.values)

    def to_toml(self) -> str:
        """Return the settings as a TOML text, each with its rule."""
        lines = [f"# {self.owner}"]
        for key, value in self.values.items():
            rule = self.rules.get(key)
            told = f"  # {rule.describe()}" if rule else ""
            lines.append(f"{key} = {json.dumps(value)}{told}")
        return "\n".join(lines) + "\n"

    @property
    def seed(self) -> int:
        """The seed of the method, where it draws anything, and of its folds."""
        return int(self.values["seed"])
