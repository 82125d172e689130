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


@pytest.mark.parametrize("name", ["mine_f.py:Mine", "./mine_f.py:Mine", "a/b/mine_f.py:Mine"])
def test_a_file_is_refused_with_its_module(name: str) -> None:
    """Python's importer said that 'mine_f' was not a package."""
    message = r"by its module, not by its file: write mine_f:Mine, .* holds mine_f\.py"
    for look_up in (own.find, own.is_own):
        with pytest.raises(ConfigError, match=message):
            look_up("methods", name)
    with pytest.raises(ConfigError, match=message):
        own.allow({"view": "mine_f.py:Mine"})


def test_a_wrong_call_is_named_by_the_definition(write_module: Write) -> None:
    """No line of the user's led to such an error, so one of igsd's was named."""
    write_module("mine_g", "\n\ndef view(A):\n    return A\n\n\nclass Mine:\n    __call__ = view\n")
    for name, line in (("view", 3), ("Mine", 7)):
        found = own.find("views", f"mine_g:{name}")
        for called in (found, found() if name == "Mine" else found):
            said = own.what_was_raised(TypeError("wrong"), called)
            assert said == f"TypeError: wrong (mine_g.py, line {line if called is found else 3})"


def test_code_of_a_package_is_named_by_its_own_line(write_module: Write) -> None:
    path = write_module("mine_h", "def loss():\n    x = 1\n    x / 0\n")
    found = own.find("losses", "mine_h:loss")
    installed = str(path.parent / "site-packages" / path.name)
    code = compile(path.read_text(), installed, "exec")
    scope = {"__name__": "mine_h"}
    exec(code, scope)
    for function in (found, scope["loss"]):
        message = r"ZeroDivisionError.* \(mine_h\.py, line 3\)"
        rule = "must be a function"
        with pytest.raises(ConfigError, match=message), own.called("loss", function, rule):
            function()  # type: ignore[operator]
