from __future__ import annotations

import pytest

from igsd.errors import StorageError
from igsd.report.marked_text import replace_between


def test_only_what_stands_between_changes() -> None:
    assert replace_between("a\n[\nold\n]\nb", "[", "]", "new") == "a\n[\nnew\n]\nb"


@pytest.mark.parametrize("text", ["", "[ only", "only ]", "] turned [", "[ a ] [ b ]"])
def test_markers_must_stand_once_and_in_order(text: str) -> None:
    with pytest.raises(StorageError, match="in this order, once"):
        replace_between(text, "[", "]", "new")
