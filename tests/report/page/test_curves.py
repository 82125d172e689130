from __future__ import annotations

import math

from igsd.report.page.curves import history_charts, pseudo_label_charts


def test_a_chart_for_each_value_that_was_noted() -> None:
    history = [
        {"epoch": 0.0, "total": 2.0, "eval_accuracy": 0.5},
        {"epoch": 1.0, "total": math.nan, "eval_accuracy": 0.75},
    ]
    made = history_charts({"seed 0": history, "seed 1": history[:1]})
    assert made is not None
    assert made.count("<figure>") == 2
    assert "seed 0, 2: 75" in made
    assert "nan" not in made


def test_no_history() -> None:
    assert history_charts({"seed 0": []}) is None


def test_pseudo_labels_add_up() -> None:
    rounds = {"rounds": [1, 2], "given": [4, 6], "right": [4, 1]}
    made = pseudo_label_charts({"a": rounds})
    assert made is not None
    assert "a, 2: 10" in made
    assert "a, 2: 50" in made
    assert pseudo_label_charts({"a": {"rounds": []}}) is None


def test_only_those_that_can_be_checked_count_as_right() -> None:
    rounds = {"rounds": [1], "given": [4], "checked": [2], "right": [1]}
    made = pseudo_label_charts({"a": rounds})
    assert made is not None
    assert "a, 1: 50" in made


def test_no_chart_of_right_ones_where_none_can_be_checked() -> None:
    made = pseudo_label_charts({"a": {"rounds": [1], "given": [4], "checked": [0], "right": [0]}})
    assert made is not None
    assert made.count("<figure>") == 1
    assert "nothing to draw" not in made
