"""``MapNumbers``: marks of a map by number, on a scale that a grey print keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

from igsd.report.page.html import Html, tag
from igsd.report.page.marks import UNKNOWN, Style, sample

NUM_STEPS = 9
"""How many colours the scale has; the style sheet has as many."""


@dataclass(frozen=True, eq=False)
class MapNumbers:
    """``values`` [G], NaN where unknown. ``name``: what they are."""

    values: np.ndarray
    name: str
    note: str = ""

    @cached_property
    def steps(self) -> np.ndarray:
        """Steps on the scale [G], -1 where unknown: 0 for the least number, the last for the most.

        By rank, so that a few outliers do not leave one colour to all the others; equal numbers
        have equal ranks.
        """
        known, steps = ~np.isnan(self.values), np.full(len(self.values), -1)
        if known.any():
            ranks = rankdata(self.values[known])
            ranks -= ranks.min()
            shares = ranks / max(ranks.max(), 1.0)
            steps[known] = np.minimum(shares * NUM_STEPS, NUM_STEPS - 1)
        return steps

    def style(self, graph: int) -> Style:
        """Return shape and class of a graph's mark."""
        step = int(self.steps[graph])
        return UNKNOWN if step < 0 else Style(0, f"v{step}")

    def text(self, graph: int) -> str:
        """Return the number of a graph in words, empty where it is unknown."""
        value = float(self.values[graph])
        return "" if np.isnan(value) else f"{self.name} {value:.4g}"

    def legend(self, shown: np.ndarray) -> Html | None:
        """Return the scale from the least number to the most, the median, and what is unknown."""
        if np.isnan(self.values).all():
            return None
        least, most = np.nanmin(self.values), np.nanmax(self.values)
        ends = f"{self.name}, by rank: least {least:.4g} ", _strip(), f" most {most:.4g}"
        # The lower one of the two in the middle: a number that some graph has, and so a colour.
        order = np.argsort(self.values)[: int((self.steps >= 0).sum())]
        median = int(order[(len(order) - 1) // 2])
        entries = [tag("li", *ends)]
        entries.append(tag("li", sample(self.style(median)), f"median {self.values[median]:.4g}"))
        unknown = int((self.steps[shown] < 0).sum())
        if unknown:
            entries.append(tag("li", sample(UNKNOWN), f"unknown ({unknown})"))
        return tag("ul", *entries, class_="legend")


def _strip() -> Html:
    """Return the colours of the scale side by side."""
    cells = [
        tag("path", d=f"M{10 * step} 0h10v12h-10z", class_=f"v{step}") for step in range(NUM_STEPS)
    ]
    return tag(
        "svg", *cells, viewBox=f"0 0 {10 * NUM_STEPS} 12", class_="strip", aria_hidden="true"
    )
