"""``run_title`` and ``run_order``: what runs are called in a table, and where they stand."""

from __future__ import annotations

import re

from igsd.baselines.registry import METHODS
from igsd.baselines.semi_methods import SEMI_METHODS
from igsd.evaluation import PROTOCOLS
from igsd.evaluation.fingerprints import MORGAN
from igsd.experiments.scoring import TWINS_REMOVED

_FLOORS = {
    "majority": "majority class",
    "mean": "mean of the labelled values",
    MORGAN: "Morgan fingerprints",
}


def run_title(label: str, method: str | None, protocol: str) -> str:
    """Return the title of runs: of their method, or of IGSD by a recipe, and what is set otherwise.

    ``label``: what the folder of their records is called; ``method``: None for a recipe. The place
    of a recipe is IGSD's too.

    >>> run_title("wl+iterations-4", "wl", "nested"), run_title("social", None, "nested")
    ('WL subtree, iterations 4', 'IGSD, recipe social')
    >>> run_title("paper+epochs-3", "igsd", "nested")
    'IGSD, recipe paper, epochs 3'
    """
    if method is None or (protocol in PROTOCOLS and not label.startswith(method)):
        recipe, _, changed = label.partition("+")
        title = f"IGSD, recipe {recipe}"
    else:
        title, changed = row_title(method, protocol), label.removeprefix(method).lstrip("+")
    # A value may hold a plus of its own; what follows on it has no setting's name.
    settings = re.split(r"\+(?=\w+-)", changed) if changed else []
    named = [s.replace("-", " ", 1) if "-" in s else f"settings {s}" for s in settings]
    return ", ".join([title, *named])


def run_order(method: str | None, protocol: str) -> int:
    """Return where the rows of a method stand among those of others: as in the list of methods.

    ``method``: None for a recipe of IGSD. One that is in no list comes last.
    """
    names = list(METHODS if protocol in PROTOCOLS else SEMI_METHODS)
    name = method or "igsd"
    return names.index(name) if name in names else len(names)


def row_title(method: str, protocol: str) -> str:
    """Return the title of a row of records; the citation of its paper is left out.

    >>> row_title("wl", "nested"), row_title("infograph", "semi"), row_title("majority", "semi")
    ('WL subtree', 'InfoGraph (regulariser)', 'majority class')
    """
    name = method.removesuffix(TWINS_REMOVED)
    if name in SEMI_METHODS and protocol not in PROTOCOLS:
        title = SEMI_METHODS[name].title
    elif name in METHODS:
        title = re.sub(r" \([^()]*\d{4}\)$", "", METHODS[name].title)
    else:
        title = _FLOORS.get(name, name)
    return title + method.removeprefix(name)
