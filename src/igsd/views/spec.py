"""``ViewSpec``: which view of a graph is wanted, as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from igsd.errors import ConfigError, nearest

KINDS = ("ppr", "heat", "edge-drop")
DIFFUSION_KINDS = ("ppr", "heat")


@dataclass(frozen=True)
class ViewSpec:
    """The settings of one view.

    ``kind``: "ppr" or "heat" (Eq. diffusion), or "edge-drop" (random edge removal, drawn anew in
    every epoch). ``teleport``: alpha of PPR. ``heat_time``: t of the heat kernel. ``threshold``:
    entries below it are dropped. ``top_k``: where given, takes the place of the threshold: an entry
    stays if it is among the k largest of its row or of its column. ``drop_rate``: the share of
    edges that edge removal takes away. ``exact_limit``: graphs with more nodes than this are
    diffused by a truncated series. ``tolerance``: bound on the error of an entry in that series.

    Raises ``ConfigError`` for a value outside its range.
    """

    kind: str = "ppr"
    teleport: float = 0.2
    heat_time: float = 5.0
    threshold: float = 1e-3
    top_k: int | None = None
    drop_rate: float = 0.2
    exact_limit: int = 2000
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(
                f"The 'kind' parameter of ViewSpec must be one of {', '.join(KINDS)}. "
                f"Got {self.kind!r} instead. {nearest(str(self.kind), KINDS)}"
            )
        _check("teleport", self.teleport, "in (0, 1)", lambda x: 0 < x < 1)
        _check("heat_time", self.heat_time, "above 0 and finite", lambda x: 0 < x < math.inf)
        _check("threshold", self.threshold, "in [0, 1)", lambda x: 0 <= x < 1)
        _check("drop_rate", self.drop_rate, "in [0, 1)", lambda x: 0 <= x < 1)
        _check("tolerance", self.tolerance, "in (0, 1)", lambda x: 0 < x < 1)
        _check_count("exact_limit", self.exact_limit, 0, "a whole number from 0 up")
        if self.top_k is not None:
            _check_count("top_k", self.top_k, 1, "None or a whole number from 1 up")

    @property
    def is_diffusion(self) -> bool:
        """Whether the view is a fixed diffusion matrix, and not drawn at random."""
        return self.kind in DIFFUSION_KINDS

    def relevant(self) -> dict[str, Any]:
        """Return the settings that the view's numbers depend on, by name.

        Two specs with equal ``relevant()`` give the same view, so this is what a cache goes by.
        """
        if self.kind == "edge-drop":
            return {"kind": self.kind, "drop_rate": float(self.drop_rate)}
        own = "teleport" if self.kind == "ppr" else "heat_time"
        rule = "threshold" if self.top_k is None else "top_k"
        values = {own: float(getattr(self, own)), rule: getattr(self, rule)}
        series = {"exact_limit": int(self.exact_limit), "tolerance": float(self.tolerance)}
        return {"kind": self.kind} | values | series


def _check(name: str, value: Any, rule: str, holds: Callable[[float], bool]) -> None:
    """Raise ``ConfigError`` unless ``value`` is a number for which ``holds`` is true."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not holds(value):
        raise ConfigError(
            f"The {name!r} parameter of ViewSpec must be {rule}. Got {value!r} instead."
        )


def _check_count(name: str, value: Any, least: int, rule: str) -> None:
    """Raise ``ConfigError`` unless ``value`` is a whole number of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(
            f"The {name!r} parameter of ViewSpec must be {rule}. Got {value!r} instead."
        )
