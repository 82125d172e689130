from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("rdkit")

from rdkit import Chem

import igsd
from igsd.errors import ConfigError, DataError, StorageError
from igsd.estimators import molecules as module
from igsd.estimators.molecules import MoleculeEncoder, pretrained
from igsd.graphs.corpus import read_corpus
from igsd.model.pretraining import vector_map
from igsd.training.free_targets import FreeTargets
from tests.graphs.test_chemistry import DRUGS
from tests.small_graphs import make_graphs

SMALL = {
    "epochs": 4,
    "hidden_dim": 8,
    "num_layers": 2,
    "num_fragments": 16,
    "label_batch_size": 4,
    "warmup_epochs": 0,
}


def kekulised(smiles: str) -> str:
    molecule = Chem.MolFromSmiles(smiles)
    Chem.Kekulize(molecule, clearAromaticFlags=True)
    return Chem.MolToSmiles(molecule, canonical=False, kekuleSmiles=True)


def test_the_targets_are_learned() -> None:
    config = SMALL | {"epochs": 15, "self_weight": 0.02, "self_epochs": 2}
    history = MoleculeEncoder(**config).fit(DRUGS).history_
    assert history[-1]["descriptors"] < history[0]["descriptors"]
    assert history[-1]["fragments"] < history[0]["fragments"]
    assert "selfsup" in history[1]
    assert "selfsup" not in history[2]


def test_a_file_gives_the_same_vectors(tmp_path: Path) -> None:
    model = MoleculeEncoder(**SMALL).fit([*DRUGS, "no molecule"])
    model.save(tmp_path / "encoder")
    again = MoleculeEncoder.load(tmp_path / "encoder")
    assert np.array_equal(again.transform(DRUGS), model.transform(DRUGS))
    assert again.corpus_ == model.corpus_
    assert again.corpus_["molecules"] == len(DRUGS)


def test_a_vector_holds_the_predicted_targets() -> None:
    config = SMALL | {"epochs": 60, "head_dropout": 0.0, "learning_rate": 0.01, "fragment_dim": 5}
    model = MoleculeEncoder(**config, self_weight=0.0).fit(DRUGS)
    vectors, corpus = model.transform(DRUGS), read_corpus(DRUGS, num_fragments=16)
    targets = FreeTargets.of_corpus(corpus).of(np.arange(len(DRUGS)), torch.device("cpu")).numpy()
    width = corpus.descriptors.shape[1]
    assert vectors.shape == (len(DRUGS), width + 5)
    assert np.allclose(vectors.mean(axis=0), 0, atol=1e-2)
    varies = targets[:, :width].std(axis=0) > 0.5
    pairs = zip(vectors[:, :width].T[varies], targets[:, :width].T[varies], strict=True)
    assert np.mean([np.corrcoef(one, other)[0, 1] for one, other in pairs]) > 0.8


def test_the_map_to_a_vector() -> None:
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(500, 12, generator=generator) * torch.logspace(-2, 1, 12)
    targets = h @ torch.randn(12, 3 + 8, generator=generator)
    weight, bias = vector_map(h, targets, 8, 6, seed=0)
    vectors = h @ weight.T + bias
    assert weight.shape == (9, 12)
    centred = targets - targets.mean(dim=0)
    assert (vectors[:, :3] - centred[:, :3]).abs().max() < 0.02 * centred.abs().max()
    assert torch.allclose(vectors.mean(dim=0), torch.zeros(9), atol=1e-3)
    assert vectors[:, 3:].var(dim=0).mean().item() == pytest.approx(1, rel=0.01)
    rebuilt = torch.linalg.lstsq(vectors[:, 3:], centred[:, 3:]).solution
    rest = centred[:, 3:] - vectors[:, 3:] @ rebuilt
    assert rest.var() < 0.05 * centred[:, 3:].var()


def test_float16_halves_the_file(tmp_path: Path) -> None:
    sizes = []
    for half in (True, False):
        model = MoleculeEncoder(**SMALL | {"hidden_dim": 64, "epochs": 0}, half=half).fit(DRUGS)
        model.save(tmp_path / "encoder")
        sizes.append((tmp_path / "encoder").stat().st_size)
    assert sizes[0] < 0.7 * sizes[1]


