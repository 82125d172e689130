"""The attacks by name, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.torture import (
    bombs,
    disks,
    downloads,
    flips,
    inputs,
    kills,
    mutants,
    outputs,
    races,
    steady,
)
from tests.torture.attack import Attack, Row

_ALL = (kills, races, mutants, flips, bombs, disks, outputs, inputs, steady, downloads)
MODULES: dict[str, Callable[[Attack], Iterator[Row]]] = {
    module.__name__.rpartition(".")[2]: module.rows for module in _ALL
}
