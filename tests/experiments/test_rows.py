from __future__ import annotations

import numpy as np

from igsd.evaluation.result import ProtocolResult
from igsd.experiments.rows import Row, make_rows, result_from_dict, rows_to_dict

A = ProtocolResult("nested", 0, (0.5, 0.7), C=(1.0, 10.0), notes=("n",))
B = ProtocolResult("nested", 1, (0.9, 0.9))


def test_means_and_both_deviations() -> None:
    row = Row("igsd", "nested", (A, B))
    assert row.mean == np.mean([0.6, 0.9])
    assert row.std_over_seeds == np.std([0.6, 0.9])
    assert row.std_over_folds == np.std([0.5, 0.7, 0.9, 0.9])


def test_one_seed_has_no_deviation_over_seeds() -> None:
    row = Row("igsd", "nested", (A,))
    assert (row.mean, row.std_over_seeds, row.std_over_folds) == (A.mean, None, A.std)


def test_the_four_rows_come_last_and_in_order() -> None:
    seed = [("majority", A), ("igsd", A), ("igsd, twins removed", A), ("histogram", A)]
    rows = make_rows([seed, seed], "nested")
    names = ["igsd, twins removed", "igsd", "untrained", "histogram", "majority"]
    assert [row.method for row in rows] == names
    assert [len(row.results) for row in rows] == [2, 2, 0, 2, 2]
    assert rows[2].mean is None


def test_another_method_stands_in_the_place_of_igsd() -> None:
    rows = make_rows([[("histogram", A), ("wl", A), ("majority", A)]], "nested")
    assert [row.method for row in rows] == ["wl", "untrained", "histogram", "majority"]


def test_only_the_protocol_asked_for() -> None:
    other = ProtocolResult("paper", 0, (1.0,), optimistic=True)
    rows = make_rows([[("igsd", A), ("igsd", other)]], "paper")
    assert rows[0].mean == 1.0
    table = rows_to_dict(rows, make_rows([[("igsd", A), ("igsd", other)]], "nested"))
    assert table["rows"][0]["optimistic"]
    assert table["beside"][0]["mean"] == A.mean
    assert list(table) == ["protocol", "beside", "rows"]


def test_results_come_back_from_plain_values() -> None:
    assert result_from_dict(A.to_dict() | {"method": "igsd"}) == A
