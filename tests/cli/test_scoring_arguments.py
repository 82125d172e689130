from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from igsd.cli.scoring_arguments import (
    add_scoring_arguments,
    check_scoring_arguments,
    scoring_of,
    write_table_json,
)
from igsd.errors import ConfigError, StorageError
from tests.small_graphs import make_graphs


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_scoring_arguments(parser, ("nested", "gckn"))
    return parser.parse_args(arguments)


def test_how_graphs_are_scored() -> None:
    scoring = scoring_of(parsed(), make_graphs())
    assert scoring.settings() == {"name": "nested", "standardise": "yes", "twins": False}
    assert scoring.jobs == 1
    assert scoring_of(parsed("--standardise", "search"), make_graphs()).standardise == "search"
    assert scoring_of(parsed("--without-twins", "--jobs", "3"), make_graphs()).twins


def test_what_cannot_be_meant(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        check_scoring_arguments(parsed("--seeds", "0"))
    with pytest.raises(StorageError, match="is a folder"):
        check_scoring_arguments(parsed("--json", str(tmp_path)))


def test_where_the_table_goes(tmp_path: Path) -> None:
    for place in (None, "-"):
        write_table_json(place, {"a": 1})
    write_table_json(str(tmp_path / "t.json"), {"a": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]
