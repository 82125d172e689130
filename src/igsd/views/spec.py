"""``ViewSpec``: which view of a graph is wanted, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from igsd.config import Config, check_setting
from igsd.errors import ParameterError, nearest

KINDS: tuple[str, ...] = Config.__dataclass_fields__["view"].metadata["choices"]
DIFFUSION_KINDS = ("ppr", "heat")


@dataclass(frozen=True)
class ViewSpec:
    """The settings of one view.

    ``kind``: "ppr" or "heat" (Eq. diffusion), "edge-drop" (random edge removal, drawn anew in
    every epoch), or "bond-types" (a PPR for each of the ``num_views`` commonest kinds of bonds).
    ``teleport``: alpha of PPR. ``heat_time``: t of the heat kernel. ``threshold``: entries below it
    are dropped. ``top_k``: where given, takes the place of the threshold: an entry stays if it is
    among the k largest of its row or of its column. ``drop_rate``: the share of edges that edge
    removal takes away. ``exact_limit``: graphs with more nodes than this are diffused by a
    truncated series. ``tolerance``: bound on the error of an entry in that series.

    Defaults and ranges are those of ``Config``. Raises ``ConfigError`` for a value outside them.
    """

    kind: str = Config.view
    teleport: float = Config.teleport
    heat_time: float = Config.heat_time
    threshold: float = Config.threshold
    top_k: int | None = None
    drop_rate: float = Config.drop_rate
    exact_limit: int = Config.exact_limit
    tolerance: float = 1e-6
    num_views: int = Config.num_views

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            hint = nearest(str(self.kind), KINDS)
            raise _broken("kind", f"one of {', '.join(KINDS)}", self.kind, f" {hint}")
        for name in ("teleport", "heat_time", "threshold", "drop_rate", "exact_limit", "num_views"):
            check_setting(name, getattr(self, name), "ViewSpec")
        if not isinstance(self.tolerance, float) or not 0 < self.tolerance < 1:
            raise _broken("tolerance", "greater than 0 and less than 1", self.tolerance)
        # In Config 0 stands for "off", since TOML has no None; here it would drop every entry.
        top_k = self.top_k
        if top_k is not None and (type(top_k) is not int or top_k < 1):
            raise _broken("top_k", "None or a whole number, at least 1", top_k)

    @property
    def is_diffusion(self) -> bool:
        """Whether the view is a single diffusion matrix of the whole graph (``diffusion_view``)."""
        return self.kind in DIFFUSION_KINDS

    def relevant(self) -> dict[str, Any]:
        """Return the settings that the view's numbers depend on, by name.

        Two specs with equal ``relevant()`` give the same view, so this is what a cache goes by.
        """
        if self.kind == "edge-drop":
            return {"kind": self.kind, "drop_rate": float(self.drop_rate)}
        own = "heat_time" if self.kind == "heat" else "teleport"
        rule = "threshold" if self.top_k is None else "top_k"
        values = {own: float(getattr(self, own)), rule: getattr(self, rule)}
        series = {"exact_limit": int(self.exact_limit), "tolerance": float(self.tolerance)}
        views = {"num_views": self.num_views} if self.kind == "bond-types" else {}
        return {"kind": self.kind} | values | series | views


def _broken(name: str, rule: str, value: Any, hint: str = "") -> ParameterError:
    return ParameterError(name, "ViewSpec", f"must be {rule}. Got {value!r} instead.{hint}")
