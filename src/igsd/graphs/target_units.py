"""``target_unit``: the unit of a number to predict, where the data set is one that igsd knows."""

from __future__ import annotations

from igsd.graphs.qm9 import QM9_UNITS

_UNITS = {
    "QM9": QM9_UNITS,
    "B3DB": {"logBB": "log10 of the concentration in the brain over that in the blood"},
}


def target_unit(data: str, target: str) -> str:
    """Return the unit of a target of the data set with this name, empty where it is not known.

    >>> target_unit("QM9", "mu"), target_unit("mine", "mu")
    ('D', '')
    """
    return _UNITS.get(data, {}).get(target, "")
