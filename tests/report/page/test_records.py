from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.experiments.exhibits import Axis, exhibit_names, read_exhibit
from igsd.report.page.document import make_page
from igsd.report.page.records import (
    compare_groups,
    own_section,
    record_section,
    shared_and_own,
    table_section,
)
from igsd.report.records import RecordFolder, RecordGroup
from igsd.report.summary import METRICS, Cell
from igsd.report.tables import Column, Row, Table, fill
from tests.report.record_files import half_of_table_3, make_record, write

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
    """Return the run of a recipe with its reference rows."""
    scores = {"igsd": 0.8, "untrained": untrained, "histogram": 0.6, "majority": 0.5}
    return RecordGroup(f"nested/mine/{name}", (make_record("mine", name, 0, scores),))


def errors(method: str, values: list[float]) -> RecordGroup:
    """Return the runs of a method for one number, with these mean absolute errors."""
    records = []
    for seed, value in enumerate(values):
        rows = [{"method": method, "protocol": "semi", "mae": value}]
        rows += [{"method": "mean", "protocol": "semi", "mae": 0.9}]
        records.append(make_record("B3DB", "molecules", seed, {}, rows=rows, method=method))
    return RecordGroup(f"semi-logBB/B3DB/{method}", tuple(records))


def titles(*groups: RecordGroup) -> list[str]:
    return [line.title for line in compare_groups("mine", groups).lines]


def make_figure(*x: str | int, log: bool = False) -> Table:
    cell = Cell(folds={0: [0.69], 1: [0.71]}, records=("p/d/r/seed-0.json",))
    rows = (Row("IGSD", (cell,) * len(x), method="igsd"),)
    columns = tuple(Column(str(value)) for value in x)
    about: dict[str, Any] = {"name": "f", "about": "about", "source": "source"}
    return Table("F", columns, rows, axis=Axis("size", "size", x, log), **about)


def test_a_figure_and_its_table_link_to_the_records() -> None:
    made = table_section(make_figure(16, 32, log=True))
    assert made.count('href="#records/p/d/r"') == 4
    assert "IGSD, 32: 70 ± 1" in made
    assert "70.0 ± 1.0" in made
    named = table_section(make_figure("mu", "<gap>"))
    assert "IGSD, mu: 70 ± 1" in named
    assert "<gap>" not in named


def test_what_the_bars_and_the_line_are() -> None:
    assert "Bars: one standard deviation.</p>" in table_section(make_figure("mu"))
    one_seed = Cell(folds={0: [0.9]}, metric=METRICS["ratio"])
    rows = tuple(Row(name, (one_seed,), method=name) for name in ("supervised", "igsd"))
    made = table_section(replace(make_figure("mu"), rows=rows, baseline="supervised"))
    assert "Points without a bar are of one seed, which has no deviation." in made
    assert "The line at 1: supervised." in made
    assert made.count("<title>") == 1  # the line stands for the other


def test_a_table_names_what_was_not_run() -> None:
    rows = (Row("a", (Cell(folds={0: [0.9]}),)), Row("b", (Cell("not run", "not run"),)))
    about: dict[str, Any] = {"name": "t", "about": "about", "source": "source"}
    made = table_section(Table("T", (Column("MUTAG"),), rows, **about))
    assert made.startswith('<section id="t"><h2>T</h2><p>about</p>')
    assert "Not run: b. <code>igsd reproduce t</code>" in made
    assert made.endswith('<p class="source">source.</p></section>')


def test_reference_rows_stand_once_unless_they_differ() -> None:
    assert titles(group("mine", "wl"), group("mine", "histogram")) == [
        "WL subtree",
        "label and degree histogram",
        "majority class",
    ]
    assert titles(recipe("molecules", 0.7), recipe("social", 0.75)) == [
        "IGSD, recipe molecules",
        "IGSD, recipe social",
        "untrained encoder",
        "label and degree histogram",
        "untrained encoder, beside IGSD, recipe social",
        "majority class",
    ]
    assert titles(group("mine", "wl", algorithm=-1))[0] == "WL subtree (stale)"


def test_both_protocols_of_a_folder_are_columns() -> None:
    record = make_record("mine", "molecules", 0, {"igsd": 0.5, "majority": 0.5})
    rows = [row | {"protocol": name} for name in ("nested", "paper") for row in record["rows"]]
    runs = RecordGroup("paper/mine/molecules", (record | {"rows": rows},))
    columns = [column.title for column in compare_groups("mine", [runs]).table().columns]
    assert columns[:2] == ["nested %", "paper % (optimistic)"]


