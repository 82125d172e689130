from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest
from sklearn.svm import SVC

from igsd.errors import ConfigError, DataError, StorageError
from igsd.evaluation import gckn_folds
from igsd.evaluation.gckn import gckn, gckn_grid
from igsd.evaluation.gckn_folds import read_gckn_folds
from igsd.evaluation.protocols import run_protocol
from tests.reference.grid_search import graph_like_features

needs_data = pytest.mark.skipif(
    "IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder with the fold files"
)


@pytest.fixture
def folder(tmp_path):
    """A folder with made-up folds of 60 graphs: PTC and MUTAG (shifted order), IMDB-BINARY."""
    order = np.random.default_rng(0).permutation(60)
    shift = (np.arange(60) + 7) % 60
    text = lambda numbers: "\n".join(str(int(i)) for i in numbers)  # noqa: E731
    with zipfile.ZipFile(tmp_path / "gckn-folds.zip", "w") as archive:
        for name in ("PTC", "MUTAG"):
            for k in range(1, 11):
                turned = np.roll(order, 6 * k)
                inner = f"{name}/inner_folds"
                archive.writestr(f"{name}/test_idx-{k}.txt", text(turned[:6]))
                archive.writestr(f"{inner}/val_idx-{k}-1.txt", text(turned[6:14]))
                archive.writestr(f"{inner}/train_idx-{k}-1.txt", text(turned[14:]))
    with zipfile.ZipFile(tmp_path / "gin-folds.zip", "w") as archive:
        archive.writestr("MUTAG/dgcnn_to_tu.txt", text(shift))
        for k in range(1, 11):
            turned = np.roll(order, 6 * k)
            prefix = "IMDBBINARY/10fold_idx"
            archive.writestr(f"{prefix}/test_idx-{k}.txt", text(turned[:6]))
            archive.writestr(f"{prefix}/train_idx-{k}.txt", text(turned[6:]))
    return tmp_path


@pytest.fixture
def two_folds(monkeypatch):
    """Only the first two folds, to keep 60 values of C affordable."""
    monkeypatch.setattr(gckn_folds, "NUM_FOLDS", 2)


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


@pytest.mark.usefixtures("two_folds")
def test_equals_the_plain_loop(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    result = gckn(X, y, dataset="PTC", folder=folder)
    for number, fold in enumerate(read_gckn_folds("PTC", y, folder=folder)):
        scores = []
        for C in np.logspace(-3, 4, 60) / len(fold.train):
            model = SVC(C=C).fit(X[fold.train], y[fold.train])
            scores.append(model.score(X[fold.validation], y[fold.validation]))
        best = np.logspace(-3, 4, 60)[int(np.argmax(scores))] / len(fold.train)
        both = np.concatenate([fold.train, fold.validation])
        model = SVC(C=best).fit(X[both], y[both])
        assert result.C[number] == best
        assert result.inner[number] == max(scores)
        assert result.accuracies[number] == model.score(X[fold.test], y[fold.test])


@pytest.mark.usefixtures("two_folds")
def test_linear_and_precomputed_agree(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    X = X / X.std()
    linear = gckn(X, y, dataset="PTC", folder=folder, kernel="linear")
    assert linear == gckn(X @ X.T, y, dataset="PTC", folder=folder, kernel="precomputed")


@pytest.mark.usefixtures("two_folds")
def test_twins_are_removed(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    result = gckn(X, y, dataset="PTC", folder=folder, twins=np.arange(60) // 2)
    assert all(size < 54 for size in result.train_sizes)


def test_grid():
    grid = gckn_grid(100)
    assert (len(grid), grid[0], grid[-1]) == (60, 1e-5, 100.0)


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


@pytest.mark.usefixtures("two_folds")
def test_by_name(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    assert run_protocol("gckn", X, y, dataset="PTC", folder=folder).protocol == "gckn"
    assert run_protocol("nested", X, y, dataset="PTC", num_folds=2).protocol == "nested"
    assert run_protocol("paper", X, y, num_folds=2).optimistic
    with pytest.raises(ConfigError, match="Did you mean 'nested'"):
        run_protocol("neste", X, y)
    with pytest.raises(ConfigError, match="name of a data set"):
        run_protocol("gckn", X, y)


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


@needs_data
@pytest.mark.slow
def test_real_mutag_scores_above_the_majority():
    from igsd.graphs.datasets import load_dataset

    graphs = load_dataset("MUTAG")
    labels = np.zeros((len(graphs), len(graphs.node_label_names)))
    np.add.at(labels, (graphs.graph_of_node(), graphs.node_labels), 1)
    result = gckn(labels, graphs.classes, dataset="MUTAG")
    assert result.mean > 0.75
