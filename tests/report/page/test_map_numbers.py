from __future__ import annotations

import re

import numpy as np
import pytest

from igsd.report.page.assets import asset
from igsd.report.page.map_numbers import NUM_STEPS, MapNumbers

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ([3.0, 1.0, 2.0], [8, 0, 4]),
        ([1.0, 2.0, 1e9], [0, 4, 8]),  # one outlier leaves the others their colours
        ([0.0, 0.0, 0.0, 5.0], [0, 0, 0, 8]),
        ([7.0, 7.0], [0, 0]),
        ([NAN, 1.0], [-1, 0]),
        ([NAN, NAN], [-1, -1]),
    ],
)
def test_steps(values: list[float], steps: list[int]) -> None:
    assert MapNumbers(np.array(values), "y").steps.tolist() == steps


def test_words() -> None:
    numbers = MapNumbers(np.array([0.123456, NAN]), "logBB")
    assert [numbers.text(graph) for graph in range(2)] == ["logBB 0.1235", ""]
    assert [numbers.style(graph).css for graph in range(2)] == ["v0", "unknown hollow"]


def test_the_legend_tells_least_median_most_and_unknown() -> None:
    numbers = MapNumbers(np.array([4.0, NAN, 1.0, NAN, 2.0, 9.0]), "<y>")
    legend = numbers.legend(np.array([0, 1]))
    assert legend is not None
    text = re.sub("<[^>]+>", "", legend)
    assert text == "&lt;y&gt;, by rank: least 1  most 9median 2unknown (1)"
    # The strip has all colours, the median the one of the graph that has it.
    strip = [f"v{step}" for step in range(NUM_STEPS)]
    assert re.findall(r'class="(v\d)"', legend) == [*strip, numbers.style(4).css]
    assert MapNumbers(np.array([NAN]), "y").legend(np.array([0])) is None


def test_the_scale_only_darkens_or_only_brightens() -> None:
    colours = re.findall(r"--v\d: (#\w{6});", asset("style.css"))
    light, dark = (np.array([_grey(c) for c in colours[i : i + NUM_STEPS]]) for i in (0, NUM_STEPS))
    assert len(colours) == 2 * NUM_STEPS
    assert (np.diff(light) < -4).all()
    assert (np.diff(dark) > 4).all()


def _grey(colour: str) -> float:
    """Return how bright a colour is on a grey print, 0 to 255."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue
