from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

pytest.importorskip("rdkit")

import igsd
from igsd.errors import ConfigError, DataError, IGSDWarning, StorageError
from igsd.estimators.predictions import prediction_columns
from igsd.estimators.predictor import MoleculeClassifier, MoleculeRegressor
from igsd.files.arrays import read_arrays, write_arrays
from tests.small_graphs import make_graphs

CHAINS = [f"{'C' * n}{end}" for n in range(2, 14) for end in ("O", "N", "Cl", "C(=O)O")]
RINGS = [f"c1ccccc1{'C' * n}{end}" for n in range(12) for end in ("O", "N", "Cl", "C(=O)O")]
MOLECULES = [text for pair in zip(CHAINS, RINGS, strict=True) for text in pair]
IS_RING = np.array(["ring" if "c" in text else "chain" for text in MOLECULES])
LENGTH = np.array([float(len(text)) for text in MOLECULES])
QUICK = {"models": "linear+kernel", "inputs": "vectors+fragments"}


def test_classes_with_few_labels() -> None:
    y = [label if i % 4 < 2 else None for i, label in enumerate(IS_RING)]
    model = MoleculeClassifier(**QUICK).fit(MOLECULES, y)
    assert model.score(MOLECULES, IS_RING) > 0.95
    assert model.classes_.tolist() == ["chain", "ring"]
    assert "48 of 96 molecules have no label" in model.notes_[0]
    p = model.predict_proba(MOLECULES)
    assert np.allclose(p.sum(axis=1), 1)


def test_how_molecules_were_standardised_is_kept(tmp_path: Path) -> None:
    """A model file lost it, and predicted salts as other molecules than its run folder did."""
    graphs = igsd.open_data([f"{text}.Cl" for text in MOLECULES[:40]], standardise=True)
    y, salts = IS_RING[:40], ["c1ccccc1CC[NH3+].[Cl-]", "CC(=O)[O-].[Na+]"]
    expected = igsd.open_data(salts, standardise=True)
    for model in (MoleculeClassifier(**QUICK), igsd.IGSDClassifier()):
        model.fit(graphs, y).save(tmp_path / "model")
        for each in (model, igsd.load_model(tmp_path / "model")):
            assert each.standardised_ == "neutral"
            assert np.array_equal(each.predict_proba(salts), model.predict_proba(expected))
            assert np.array_equal(each.transform(salts), model.transform(expected))
            assert each.score(salts, ["ring", "chain"]) in (0, 0.5, 1)


def test_numbers_have_intervals() -> None:
    y = np.column_stack([LENGTH, -LENGTH])
    hidden = np.random.default_rng(0).permutation(len(y))[:40]
    y[hidden] = np.nan
    y[np.setdiff1d(np.arange(len(y)), hidden)[0], 0] = np.nan
    model = MoleculeRegressor(**QUICK).fit(MOLECULES, y, target_names=("a", "b"))
    low, high = model.predict_interval(MOLECULES, 0.9)
    assert low.shape == (len(MOLECULES), 2)
    truth = np.column_stack([LENGTH, -LENGTH])
    assert ((low <= truth) & (truth <= high)).mean() > 0.8
    assert model.score(MOLECULES, truth) > 0.9
    assert model.summary(1)[0]["MAE"] < LENGTH.std()
    with pytest.raises(ConfigError, match="coverage"):
        model.predict_interval(MOLECULES, 1.5)


def test_equal_numbers_have_no_r2() -> None:
    """It was 1.000, although there was nothing to explain."""
    y = np.column_stack([np.full(40, 1.5), LENGTH[:40]])
    with pytest.warns(IGSDWarning, match="nothing to learn"):
        model = MoleculeRegressor(models="linear").fit(MOLECULES[:40], y)
    assert {row["R2"] for row in model.summary(0)} == {"-"}
    assert isinstance(model.summary(1)[0]["R2"], float)


def test_a_file_gives_the_same_predictions(tmp_path: Path) -> None:
    for model, y in ((MoleculeClassifier(), IS_RING), (MoleculeRegressor(**QUICK), LENGTH)):
        model.fit(MOLECULES[:40], y[:40]).save(tmp_path / "model")
        again = igsd.load_model(tmp_path / "model")
        assert type(again) is type(model)
        assert np.array_equal(again.predict(MOLECULES), model.predict(MOLECULES))
        assert np.array_equal(again.transform(MOLECULES), model.transform(MOLECULES))
        assert again.nearness(MOLECULES) == model.nearness(MOLECULES)
        assert again.summary() == model.summary()


