from __future__ import annotations

import numpy as np

from igsd.report.page.map_plot import map_plot
from igsd.report.page.marks import Style
from igsd.report.page.projection import Projection


def test_marks_lie_inside_the_frame_with_y_upwards() -> None:
    points = np.array([[0.0, 0.0], [1.0, 10.0]])
    drawn = map_plot(Projection(points, "<x>", "y"), [Style(0, "s0"), Style(1, "s1")])
    assert 'd="M16.0 504.0' in drawn
    assert 'd="M504.0 16.0' in drawn
    assert "&lt;x&gt;" in drawn
