from __future__ import annotations

from igsd.experiments.published import published_rows
from igsd.graphs.catalogue import CATALOGUE


def test_the_row_of_the_paper() -> None:
    (row,) = published_rows()
    assert row.method == "IGSD as published"
    assert "Table 1" in row.source
    assert row.figures == {
        "MUTAG": (90.2, 0.7),
        "PTC": (61.4, 1.7),
        "NCI1": (75.4, 0.3),
        "IMDB-BINARY": (74.7, 0.6),
        "IMDB-MULTI": (51.5, 0.3),
        "COLLAB": (70.4, 1.1),
    }


def test_data_sets_are_named_as_in_the_catalogue() -> None:
    assert all(row.figures.keys() <= CATALOGUE.keys() for row in published_rows())
