from __future__ import annotations

import json

import pytest

from igsd.evaluation.result import ProtocolResult


def test_figures_over_the_folds() -> None:
    result = ProtocolResult("nested", 3, (0.5, 0.7))
    assert result.mean == pytest.approx(0.6)
    assert result.std == pytest.approx(0.1)


def test_a_record_gets_plain_values() -> None:
    values = ProtocolResult("nested", 3, (0.5, 0.7), notes=("one",)).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["accuracies"] == [0.5, 0.7]
    assert (values["mean"], values["seed"], values["optimistic"]) == (pytest.approx(0.6), 3, False)
