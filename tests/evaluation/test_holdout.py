from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.evaluation.holdout import (
    index_text,
    labelled_part,
    murcko_scaffolds,
    random_holdout,
    scaffold_holdout,
)

GROUPS = [f"g{i // 3}" for i in range(60)] + ["large"] * 40


def test_scaffolds() -> None:
    pytest.importorskip("rdkit")
    found = murcko_scaffolds(["c1ccccc1CCN", "CCc1ccccc1", "CCO", "C[C@H]1CCCO1", "C[C@@H]1CCCO1"])
    assert found == ("c1ccccc1", "c1ccccc1", "", "C1CCOC1", "C1CCOC1")
    assert murcko_scaffolds(["C[N+]1(C)CCC[C+](O)(C)C1"])[0]  # a carbon with five bonds
    assert murcko_scaffolds(["C1CC[C+]1(C)(C1CC1)C1CC1"])[0]  # whose bonds are all in the scaffold
    with pytest.raises(DataError, match="'ethanol' is not a molecule"):
        murcko_scaffolds(["ethanol"])


@pytest.mark.parametrize("seed", range(5))
def test_scaffolds_are_never_divided(seed: int) -> None:
    positions = np.arange(100, 200)
    train, test = scaffold_holdout(positions, GROUPS, seed)
    assert len(test) == 18  # groups of three fit six times into twenty
    assert sorted([*train, *test]) == positions.tolist()
    of = dict(zip(positions.tolist(), GROUPS, strict=True))
    assert not {of[i] for i in train} & {of[i] for i in test}
    assert "large" not in {of[i] for i in test}
    again = scaffold_holdout(positions, GROUPS, seed)
    np.testing.assert_array_equal(again.train, train)
    np.testing.assert_array_equal(again.test, test)


def test_seeds_give_other_splits() -> None:
    for parts in (
        [random_holdout(np.arange(50), seed) for seed in (0, 1)],
        [scaffold_holdout(np.arange(100), GROUPS, seed) for seed in (0, 1)],
    ):
        assert parts[0].test.tolist() != parts[1].test.tolist()
        assert (np.diff(parts[0].test) > 0).all()
    assert len(random_holdout(np.arange(50), 0).test) == 10


def test_too_few_to_split() -> None:
    with pytest.raises(DataError, match="at least 3 labelled molecules"):
        random_holdout(np.arange(2), 0)
    with pytest.raises(DataError, match=r"have 1 scaffold\. Use --splits random"):
        scaffold_holdout(np.arange(30), ["same"] * 30, 0)


def test_fewer_labels_are_a_subset_of_more() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(100) < 0.1, 1.0, 0.0)
    y[::7] = np.nan
    train = rng.permutation(100)[:80]
    most = labelled_part(train, y, 0, classes=True)
    assert sorted(most) == sorted(train[~np.isnan(y[train])])
    for few in (4, 16, 32):
        chosen = labelled_part(train, y, few, classes=True)
        assert chosen.tolist() == most[:few].tolist()
        assert (np.bincount(y[chosen].astype(int)) >= 2).all()
    plain = labelled_part(train, y, 5, classes=False)
    assert plain.tolist() == train[~np.isnan(y[train])][:5].tolist()
    with pytest.raises(DataError, match="fewer than the 90"):
        labelled_part(train, y, 90, classes=True)


def test_indices_as_text() -> None:
    positions = np.array([0, 1, 2, 3, 7, 9, 10])
    assert index_text(positions) == "0-3 7 9-10"
    assert index_text(positions[:0]) == ""
