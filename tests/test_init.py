from __future__ import annotations

from pathlib import Path

import pytest

import igsd


def test_public_names_are_listed_and_importable() -> None:
    assert set(dir(igsd)) == set(igsd.__all__)
    for name in igsd.__all__:
        assert getattr(igsd, name) is not None


def test_another_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = igsd.nothing


def test_open_data_takes_what_the_command_line_takes(tmp_path: Path) -> None:
    path = tmp_path / "set.graphs"
    igsd.load_dataset("MUTAG").save(path)
    assert igsd.open_data(path) == igsd.open_data("MUTAG")
