from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.references import molecules as references
from igsd.baselines.references.molecules import (
    CorpusVectors,
    MoleculeDescriptors,
    MorganFingerprints,
    PretrainedMolecules,
)
from igsd.baselines.registry import METHODS, load_model, make_method, name_of
from igsd.errors import ConfigError, DataError
from igsd.graphs.descriptors import FRAGMENTS, described
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import are_smiles
from igsd.graphs.readers.smiles import from_smiles
from tests.small_graphs import make_graphs

NAMES = ("CCO", "CC", "c1ccccc1O", "[Na+].[Cl-]")


@pytest.fixture(scope="module")
def molecules() -> GraphSet:
    pytest.importorskip("rdkit")
    return from_smiles(NAMES)


def test_equal_molecules_have_equal_counts() -> None:
    pytest.importorskip("rdkit")
    rows = described(["CCO", "OCC", "c1ccccc1", "C[N+]1(C)CCC[C+](O)(C)C1"], FRAGMENTS)
    assert (rows.shape, rows.dtype) == ((4, 2048), np.uint8)
    np.testing.assert_array_equal(rows[0], rows[1])
    # Each of the six aromatic carbons within 0, 1 and 2 bonds; the last repeats no fragment.
    assert sorted(rows[2][rows[2] > 0]) == [6, 6, 6]
    assert rows[3].any()  # a carbon with five bonds is still a molecule


def test_names_that_are_no_smiles() -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DataError, match="'ethanol' is not a molecule"):
        described(["ethanol"], FRAGMENTS)
    assert are_smiles(("CCO", "C"))
    assert not are_smiles(("CCO", "ethanol"))
    assert not are_smiles(())
    assert not are_smiles(None)


@pytest.mark.parametrize("kind", [MorganFingerprints, MoleculeDescriptors, PretrainedMolecules])
def test_estimators_of_named_graphs(kind: type, molecules: GraphSet, tmp_path: Path) -> None:
    estimator = kind().fit(molecules)
    rows = estimator.transform(molecules)
    assert rows.shape == (len(NAMES), estimator.n_features_out_)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    one = estimator.transform(molecules.take(np.array([2])))[0]
    np.testing.assert_allclose(one, rows[2], rtol=1e-3, atol=1e-4)
    estimator.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").transform(molecules), rows)
    with pytest.raises(DataError, match="have no names"):
        kind().fit(make_graphs(2))


def test_a_descriptor_that_cannot_be_computed_is_the_median(molecules: GraphSet) -> None:
    """Gasteiger's charges of a metal are not defined."""
    estimator = MoleculeDescriptors().fit(molecules)
    names = [str(name) for name in estimator.get_feature_names_out()]
    odd = from_smiles(["[Pt](Cl)(Cl)(N)N"])
    place = names.index("MaxPartialCharge")
    assert estimator.transform(odd)[0, place] == estimator.state_["medians"][place]


@pytest.mark.parametrize("name", ["morgan", "descriptors", "pretrained"])
def test_each_representation_has_three_heads(name: str) -> None:
    pytest.importorskip("rdkit")
    for suffix, head in (("", "linear"), ("-forest", "forest"), ("-svm", "svm")):
        estimator = make_method(name + suffix)
        assert estimator.head == head
        assert name_of(estimator) == name + suffix
        assert not METHODS[name + suffix].in_all


def test_weights_cannot_be_chosen(molecules: GraphSet) -> None:
    with pytest.raises(ConfigError, match="weights"):
        PretrainedMolecules(weights="mine").fit(molecules)


DRUGS = ("CCO", "CC(=O)O", "c1ccccc1O", "CCN", "CCCC", "c1ccncc1", "CC(C)=O", "OCCO")
QUICK = {"corpus": "zinc250k", "hidden_dim": 8, "num_layers": 2, "num_fragments": 16, "epochs": 1}


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("rdkit")
    path = tmp_path / "molecules" / "zinc250k.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress("\n".join(["smiles", *DRUGS]).encode()))
    monkeypatch.setenv("IGSD_DATA", str(tmp_path))
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    digest = hashlib.sha256("\n".join(DRUGS).encode()).hexdigest()
    monkeypatch.setitem(references.CORPORA, "zinc250k", digest[:16])
    return path


def test_an_encoder_of_a_corpus_is_trained_once(
    corpus: Path, molecules: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_method("pretrain", **QUICK).fit(molecules)
    rows = first.transform(molecules)
    assert first.corpus_["molecules"] == len(DRUGS)
    assert first.head == "linear"
    first.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").transform(molecules), rows)
    fewer = make_method("pretrain", **QUICK, most=5).fit(molecules)
    assert fewer.corpus_["molecules"] == 5
    monkeypatch.setattr(CorpusVectors, "fit_corpus", None)
    again = make_method("pretrain", **QUICK).fit(molecules)
    np.testing.assert_array_equal(again.transform(molecules), rows)


def test_a_corpus_is_known_by_its_content(corpus: Path, molecules: GraphSet) -> None:
    corpus.write_bytes(gzip.compress(b"smiles\nCCO\nCC\n"))
    with pytest.raises(DataError, match=r"another table than .* zinc250k"):
        make_method("pretrain", **QUICK).fit(molecules)
    corpus.unlink()
    with pytest.raises(DataError, match="The corpus zinc250k is not on this machine"):
        make_method("pretrain", **QUICK).fit(molecules)
    with pytest.raises(DataError, match="have no names"):
        make_method("pretrain", **QUICK).fit(make_graphs(2))
