from __future__ import annotations

from pathlib import Path
from typing import Any

from igsd.experiments.exhibit import exhibit_names
from igsd.report.page.document import make_page
from tests.report.record_files import make_record, write


def test_cells_that_cannot_be_are_not_counted(tmp_path: Path) -> None:
    """Eight methods in eight columns, and three floors in four: the best epoch has no floors."""
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
    # All there is of PTC is in the paper's table.
    assert 'id="data-2"' not in make_page(tmp_path)


def test_a_folder_of_own_records_has_no_empty_tables_of_the_paper(tmp_path: Path) -> None:
    write(tmp_path, make_record("mine", "molecules", 0, {"igsd": 0.9}))
    made = make_page(tmp_path)
    assert [name for name in exhibit_names() if f'id="{name}"' in made] == []
    assert "the paper" not in made.split("<script>")[0]
    assert '<a href="#data-1">mine</a><span class="much"> 1 run</span>' in made
    assert "<h1>igsd: records</h1>" in made
    write(tmp_path, make_record("MUTAG", "molecules", 0, {"igsd": 0.9}))
    assert 'id="table-1"' in make_page(tmp_path)
