from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from igsd.errors import ConfigError, DataError, StorageError
from igsd.evaluation.folds import Fold, inner_folds, outer_folds, read_gckn_folds
from igsd.files import bounded

needs_data = pytest.mark.skipif(
    "IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder with the fold files"
)


def test_outer_folds_are_those_of_scikit_learn():
    y = np.arange(60) % 2
    ours, notes = outer_folds(y, seed=3)
    theirs = StratifiedKFold(10, shuffle=True, random_state=3).split(y, y)
    assert notes == ()
    for fold, (train, test) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)


def test_a_small_class_means_fewer_folds_and_a_note():
    y = np.array([0] * 50 + [1] * 4)
    folds, notes = outer_folds(y, seed=0)
    assert len(folds) == 4
    assert notes == ("4 folds instead of 10: the smallest class has 4 graphs",)
    assert all((y[fold.test] == 1).sum() == 1 for fold in folds)


@given(st.integers(2, 12), st.integers(10, 40), st.integers(0, 5))
def test_every_graph_is_tested_once(small, large, seed):
    y = np.array([0] * small + [1] * large)
    folds = outer_folds(y, seed)[0]
    tested = np.concatenate([fold.test for fold in folds])
    assert sorted(tested) == list(range(len(y)))
    assert all(not np.intersect1d(fold.train, fold.test).size for fold in folds)


def test_inner_folds_are_unshuffled():
    y = np.arange(25) % 2
    for (a, b), (c, d) in zip(inner_folds(y), StratifiedKFold(5).split(y, y), strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_inner_folds_of_few():
    assert len(inner_folds(np.array([0] * 9 + [1] * 3))) == 3
    assert len(inner_folds(np.array([0] * 9 + [1]))) == 2
    assert inner_folds(np.zeros(9, dtype=np.int64)) == ()
    assert inner_folds(np.array([0, 1, 2])) == ()


def test_number_of_folds():
    with pytest.raises(ConfigError, match="at least 2"):
        outer_folds(np.array([0, 0, 1, 1]), 0, num_folds=1)


@pytest.mark.parametrize("seed", range(5))
def test_exactly_the_twins_of_test_graphs_leave(seed):
    """Not only how many: which ones, graph by graph."""
    groups = np.random.default_rng(seed).integers(0, 30, size=40)
    for fold in outer_folds(np.arange(40) % 2, seed, 4)[0]:
        parted = Fold(fold.train[:20], fold.test, fold.train[20:]).without_twins(groups)
        in_test = set(groups[fold.test])
        assert parted.fitted.tolist() == [g for g in fold.train if groups[g] not in in_test]
        assert fold.without_twins(groups).fitted.tolist() == parted.fitted.tolist()
        np.testing.assert_array_equal(parted.test, fold.test)


def test_twins_that_leave_nothing_are_an_error():
    with pytest.raises(DataError, match="No training graph is left after removing the twins"):
        Fold(np.array([0]), np.array([1])).without_twins(np.array([0, 0, 1]))


def test_mutag_is_mapped_to_tu_order(folder):
    y = np.arange(60) % 2
    plain = read_gckn_folds("PTC", y)
    mapped = read_gckn_folds("MUTAG", y)
    for a, b in zip(plain, mapped, strict=True):
        np.testing.assert_array_equal((a.test + 7) % 60, b.test)
        np.testing.assert_array_equal((a.train + 7) % 60, b.train)


def test_imdb_validates_on_a_stratified_ninth(folder):
    y = np.arange(60) % 2
    for fold in read_gckn_folds("IMDB-BINARY", y):
        assert (len(fold.train), len(fold.validation), len(fold.test)) == (48, 6, 6)
        assert y[fold.validation].sum() in (2, 3, 4)


def test_missing_files(tmp_path, monkeypatch):
    monkeypatch.setenv("IGSD_DATA", str(tmp_path))
    y = np.arange(60) % 2
    with pytest.raises(StorageError, match=r"no fold file .*gckn-folds\.zip.*IGSD_DATA"):
        read_gckn_folds("NCI1", y)
    monkeypatch.delenv("IGSD_DATA", raising=False)
    with pytest.raises(StorageError, match="no folder was given"):
        read_gckn_folds("NCI1", y)


def test_missing_member_and_broken_zip(folder):
    y = np.arange(60) % 2
    with pytest.raises(StorageError, match="no member NCI1"):
        read_gckn_folds("NCI1", y)
    (folder / "gckn-folds.zip").write_bytes(b"not a zip")
    with pytest.raises(StorageError, match="cannot be read"):
        read_gckn_folds("PTC", y)


def test_zip_bomb(folder, monkeypatch):
    monkeypatch.setattr(bounded, "ALWAYS_READ", 1000)
    with zipfile.ZipFile(folder / "gckn-folds.zip", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", b"0 " * 4_000_000)
    with pytest.raises(DataError, match="100 times the size of the file"):
        read_gckn_folds("PTC", np.arange(60) % 2)


@pytest.mark.parametrize("dataset", ["PTC", "IMDB-BINARY"])
def test_folds_of_another_set(folder, dataset):
    with pytest.raises(DataError, match="does not divide these 50 graphs"):
        read_gckn_folds(dataset, np.arange(50) % 2)


def test_a_set_without_published_folds(folder):
    with pytest.raises(DataError, match="published folds for MUTAG"):
        read_gckn_folds("ENZYMES", np.arange(60) % 2)


@needs_data
@pytest.mark.parametrize(
    ("name", "sizes"), [("MUTAG", 18), ("PTC", 34), ("IMDB-BINARY", 100), ("IMDB-MULTI", 150)]
)
def test_real_folds(name, sizes):
    from igsd.graphs.datasets import load_dataset

    codes = np.asarray(load_dataset(name).classes)
    folds = read_gckn_folds(name, codes)
    assert {len(fold.test) for fold in folds} == {sizes}
    tested = np.concatenate([fold.test for fold in folds])
    assert len(np.unique(tested)) == len(tested)


def test_the_last_fit_takes_training_and_validation_together(folder):
    for fold in read_gckn_folds("PTC", np.arange(60) % 2):
        assert fold.fitted.tolist() == [*fold.train, *fold.validation]
        assert not np.intersect1d(fold.fitted, fold.test).size