def test_begins_with_another_encoder() -> None:
    corpus = read_corpus(DRUGS, num_fragments=16)
    plain = SMALL | {"vector": "representation"}
    first = MoleculeEncoder(**plain).fit_corpus(corpus)
    none = MoleculeEncoder(**plain | {"epochs": 0}).fit_corpus(corpus, first)
    assert np.array_equal(none.transform(DRUGS), first.transform(DRUGS))
    with pytest.raises(ConfigError, match="hidden_dim=8"):
        MoleculeEncoder(**SMALL | {"hidden_dim": 16}).fit_corpus(corpus, first)


def test_other_input_is_refused() -> None:
    model = MoleculeEncoder(**SMALL | {"epochs": 0})
    with pytest.raises(DataError, match="list of SMILES"):
        model.fit("CCO")
    with pytest.raises(DataError, match="have no names"):
        model.fit(DRUGS).transform(make_graphs(3))


def test_the_shipped_encoder() -> None:
    model = igsd.pretrained("molecules")
    vectors = model.transform(DRUGS)
    assert vectors.shape == (len(DRUGS), model.n_features_out_)
    assert len(np.unique(vectors, axis=0)) == len(DRUGS)
    assert np.array_equal(igsd.load_model("molecules").transform(DRUGS), vectors)


def test_a_spelling_does_not_matter() -> None:
    model = pretrained()
    plain = np.concatenate([model.transform([smiles]) for smiles in DRUGS])
    other = np.concatenate([model.transform([kekulised(smiles)]) for smiles in DRUGS])
    assert np.array_equal(plain, other)
    together = model.transform([*DRUGS, *map(kekulised, DRUGS)])
    assert np.array_equal(together[: len(DRUGS)], together[len(DRUGS) :])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C/C=C/C", "C/C=C\\C"),
        ("C[C@H](N)O", "C[C@@H](N)O"),
        ("C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1"),
        ("NCC(=O)O", "[NH3+]CC(=O)[O-]"),
        ("c1ccccc1", "C1CCCCC1"),
        ("CC#C", "CC=C"),
    ],
)
def test_what_chemists_tell_apart(one: str, other: str) -> None:
    first, second = pretrained().transform([one, other])
    assert not np.allclose(first, second)


@pytest.mark.parametrize("smiles", ["[Xe]", "*CC", "[Na+].[Cl-]", "[NH3]->[Cu]", "C", "[U]"])
def test_odd_molecules_have_vectors(smiles: str) -> None:
    assert np.isfinite(pretrained().transform([smiles])).all()


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "molecules.safetensors").write_bytes(b"something else")
    (tmp_path / "shipped" / "molecules.sha256").write_text("0" * 64)
    monkeypatch.setattr(module.resources, "files", lambda name: tmp_path)
    with pytest.raises(StorageError, match="checksum differs"):
        pretrained("molecules")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="no pre-trained model 'moleculs'"):
        pretrained("moleculs")


def test_the_map_of_a_handful_of_molecules_is_found() -> None:
    """PyTorch's solver gave up on the many equal eigenvalues, and a whole command with it."""
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(48, 320, generator=generator)
    counts = (torch.rand(48, 1024, generator=generator) < 0.02).float()
    weight, bias = vector_map(h, torch.cat([h[:, :8], counts], dim=1), 1024, 432, 0)
    assert weight.shape == (440, 320)
    assert weight.isfinite().all()
    assert bias.isfinite().all()


def test_a_column_that_hardly_varies_gives_weights_that_float16_holds() -> None:
    """Three molecules of BBBP had numbers near 1e-5 there, and the weights became infinite."""
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(500, 12, generator=generator)
    h[:, 0] = 0
    h[:3, 0] = 1e-5
    targets = torch.randn(500, 3 + 8, generator=generator)
    targets[:3] += 6.0
    weight, bias = vector_map(h, targets, 8, 6, seed=0)
    assert weight.half().isfinite().all()
    assert bias.half().isfinite().all()
