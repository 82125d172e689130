from __future__ import annotations

import os

import numpy as np
import pytest

from igsd.errors import DataError, StorageError
from igsd.evaluation.gckn_folds import read_gckn_folds

needs_data = pytest.mark.skipif(
    "IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder with the fold files"
)


def test_mutag_is_mapped_to_tu_order(folder):
    y = np.arange(60) % 2
    plain = read_gckn_folds("PTC", y, folder=folder)
    mapped = read_gckn_folds("MUTAG", y, folder=folder)
    for a, b in zip(plain, mapped, strict=True):
        np.testing.assert_array_equal((a.test + 7) % 60, b.test)
        np.testing.assert_array_equal((a.train + 7) % 60, b.train)


def test_imdb_validates_on_a_stratified_ninth(folder):
    y = np.arange(60) % 2
    for fold in read_gckn_folds("IMDB-BINARY", y, folder=folder):
        assert (len(fold.train), len(fold.validation), len(fold.test)) == (48, 6, 6)
        assert y[fold.validation].sum() in (2, 3, 4)


def test_missing_files(tmp_path, monkeypatch):
    y = np.arange(60) % 2
    with pytest.raises(StorageError, match=r"no fold file .*gckn-folds\.zip.*IGSD_DATA"):
        read_gckn_folds("NCI1", y, folder=tmp_path)
    monkeypatch.delenv("IGSD_DATA", raising=False)
    with pytest.raises(StorageError, match="no folder was given"):
        read_gckn_folds("NCI1", y)


def test_missing_member_and_broken_zip(folder):
    y = np.arange(60) % 2
    with pytest.raises(StorageError, match="no member NCI1"):
        read_gckn_folds("NCI1", y, folder=folder)
    (folder / "gckn-folds.zip").write_bytes(b"not a zip")
    with pytest.raises(StorageError, match="cannot be read"):
        read_gckn_folds("PTC", y, folder=folder)


@pytest.mark.parametrize("dataset", ["PTC", "IMDB-BINARY"])
def test_folds_of_another_set(folder, dataset):
    with pytest.raises(DataError, match="does not divide these 50 graphs"):
        read_gckn_folds(dataset, np.arange(50) % 2, folder=folder)


def test_a_set_without_published_folds(folder):
    with pytest.raises(DataError, match="published folds for MUTAG"):
        read_gckn_folds("ENZYMES", np.arange(60) % 2, folder=folder)


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
    for fold in read_gckn_folds("PTC", np.arange(60) % 2, folder=folder):
        assert fold.fitted.tolist() == [*fold.train, *fold.validation]
        assert not np.intersect1d(fold.fitted, fold.test).size
