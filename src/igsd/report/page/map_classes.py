"""``MapClasses``: marks of a map by class, a shape and a colour each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from igsd.report.page.html import Html, tag
from igsd.report.page.marks import NUM_STYLES, UNKNOWN, Style, sample
from igsd.wording import counted

_MOST_CLASSES = 20


@dataclass(frozen=True, eq=False)
class MapClasses:
    """``codes`` [G] into ``names``, -1 where unknown."""

    codes: np.ndarray
    names: Sequence[str]
    note: str = ""

    def style(self, graph: int) -> Style:
        """Return shape and class of a graph's mark."""
        return _style(int(self.codes[graph]))

    def text(self, graph: int) -> str:
        """Return the class of a graph in words, empty where it is unknown."""
        code = int(self.codes[graph])
        return f"class {self.names[code]}" if code >= 0 else ""

    def legend(self, shown: np.ndarray) -> Html | None:
        """Return the marks of the classes with how many of the graphs ``shown`` each has."""
        codes = np.asarray(self.codes)[shown]
        present = [code for code in range(len(self.names)) if (codes == code).any()]
        if not present:
            return None
        entries = []
        for code in [*present[:_MOST_CLASSES], *([-1] if (codes < 0).any() else [])]:
            name = "unknown" if code < 0 else f"class {self.names[code]}"
            count = int((codes == code).sum())
            entries.append(tag("li", sample(_style(code)), f"{name} ({count})"))
        more = len(present) - _MOST_CLASSES
        if more > 0:
            entries.append(tag("li", f"and {counted(more, 'more class', 'more classes')}"))
        return tag("ul", *entries, class_="legend")


def _style(code: int) -> Style:
    return UNKNOWN if code < 0 else Style(code, f"s{code % NUM_STYLES}")
