"""What a row becomes that cannot be measured: skipped with its reason, or broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.row import Row, Skipped
from benchmarks.side import SideError
from igsd.errors import IGSDError


def guarded(
    name: str, data: str, measure: Callable[..., Sequence[Row]], *arguments: Any
) -> list[Row]:
    """Return the rows of ``measure(*arguments)``, or one row that says why there are none.

    Missing data or packages: the row is skipped. Anything that breaks: the row fails, and the
    other benchmarks still run.
    """
    try:
        return list(measure(*arguments))
    except (Skipped, ImportError) as reason:
        return [Row.skipped(name, data, str(reason))]
    except (SideError, RuntimeError, IGSDError, OSError) as error:
        return [Row(name, data, 0.0, 0.0, 0.0, None, "", f"broke: {error}", agrees=False)]