def test_the_comparison_is_that_of_the_records() -> None:
    failed = group("mine", "gcc", status="failed", error="broken")
    comparison = compare_groups("mine", [group("mine", "wl"), failed])
    assert [cell.text for cell in comparison.cells] == ["55.0 ± 5.0", "failed", "50.0 ± 0.0"]
    assert (comparison.cells[0].seconds, comparison.cells[0].peak) == (2.5, 400.4)
    assert (comparison.cells[2].seconds, comparison.title[-7:]) == (None, "2 seeds")


def test_a_data_set_has_a_table_and_a_plot() -> None:
    made = own_section("mine<", [group("mine<", "wl"), group("mine<", "histogram")], "data-1")
    assert made.startswith('<section id="data-1"><h2>mine&lt;, protocol nested, 2 seeds</h2>')
    assert made.count("<svg") == 1
    # In the table and in the plot.
    assert made.count(">WL subtree<") == 2
    # Its own result, and that of the majority class.
    assert made.count('href="#records/nested/mine&lt;/wl"') == 2
    assert "fit a method and to represent all graphs, without scoring" in made
    assert "Peak MiB: the most memory" in made
    assert "the paper" not in made
    in_order = own_section("mine", [group("mine", "gcc"), group("mine", "igsd")], "data-1")
    assert in_order.index(">IGSD<") < in_order.index(">GCC<")


def test_protocols_stand_one_after_the_other() -> None:
    runs = [group("mine", "wl"), group("mine", "wl", place="gckn/mine/wl", protocol="gckn")]
    made = own_section("mine", runs, "data-1")
    assert made.index("Protocol nested") < made.index("Protocol gckn")
    assert made.count("<svg") == 2


def test_without_results_there_is_no_plot() -> None:
    made = own_section("mine", [group("mine", "wl", status="limit", word="OMR")], "data-1")
    assert "<svg" not in made
    assert "OMR" in made


def test_errors_of_one_number_stand_under_their_own_title() -> None:
    runs = [errors("gin", [0.5, 0.7]), errors("igsd-self", [0.4])]
    made = own_section("B3DB", runs, "data-1")
    assert "mean absolute error" in made
    assert "accuracy" not in made
    assert ">0.600 ± 0.100<" in made
    assert ">0.400<" in made
    assert made.count("mean of the labelled values") == 1
    assert "to train on a split and to score it" in made
    assert "<svg" not in made


def test_everything_of_a_record_is_there() -> None:
    more: dict[str, Any] = {
        "commit": {"id": "c0ffee", "dirty": False},
        "versions": {"torch": "2.0"},
        "history": [{"epoch": 0, "total": 1.0}, {"epoch": 1, "total": 0.5}],
        "notes": ["<note>"],
        "started": "today",
        "peak_memory_mib": 7.5,
    }
    records = [
        make_record("MUTAG", "molecules", 0, {"igsd": 0.875}, **more, error=None),
        make_record("MUTAG", "molecules", 1, {}, **more, status="failed", error="<broken>"),
    ]
    made = record_section(RecordGroup("nested/MUTAG/molecules", tuple(records)))
    assert made.startswith('<details id="records/nested/MUTAG/molecules"')
    assert "2 seeds, 1 without a result" in made
    for text in ("c0ffee", "2.0", "87.50 %", "87.5 87.5", "learning_rate", "7.5", "loss"):
        assert text in made
    assert "seed 1: &lt;broken&gt;" in made
    assert "Note: &lt;note&gt;" in made


def test_the_epochs_before_the_labels_have_their_curve() -> None:
    curve = [{"epoch": 0, "total": 4.0}, {"epoch": 1, "total": 3.0}]
    plain = make_record("MUTAG", "igsd-self", 0, {}, history=curve)
    more = make_record("MUTAG", "igsd-self", 1, {}, history=curve, pretraining=curve)
    for records, is_there in ([plain], False), ([plain, more], True):
        made = record_section(RecordGroup("semi/MUTAG/igsd-self", tuple(records)))
        assert "Losses and scores by epoch" in made
        assert ("Self-distillation before the labels" in made) is is_there
        assert "<dt>pretraining" not in made


