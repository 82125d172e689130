from __future__ import annotations

from igsd.report.page.method_table import method_table
from igsd.report.page.record_groups import RecordGroup
from tests.report.page.test_method_lines import group
from tests.report.record_files import make_record


def errors(method: str, values: list[float]) -> RecordGroup:
    """Return the runs of a method for one number, with these mean absolute errors."""
    records = []
    for seed, value in enumerate(values):
        rows = [{"method": method, "protocol": "semi", "mae": value}]
        rows += [{"method": "mean", "protocol": "semi", "mae": 0.9}]
        records.append(make_record("B3DB", "molecules", seed, {}, rows=rows, method=method))
    return RecordGroup(f"semi-logBB/B3DB/{method}", tuple(records))


def test_every_figure_leads_to_its_records() -> None:
    made = method_table([group("mine<", "wl")], "about")
    link = '<td class="result"><a href="#records/nested/mine&lt;/wl">{}</a></td>'
    figures = ("55.0 ± 5.0", "5.0", "2", "2.5", "400")
    assert "".join(link.format(text) for text in figures) in made
    assert "fit a method and to represent all graphs; scoring is not in it" in made
    assert "MiB: the most memory" in made


def test_errors_of_one_number_stand_under_their_own_head() -> None:
    made = method_table([errors("gin", [0.5, 0.7]), errors("igsd-self", [0.4])], "about")
    assert "mean absolute error" in made
    assert "accuracy" not in made
    assert ">0.6000 ± 0.1000</a>" in made
    assert ">0.4000</a>" in made
    assert made.count("mean of the labelled values") == 1
    assert "to train on a split and to score it" in made
    assert "MiB: " not in made
