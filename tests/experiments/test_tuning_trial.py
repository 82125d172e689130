from __future__ import annotations

from igsd.experiments.tuning_trial import Trial, ranked


def test_best_first_and_earlier_first() -> None:
    scores = [0.5, None, 0.75, 0.75]
    trials = [Trial(number, {}, score, 0.0) for number, score in enumerate(scores)]
    assert [trial.number for trial in ranked(reversed(trials))] == [2, 3, 0]


def test_settings_as_a_command_line_takes_them() -> None:
    assert Trial(0, {"epochs": 20, "view": "ppr"}, 0.5, 1.0).in_words() == "epochs=20 view=ppr"
