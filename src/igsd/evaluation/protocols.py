"""``run_protocol``: the score of vectors or a kernel by a protocol that is picked by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from igsd.errors import ConfigError, nearest
from igsd.evaluation import PROTOCOLS
from igsd.evaluation.gckn import gckn
from igsd.evaluation.nested import nested
from igsd.evaluation.paper import paper
from igsd.evaluation.result import ProtocolResult


def run_protocol(
    name: str,
    X: Any,
    y: Any,
    *,
    dataset: str | None = None,
    folder: str | Path | None = None,
    **settings: Any,
) -> ProtocolResult:
    """Return the result of the protocol with this name; ``settings`` go to its function.

    ``dataset`` and ``folder`` are for ``gckn`` and are not used by the others.
    Raises ConfigError for an unknown name, or ``gckn`` without the name of a data set.
    """
    if name not in PROTOCOLS:
        raise ConfigError(f"There is no protocol {name!r}. {nearest(name, PROTOCOLS)}")
    if name == "gckn":
        if dataset is None:
            raise ConfigError("Protocol 'gckn' needs the name of a data set with published folds.")
        return gckn(X, y, dataset=dataset, folder=folder, **settings)
    return (nested if name == "nested" else paper)(X, y, **settings)