@pytest.mark.parametrize("part", ["inputs", "head", "weight", "models", "labels"])
def test_a_file_whose_parts_do_not_fit_is_refused(part: str, tmp_path: Path) -> None:
    """Such files, with true checksums, ended in tracebacks of NumPy."""
    MoleculeClassifier(**QUICK).fit(MOLECULES[:20], IS_RING[:20]).save(tmp_path / "m")
    arrays, header = read_arrays(tmp_path / "m", "model")
    ensemble = header["ensembles"][0]
    used = ensemble["candidates"][ensemble["models"][0]]
    if part in ("inputs", "head"):
        used[("inputs", "head").index(part)] = None
    elif part == "weight":
        used[5] = {}
    elif part == "models":
        ensemble["models"].append(99)
    else:
        header["known_labels"] = header["known_labels"][:-1]
    write_arrays(tmp_path / "m", {name: np.array(array) for name, array in arrays.items()}, header)
    with pytest.raises(StorageError, match="damaged, or a model of another version"):
        MoleculeClassifier.load(tmp_path / "m")


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, other = (MoleculeClassifier().fit(MOLECULES[:30], IS_RING[:30]) for _ in range(2))
    assert np.array_equal(one.predict_proba(MOLECULES), other.predict_proba(MOLECULES))


