from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd.baselines.setting_rules import Rule, check_settings
from igsd.errors import ConfigError

WHOLE = Rule(int, minimum=1, maximum=9)
SHARE = Rule(float, above=0.0, maximum=1.0)
WORD = Rule(str, words=("sum", "mean"))


@pytest.mark.parametrize(
    ("rule", "good", "bad", "words"),
    [
        (
            WHOLE,
            [1, 9, np.int64(4)],
            [0, 10, 1.0, True, "1", None],
            "a whole number from 1 up to 9",
        ),
        (
            SHARE,
            [1, 0.5, np.float32(0.1)],
            [0, 1.1, float("nan"), None],
            "a number above 0 up to 1",
        ),
        (Rule(bool), [True, np.False_], [0, 1, "yes", None], "True or False"),
        (WORD, ["sum"], ["Sum", 3, None], "one of 'sum', 'mean'"),
        (Rule(int, minimum=0, none=True), [None, 0], [-1], "a whole number from 0 or None"),
    ],
)
def test_rules(rule: Rule, good: list[Any], bad: list[Any], words: str) -> None:
    assert rule.describe() == words
    assert all(rule.accepts(value) for value in good)
    assert not any(rule.accepts(value) for value in bad)


def test_values_become_plain_ones() -> None:
    plain = check_settings("X", {"n": np.int64(3), "other": 1}, {"n": WHOLE})
    assert plain == {"n": 3, "other": 1}
    assert type(plain["n"]) is int


def test_the_message_names_everything() -> None:
    with pytest.raises(
        ConfigError, match=r"'how' parameter of X must be one of 'sum', 'mean'."
    ) as e:
        check_settings("X", {"how": "meen"}, {"how": WORD})
    assert "Got 'meen' instead. Did you mean 'mean'" in str(e.value)
