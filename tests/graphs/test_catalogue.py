from __future__ import annotations

import pytest

from igsd.graphs.catalogue import CATALOGUE, find_entry, unknown_name


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("MUTAG", "MUTAG"),
        ("mutag", "MUTAG"),
        ("IMDB-B", "IMDB-BINARY"),
        ("imdb-m", "IMDB-MULTI"),
        ("ptc_mr", "PTC_MR"),
        (" enzymes ", "ENZYMES"),
    ],
)
def test_names_in_any_case_and_aliases(name: str, exact: str) -> None:
    entry = find_entry(name)
    assert entry is not None
    assert entry.name == exact


def test_unknown_names() -> None:
    assert find_entry("MUTGA") is None
    message = str(unknown_name("MUTGA"))
    assert "no data set named 'MUTGA'. Did you mean 'MUTAG'" in message
    assert "IGSD_DATA" in message


def test_what_can_be_downloaded_has_a_checksum() -> None:
    for entry in CATALOGUE.values():
        assert len(entry.checksum) == 64 or not entry.downloadable