def test_what_differs_stands_with_its_seed() -> None:
    shared, own = shared_and_own([{"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}])
    assert (shared, own) == ({"a": "1"}, ["b", "c"])
    records = [make_record("A", "social", seed, {}, started=f"at {seed}") for seed in (0, 1)]
    made = record_section(RecordGroup("nested/A/social", tuple(records)))
    assert "<td>at 0</td>" in made
    assert "<dt>seed</dt><dd>0, 1</dd>" in made  # the setting


def test_errors_and_limits_of_records() -> None:
    rows: list[dict[str, Any]]
    rows = [{"method": "igsd", "protocol": "qm9", "mae": {"mu": 0.123456}}]
    record = make_record("QM9", "qm9", 0, {}, rows=rows, status="limit", word="OMR")
    made = record_section(RecordGroup("qm9/QM9/igsd", (record,)))
    assert "mu 0.1235" in made
    assert "limit: OMR" in made
    rows = [{"method": "gin", "protocol": "semi", "mae": 0.602427}]
    record = make_record("B3DB", "molecules", 0, {}, rows=rows)
    made = record_section(RecordGroup("semi-logBB/B3DB/gin", (record,)))
    assert "<td>error 0.6024</td>" in made


def test_cells_that_cannot_be_are_not_counted(tmp_path: Path) -> None:
    """Eight methods in eight columns, three reference rows in four: the best epoch has none."""
    more: dict[str, Any] = {"method": "gin", "protocol": "semi", "status": "failed", "error": "no"}
    write(tmp_path, make_record("NCI1", "gin", 0, {}, **more))
    page = make_page(tmp_path)
    assert '<a href="#table-2">Table 2: graph classification with 5 % of the labels</a>' in page
    assert '<span class="much"> 0 of 76 cells</span>' in page


def test_methods_that_were_compared_stand_side_by_side(tmp_path: Path) -> None:
    """Of a comparison on MUTAG one row stood in Table 1, the other under other data."""
    for name in ("igsd", "wl"):
        write(tmp_path, make_record("MUTAG", name, 0, {name: 0.9}, method=name))
    made = make_page(tmp_path).partition('id="data-1"')[2].partition("</section>")[0]
    assert made.index(">IGSD<") < made.index(">WL subtree<")
    write(tmp_path, make_record("PTC", "wl", 0, {"wl": 0.9}, method="wl"))
    assert 'id="data-2"' in make_page(tmp_path)


def test_a_comparison_of_ones_own_comes_first_under_its_own_title(tmp_path: Path) -> None:
    """It came after Table 1 of the paper, whose title the page had."""
    for name, seed in (("igsd", 0), ("wl", 0), ("wl", 1)):
        write(tmp_path, make_record("MUTAG", name, seed, {name: 0.9}, method=name))
    made, title = make_page(tmp_path), "MUTAG, protocol nested, 2 seeds"
    assert f"<h1>igsd: {title}</h1>" in made
    assert f"<h2>{title}</h2>" in made
    assert made.index('<section id="data-1"') < made.index('<section id="table-1"')
    write(tmp_path, make_record("PTC", "wl", 0, {"wl": 0.9}, method="wl"))
    assert "<h1>igsd: comparisons on 2 data sets</h1>" in make_page(tmp_path)


def test_tables_that_are_half_done_come_first_but_after_methods_of_ones_own(tmp_path: Path) -> None:
    half_of_table_3(tmp_path)
    # No table has a method with this name; it is not of the user's own either.
    write(
        tmp_path,
        make_record(
            "IMDB-MULTI",
            "histogram-linear",
            0,
            {"histogram-linear": 0.9},
            method="histogram-linear",
        ),
    )
    write(tmp_path, make_record("PTC", "mine_M", 0, {"mine:M": 0.9}, method="mine:M"))
    made = make_page(tmp_path)
    assert "run again</h1>" in made
    names = ("data-2", "table-1", "not-run", "data-1")
    places = [made.index(f'<section id="{name}"') for name in names]
    assert places == sorted(places)
    assert "<h2>PTC, protocol nested, 1 seed</h2>" in made


def test_splits_have_their_own_title(tmp_path: Path) -> None:
    row = {"method": "wl", "protocol": "random", "labels": 0, "splits": [0, 1]}
    row |= {"metrics": {"roc_auc": [0.8, 0.9]}}
    for data in ("first", "second"):
        record = make_record(data, "wl", 0, {}, method="wl", protocol="random", rows=[row])
        write(tmp_path, record)
    made = make_page(tmp_path)
    assert "<h2>first, random splits, 2 splits</h2>" in made
    identifiers = re.findall(r' id="([^"]*)"', made)
    assert len(identifiers) == len(set(identifiers))


def test_a_table_of_splits_that_is_run_in_part_can_be_drawn() -> None:
    """The page of the published records ended with a KeyError."""
    results = Path(__file__).parents[3] / "results"
    table = fill(read_exhibit("molecules"), RecordFolder(results))
    assert table_section(table).startswith("<section")


def test_a_folder_of_own_records_has_no_empty_tables_of_the_paper(tmp_path: Path) -> None:
    write(tmp_path, make_record("mine", "molecules", 0, {"igsd": 0.9}))
    made = make_page(tmp_path)
    assert [name for name in exhibit_names() if f'id="{name}"' in made] == []
    assert "the paper" not in made.split("<script>")[0]
    title = "mine, protocol nested, 1 seed"
    assert f'<a href="#data-1">{title}</a><span class="much"> 1 method</span>' in made
    assert f"<h1>igsd: {title}</h1>" in made
    write(tmp_path, make_record("MUTAG", "molecules", 0, {"igsd": 0.9}))
    assert 'id="table-1"' in make_page(tmp_path)
