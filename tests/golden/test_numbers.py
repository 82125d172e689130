"""Every method gives the numbers that it gave before.

The hash of the bytes is compared where processor and libraries are those that numbers.json was
written with, elsewhere some floats with a tolerance. Weights are hashed in the order of the state
dict without names, so that renaming a module breaks nothing; the vectors are what matters.
``python -m tests.golden.write NAME ...`` writes the numbers of some subjects anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.golden.numbers import environment, numbers_of, read_numbers
from tests.golden.subjects import SUBJECTS, missing

STORED = read_numbers()
IS_SAME_MACHINE = STORED["environment"] == environment()


def test_every_subject_is_pinned() -> None:
    assert list(STORED["subjects"]) == list(SUBJECTS)


@pytest.mark.parametrize("name", SUBJECTS)
def test_numbers(name: str) -> None:
    if reason := missing(SUBJECTS[name].data):
        pytest.skip(reason)
    found, wanted = numbers_of(name), STORED["subjects"][name]
    assert found.keys() == wanted.keys()
    if IS_SAME_MACHINE:
        changed = [what for what in wanted if found[what]["sha256"] != wanted[what]["sha256"]]
        assert changed == [], {what: (found[what], wanted[what]) for what in changed}
    has_eigenvectors = name.startswith(("gcc", "deep-graph-kernel"))
    learns_labels = "losses" in wanted and not {"predict_proba", "predict"}.isdisjoint(wanted)
    for what in wanted:
        if IS_SAME_MACHINE or not learns_labels:
            is_exact = IS_SAME_MACHINE or not has_eigenvectors
            assert_close(found[what], wanted[what], what, single=is_exact)
    if learns_labels:
        losses = found["losses"]["abs"], wanted["losses"]["abs"]
        np.testing.assert_allclose(*losses, rtol=3e-2, err_msg="losses")


def assert_close(found: dict[str, Any], wanted: dict[str, Any], what: str, *, single: bool) -> None:
    """Check the floats; a number near zero is measured by the mean of them all.

    Adam divides gradients near zero by their own size, so that a processor which rounds otherwise
    moves single weights: two epochs on an Intel Xeon and an AMD EPYC differ by up to 4 % of the
    mean in one number and by 0.4 % in sums. A changed draw or step differs by far more. With
    labels, vectors move by up to 18 %, sums of losses by 1.2 %: only these are compared then. Signs
    of eigenvectors, and all of them where eigenvalues are equal, are the processor's: no ``single``
    number is compared then, only the sum of sizes.
    """
    assert found["size"] == wanted["size"], what
    mean = wanted["abs"] / max(wanted["size"], 1)
    some = {"rtol": 2e-2, "atol": 0.2 * mean}
    np.testing.assert_allclose(found["abs"], wanted["abs"], rtol=2e-2, err_msg=what)
    if not single:
        return
    np.testing.assert_allclose(found["some"], wanted["some"], **some, err_msg=what)
    slack = 2e-2 * wanted["abs"] + 1e-12
    np.testing.assert_allclose(found["sum"], wanted["sum"], rtol=0, atol=slack, err_msg=what)
