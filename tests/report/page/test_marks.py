from __future__ import annotations

import re

from igsd.report.page.marks import NUM_STYLES, mark


def test_a_mark_begins_at_its_place() -> None:
    assert mark(0, 3, 4, 2).startswith("M3.0 4.0m-2 0a2 2")


def test_styles_differ_and_repeat() -> None:
    assert len({mark(style, 0, 0, 1) for style in range(NUM_STYLES)}) == NUM_STYLES
    assert mark(NUM_STYLES, 0, 0, 1) == mark(0, 0, 0, 1)


def test_every_mark_is_path_data() -> None:
    for style in range(NUM_STYLES):
        assert re.fullmatch(r"[Mmlhvazc0-9. -]+", mark(style, 1, 2, 3.3))