def test_what_is_near() -> None:
    model = MoleculeClassifier(**QUICK).fit(MOLECULES[:40], IS_RING[:40])
    about = model.nearness([MOLECULES[3], "C[N+](C)(C)CC(=O)N1CSC2=C1C(Br)=C(S(=O)(=O)F)C2=O"])
    assert about["distance"][0] == pytest.approx(0, abs=1e-3)
    assert about["nearest"][0] == MOLECULES[3]
    assert about["nearest_label"][0] == IS_RING[3]
    assert about["is_far"] == [False, True]
    places, distances = model.nearest_labelled(MOLECULES[:5], k=3)
    assert places[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert (np.diff(distances, axis=1) >= 0).all()


def test_repeats_of_a_molecule_are_held_out_together() -> None:
    """A copy in the training part gave the label away: random numbers had an R2 of 0.9."""
    y = np.random.default_rng(0).normal(size=40)
    salts = [f"{text}.Cl" for text in MOLECULES[:40]]
    with pytest.warns(IGSDWarning, match="40 labels repeat a molecule"):
        model = MoleculeRegressor().fit(MOLECULES[:40] + salts, np.tile(y, 2))
    assert "40 labels repeat a molecule" in model.notes_[0]
    assert max(float(str(row["R2"])) for row in model.summary()) < 0.3


def test_each_target_has_its_own_nearest_molecule() -> None:
    """The nearest molecule had no label for that target, and its label was nan."""
    y = np.column_stack([LENGTH[:40], LENGTH[:40]])
    y[:20, 0], y[20:, 1] = np.nan, np.nan
    model = MoleculeRegressor(models="linear").fit(MOLECULES[:40], y, target_names=("a", "b"))
    about = model.nearness([MOLECULES[3], MOLECULES[30]])
    assert about["nearest_b"][0] == MOLECULES[3]
    assert about["nearest_a"][1] == MOLECULES[30]
    assert about["nearest_label_b"][0] == f"{LENGTH[3]:g}"
    assert about["nearest_a"][0] in MOLECULES[20:40]
    assert "nan" not in [*about["nearest_label_a"], *about["nearest_label_b"]]
    places, _ = model.nearest_labelled(MOLECULES[:2], target=0)
    assert (places >= 20).all()
    columns = prediction_columns(model, igsd.open_data(MOLECULES[:2]))
    assert {"a", "b", "nearest_a", "nearest_b"} <= set(columns)


def test_classes_that_have_several_molecules_are_judged() -> None:
    """A class with a single molecule left the predictions of all others without an estimate."""
    y = [*IS_RING[:39], "other"]
    with pytest.warns(IGSDWarning, match="single labelled graph"):
        model = MoleculeClassifier(**QUICK).fit(MOLECULES[:40], y)
    assert float(str(model.summary()[0]["accuracy"])) > 0.8


def test_too_few_labels_for_an_interval() -> None:
    """Intervals from three labels were as narrow as their largest error, and covered anything."""
    model = MoleculeRegressor(models="linear").fit(MOLECULES[:8], LENGTH[:8])
    low, high = model.predict_interval(MOLECULES[:2])
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()
    columns = prediction_columns(model, igsd.open_data(MOLECULES[:2]))
    assert columns["value_low"] == columns["value_high"] == [None, None]
    model = MoleculeRegressor(models="linear").fit(MOLECULES[:9], LENGTH[:9])
    assert np.isfinite(model.half_widths()).all()
    assert np.isinf(model.half_widths(0.95)).all()


def test_few_labels_do_not_make_ordinary_molecules_far() -> None:
    """Columns were scaled over the labelled molecules: half of all others seemed far from ten."""
    rng = np.random.default_rng(0)
    far = []
    for _ in range(5):
        order = rng.permutation(len(MOLECULES))
        train, rest = order[:10], order[10:]
        model = MoleculeRegressor(models="linear", inputs="vectors")
        model.fit([MOLECULES[i] for i in train], LENGTH[train])
        far += model.nearness([MOLECULES[i] for i in rest])["is_far"]
    assert np.mean(far) < 0.3


def test_the_estimate_has_a_standard_error(tmp_path: Path) -> None:
    first, *others = MoleculeClassifier(**QUICK).fit(MOLECULES[:40], IS_RING[:40]).summary()
    assert 0 <= float(str(first["standard error"])) < 0.1
    assert {row["standard error"] for row in others} == {""}


def test_an_encoder_of_ones_own(tmp_path: Path) -> None:
    igsd.pretrained("molecules").save(tmp_path / "own.safetensors")
    own = {"encoder": str(tmp_path / "own.safetensors"), **QUICK}
    model = MoleculeClassifier(**own).fit(MOLECULES[:20], IS_RING[:20])
    plain = MoleculeClassifier(**QUICK).fit(MOLECULES[:20], IS_RING[:20])
    assert np.array_equal(model.predict_proba(MOLECULES), plain.predict_proba(MOLECULES))
    with pytest.raises(ConfigError, match="no pre-trained model 'x'"):
        MoleculeClassifier(encoder="x").fit(MOLECULES[:20], IS_RING[:20])


@pytest.mark.parametrize("y", [["a", "a", "b"], ["a", "b", "c"], [0, 1, 1]])
def test_three_labels_are_enough(y: list[object]) -> None:
    few, single = "too few labels to say how good", "single labelled graph"
    with pytest.warns(IGSDWarning, match=few), pytest.warns(IGSDWarning, match=single):
        model = igsd.IGSDClassifier().fit(["CCO", "CCN", "c1ccccc1"], y).predictor_
    assert np.isfinite(model.predict_proba(MOLECULES)).all()
    assert "too few labels" in model.notes_[-1]
    assert model.summary()[0]["weight"] == 1
    assert "-" in model.summary()[0].values()


def test_a_molecule_of_two_thousand_atoms() -> None:
    """Two of RDKit's descriptors took more than ten minutes for it."""
    peptide = f"N{'CC(=O)N' * 500}CC(=O)O"
    model = MoleculeRegressor(models="linear").fit(MOLECULES[:20], LENGTH[:20])
    assert np.isfinite(model.predict([peptide, "CCO"])).all()


def test_what_is_refused() -> None:
    with pytest.raises(DataError, match="at least two classes"):
        MoleculeClassifier().fit(["CCO", "CCN"], ["a", "a"])
    with pytest.raises(DataError, match="at least 3 labels"):
        MoleculeRegressor().fit(["CCO", "CCN", "C"], [1.0, 2.0, None])
    with pytest.raises(DataError, match="SMILES of every graph"):
        MoleculeClassifier().fit(make_graphs(3), [0, 1, 1])
    with pytest.raises(ConfigError, match="different names out of"):
        MoleculeClassifier(models="tree").fit(MOLECULES, IS_RING)


def test_defaults_hand_molecules_over(tmp_path: Path) -> None:
    model = igsd.IGSDClassifier().fit(MOLECULES[:40], IS_RING[:40])
    direct = MoleculeClassifier().fit(MOLECULES[:40], IS_RING[:40])
    assert np.array_equal(model.predict_proba(MOLECULES), direct.predict_proba(MOLECULES))
    assert model.transform(MOLECULES[:3]).shape == (3, model.n_features_out_)
    model.save(tmp_path / "model")
    again = igsd.IGSDClassifier.load(tmp_path / "model")
    assert np.array_equal(again.predict(MOLECULES), model.predict(MOLECULES))
    assert again.score(MOLECULES, IS_RING) == model.score(MOLECULES, IS_RING)
    numbers = igsd.IGSDRegressor().fit(MOLECULES[:40], LENGTH[:40])
    low, high = numbers.predict_interval(MOLECULES)
    assert (low < numbers.predict(MOLECULES)).all()
    assert (high > low).all()


def test_a_setting_trains_a_network() -> None:
    model = igsd.IGSDClassifier(epochs=1, pretraining_epochs=0, hidden_dim=8)
    model.fit(MOLECULES[:40], IS_RING[:40])
    assert model.predictor_ is None
    assert model.recipe_ == "molecules"
    assert model.config_.epochs == 1
    assert model.config_.num_layers == 4
    numbers = igsd.IGSDRegressor(recipe=None, epochs=1).fit(MOLECULES[:40], LENGTH[:40])
    assert numbers.config_.num_layers == type(numbers.config_)().num_layers
    with pytest.raises(ConfigError, match="has no intervals"):
        numbers.predict_interval(MOLECULES)


def test_held_out_outputs_are_in_the_unit_of_the_target() -> None:
    """The page of a run draws them over the given numbers."""
    smiles = [*("C" * n for n in range(1, 21)), *("C" * n + "O" for n in range(1, 11))]
    y = np.array([100.0 + 10 * len(text) for text in smiles])
    y[::5] = np.nan
    model = MoleculeRegressor(inputs="descriptors", models="linear").fit(smiles, y)
    ((rows, held),) = model.held_out_
    assert rows.tolist() == np.flatnonzero(~np.isnan(y)).tolist()
    errors = np.sort(np.abs(held[:, 0] - y[rows]))
    # Targets are standardised in single precision.
    residuals = model.ensembles_[0].residuals * model.scale_.scale[0]
    np.testing.assert_allclose(errors, residuals, rtol=1e-4, atol=1e-4)


def test_intervals_of_what_is_not_fitted_or_no_share() -> None:
    with pytest.raises(NotFittedError):
        igsd.IGSDRegressor().predict_interval(MOLECULES)
    model = MoleculeRegressor(**QUICK).fit(MOLECULES[:20], LENGTH[:20])
    for share in ("0.9", None, 0, 1, float("nan")):
        with pytest.raises(ConfigError, match="coverage must be a number between 0 and 1"):
            model.predict_interval(MOLECULES[:2], share)  # type: ignore[arg-type]


def test_several_columns_of_0_and_1_are_probabilities(tmp_path: Path) -> None:
    """They were learned as numbers, silently: a chemist with Tox21 expects probabilities."""
    y = np.column_stack([IS_RING == "ring", LENGTH, ["O" in text for text in MOLECULES]]) * 1.0
    y[::3, 0], y[1::4, 2] = np.nan, np.nan
    model = MoleculeRegressor(**QUICK).fit(MOLECULES, y, target_names=("ring", "length", "O"))
    assert model.are_probabilities_ == [True, False, True]
    predicted = model.predict(MOLECULES)
    assert ((predicted[:, [0, 2]] > 0) & (predicted[:, [0, 2]] < 1)).all()
    assert ((predicted[:, 0] > 0.5) == (IS_RING == "ring")).mean() > 0.95
    assert model.summary(0)[0]["ROC-AUC"] > 0.95
    assert "MAE" in model.summary(1)[0]
    assert "Only 0 and 1 occur in ring, O" in model.notes_[-1]
    rows, held = model.held_out_[0]
    assert rows.tolist() == np.flatnonzero(~np.isnan(y[:, 0])).tolist()
    assert held.shape == (len(rows), 1)
    columns = prediction_columns(model, igsd.open_data(MOLECULES))
    assert np.array_equal(columns["ring_probability"], predicted[:, 0])
    assert {"length", "length_low", "length_high"} <= set(columns)
    assert not {"ring", "ring_low", "ring_probability_low"} & set(columns)
    model.save(tmp_path / "model")
    assert np.array_equal(igsd.load_model(tmp_path / "model").predict(MOLECULES), predicted)


def test_a_single_column_of_0_and_1_is_numbers_if_they_are_asked_for() -> None:
    model = MoleculeRegressor(**QUICK).fit(MOLECULES, (IS_RING == "ring") * 1.0)
    assert model.are_probabilities_ == [False]
