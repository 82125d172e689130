from __future__ import annotations

from igsd.report.page.other import other_section
from igsd.report.page.record_groups import RecordGroup
from tests.report.record_files import make_record


def group(data: str, name: str, **changes: object) -> RecordGroup:
    records = [
        make_record(data, "molecules", seed, {name: 0.5 + seed / 10, "majority": 0.5}, **changes)
        for seed in (0, 1)
    ]
    return RecordGroup(f"nested/{data}/{name}", tuple({**r, "method": name} for r in records))


def test_a_set_of_the_user_is_listed_with_all_its_methods() -> None:
    mine = [group("mine<", "wl", seconds={"train": 2.0, "processor": 9.0}), group("mine<", "igsd")]
    made = other_section(mine, {"nested/mine</igsd"})
    assert made is not None
    assert "mine&lt;, protocol nested" in made
    assert made.count('href="#records/nested/mine&lt;/wl"') == 2
    # The majority class is the same for both.
    assert made.count('href="#records/nested/mine&lt;/igsd"') == 1
    assert made.count("majority") == 1
    assert "<td>55.0</td><td>5.0</td>" in made
    assert "2.0 s" in made


def test_the_protocol_of_the_table_comes_first() -> None:
    record = make_record("mine", "molecules", 0, {"igsd": 0.5, "majority": 0.5})
    rows = [row | {"protocol": name} for name in ("nested", "paper") for row in record["rows"]]
    made = other_section([RecordGroup("paper/mine/molecules", (record | {"rows": rows},))], set())
    assert made is not None
    assert made.index(">igsd<") < made.index(">igsd, nested<")
    assert made.count("majority") == 1


def test_sets_of_the_paper_only_where_no_table_has_them() -> None:
    runs = [group("MUTAG", "igsd"), group("MUTAG", "own")]
    made = other_section(runs, {"nested/MUTAG/igsd"})
    assert made is not None
    assert "nested/MUTAG/own" in made
    assert "nested/MUTAG/igsd" not in made
    assert other_section(runs, {"nested/MUTAG/igsd", "nested/MUTAG/own"}) is None


def test_runs_without_a_figure_say_why() -> None:
    failed = group("mine", "wl", status="limit", word="> limit")
    made = other_section([failed], set())
    assert made is not None
    assert "&gt; limit" in made


def test_errors_of_one_number_stand_under_their_own_head() -> None:
    made = other_section([_errors("gin", [0.5, 0.7]), _errors("igsd-self", [0.4])], set())
    assert made is not None
    assert "mean absolute error" in made
    assert "accuracy %" not in made
    assert "<td>0.6000</td><td>0.1000</td><td>-</td><td>2</td>" in made
    assert "<td>0.4000</td><td>-</td><td>-</td><td>1</td>" in made


def _errors(method: str, values: list[float]) -> RecordGroup:
    records = []
    for seed, value in enumerate(values):
        rows = [{"method": method, "protocol": "semi", "mae": value}]
        rows += [{"method": "mean", "protocol": "semi", "mae": 0.9}]
        records.append(make_record("B3DB", "molecules", seed, {}, rows=rows, method=method))
    return RecordGroup(f"semi-logBB/B3DB/{method}", tuple(records))
