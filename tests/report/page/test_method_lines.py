from __future__ import annotations

from igsd.report.page.method_lines import method_lines
from igsd.report.page.record_groups import RecordGroup
from tests.report.record_files import make_record

COSTS = {"seconds": {"train": 2.0, "embed": 0.5, "evaluate": 90.0}, "peak_memory_mib": 400.4}


def group(data: str, name: str, place: str | None = None, **changes: object) -> RecordGroup:
    """Return the runs of a method with two seeds, 50 and 60 %, the majority class at 50 %."""
    failed = changes.get("status", "ok") != "ok"
    scores = [{name: 0.5 + seed / 10, "majority": 0.5} for seed in (0, 1)]
    values: dict[str, object] = {"method": name} | COSTS | changes
    records = [
        make_record(data, "molecules", seed, {} if failed else scores[seed], **values)
        for seed in (0, 1)
    ]
    return RecordGroup(place or f"nested/{data}/{name}", tuple(records))


def recipe(name: str, untrained: float) -> RecordGroup:
    """Return the run of a recipe with its floors."""
    scores = {"igsd": 0.8, "untrained": untrained, "histogram": 0.6, "majority": 0.5}
    return RecordGroup(f"nested/mine/{name}", (make_record("mine", name, 0, scores),))


def test_a_method_has_figures_and_costs_and_the_majority_stands_once() -> None:
    wl, histogram, majority = method_lines([group("mine", "wl"), group("mine", "histogram")])
    assert (wl.title, wl.place) == ("WL subtree", "nested/mine/wl")
    assert wl.figures == ("55.0 ± 5.0", "5.0", "2")
    assert wl.costs == ("2.5", "400")  # without scoring
    assert histogram.title == "label and degree histogram"
    assert (majority.title, majority.costs) == ("majority class", ("", ""))


def test_floors_stand_once_unless_they_differ() -> None:
    lines = method_lines([recipe("molecules", 0.7), recipe("social", 0.75)])
    assert [line.title for line in lines] == [
        "IGSD, recipe molecules",
        "IGSD, recipe social",
        "untrained encoder",
        "label and degree histogram",
        "untrained encoder, beside IGSD, recipe social",
        "majority class",
    ]


def test_the_protocol_of_the_folder_comes_first() -> None:
    record = make_record("mine", "molecules", 0, {"igsd": 0.5, "majority": 0.5})
    rows = [row | {"protocol": name} for name in ("nested", "paper") for row in record["rows"]]
    lines = method_lines([RecordGroup("paper/mine/molecules", (record | {"rows": rows},))])
    first = "IGSD, recipe molecules"
    assert [line.title for line in lines] == [first, f"{first}, nested", "majority class"]


def test_runs_without_a_figure_say_why() -> None:
    (line,) = method_lines([group("mine", "wl", status="limit", word="> limit")])
    assert line.figures == ("> limit", "-", "-")


def test_stale_runs_say_so() -> None:
    assert method_lines([group("mine", "wl", algorithm=-1)])[0].title == "WL subtree (stale)"
