from __future__ import annotations

from igsd.wording import counted, enumerated


def test_one_and_many() -> None:
    assert counted(1, "graph") == "1 graph"
    assert counted(0, "graph") == "0 graphs"
    assert counted(2, "class", "classes") == "2 classes"


def test_long_lists_are_cut() -> None:
    assert enumerated([3, 17]) == "3, 17"
    assert enumerated(list("abcdefg"), most=3) == "a, b, c and 4 more"
