from __future__ import annotations

import sys
from pathlib import Path

import pytest

from igsd.errors import ConfigError, IGSDWarning
from igsd.settings import own
from tests.own_parts import Write, write_module

__all__ = ["write_module"]


@pytest.mark.parametrize("name", ["a:B", "a.b_1:C.D", "_a:b"])
def test_places(name: str) -> None:
    assert own.is_place(name)


@pytest.mark.parametrize("name", ["wl", "a:", ":b", "1a:b", "a b:c", "C:\\data", "a:b:c", "./a:b"])
def test_other_names(name: str) -> None:
    assert not own.is_place(name)


def test_a_module_of_the_working_folder_is_found_last(write_module: Write) -> None:
    write_module("mine_a", "class Outer:\n    class Inner:\n        pass\n")
    write_module("json", "class JSONDecoder:\n    is_mine = True\n")
    assert own.find("methods", "mine_a:Outer.Inner").__name__ == "Inner"
    sys.modules.pop("json", None)
    assert not hasattr(own.find("methods", "json:JSONDecoder"), "is_mine")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "nowhere:A",
            r"view 'nowhere:A' cannot be imported: there is no module 'nowhere'.*nowhere\.py",
        ),
        ("mine_b:Clas", r"mine_b has no 'Clas'. Did you mean 'Class'"),
        ("__main__:A", r"defined in the script itself.*mine:A"),
        ("broken_b:A", r"broken_b:A' cannot be imported: ZeroDivisionError.*broken_b.py, line 2"),
        ("misses_b:A", r"No module named 'surely_missing'"),
        ("unknown", r"There is no view 'unknown'"),
        ("mine_b:number", r"view 'mine_b:number' must be .* a function\. It is 3, of type int"),
    ],
)
def test_what_is_not_there(write_module: Write, name: str, message: str) -> None:
    write_module("mine_b", "class Class: pass\nnumber = 3\n")
    write_module("broken_b", "x = 1\nx / 0\n")
    write_module("misses_b", "import surely_missing\n")
    with pytest.raises(ConfigError, match=message):
        own.find("views", name)


def test_entry_points_are_found_by_name(write_module: Write) -> None:
    write_module("mine_c", "def view(A, seed):\n    return A\n", {"views": "mirror = mine_c:view"})
    assert own.offered("views")["mirror"] == "mine_c:view"
    assert "mine_c" not in sys.modules  # nothing is imported before it is used
    assert own.is_own("views", "mirror")
    assert not own.is_own("losses", "mirror")
    assert own.find("views", "mirror")(1, 2) == 1


def test_a_name_of_igsd_cannot_be_replaced(write_module: Write) -> None:
    write_module("mine_d", "", {"methods": "wl = mine_d:WL\nmine = mine_d:Mine"})
    with pytest.warns(IGSDWarning, match=r"'wl' of mine_d:WL is left out"):
        assert own.offered_besides("methods", ["wl"]) == {"mine": "mine_d:Mine"}


def test_the_checksum_is_that_of_the_file(write_module: Write, tmp_path: Path) -> None:
    path = write_module("mine_e", "class A: pass\n")
    first = own.source_checksum(own.find("methods", "mine_e:A"))
    assert len(first) == 64
    path.write_text("class A: pass  # changed\n")
    assert own.source_checksum(own.find("methods", "mine_e:A")) != first
    assert own.source_checksum(int) == ""
