from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.baselines.registry import (
    METHODS,
    build,
    configure,
    defaults,
    has_kernel,
    load_model,
    make_method,
    method,
    method_names,
    name_of,
    note_on_vectors,
    setting_names,
    takes_recipe,
    untrained_copy,
)
from igsd.errors import ConfigError, IGSDError, StorageError
from igsd.estimators import IGSD, IGSDClassifier
from igsd.experiments.run_folder import RunFolder
from igsd.files.arrays import read_arrays, write_arrays
from igsd.graphs.graphset import GraphSet
from igsd.settings.igsd import Config
from igsd.settings.text import load_recipe
from tests.small_graphs import TINY

NAMES = [
    *("igsd", "infograph", "mvgrl", "graphcl", "gcc", "graph2vec", "deep-graph-kernel"),
    *("random-walk", "shortest-path", "graphlet", "wl", "mlg", "wl-oa", "gckn"),
    *("barlow", "byol", "untrained", "histogram", "ltp"),
]
FEW_LABELS = [
    *("infograph", "mean-teacher", "infograph-star", "gin", "igsd-self", "igsd-supcon"),
    *("gin+self-training", "igsd-self+self-training", "igsd-supcon+self-training"),
]
"""The eight rows of the paper's table, and InfoGraph of its figure."""
TRAINED = {"epochs": 1, "num_layers": 1, "hidden_dim": 4}


def test_every_method_of_the_tables_has_a_name() -> None:
    assert method_names() == NAMES
    few = [*FEW_LABELS[:4], "igsd-molecules", *FEW_LABELS[4:]]
    assert method_names("classes") == ["igsd", *few]
    assert method_names("numbers") == ["igsd", *few[:6]]


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match=r"no method 'wloa'.*'wl-oa'"):
        method("wloa")
    with pytest.raises(ConfigError, match=r"no method 'zzz'.*Valid names: barlow, byol"):
        make_method("zzz")
    for near, wanted in (("WL", "'wl'"), ("cmc-graph", "'mvgrl'"), ("Graph2Vec", "'graph2vec'")):
        with pytest.raises(ConfigError, match=f"Did you mean {wanted}"):
            make_method(near)
    with pytest.raises(ConfigError, match=r"no method 'mean-teachers'.*'mean-teacher'"):
        method("mean-teachers", "classes")


def test_a_method_of_another_task() -> None:
    for task in ("classes", "numbers"):
        with pytest.raises(ConfigError, match="no method 'wl'"):
            method("wl", task)
    with pytest.raises(ConfigError, match=r"'gin' learns from labels.*--splits random"):
        method("gin")
    with pytest.raises(ConfigError, match=r"GIN .* has no estimator of vectors without labels"):
        METHODS["gin"].estimator("vectors")


def test_a_recipe_is_for_methods_with_a_network() -> None:
    assert [name for name in NAMES if not takes_recipe(name)] == [
        *("graph2vec", "deep-graph-kernel", "random-walk", "shortest-path", "graphlet", "wl"),
        *("mlg", "wl-oa", "gckn", "histogram", "ltp"),
    ]


def test_unknown_parameter() -> None:
    with pytest.raises(ConfigError, match=r"'wl' has no parameter 'iteration'.*'iterations'"):
        make_method("wl", iteration=3)


def test_parameters_and_random_state() -> None:
    estimator = make_method("graph2vec", dim=7, random_state=5)
    assert (estimator.dim, estimator.random_state) == (7, 5)
    assert make_method("untrained", random_state=3).epochs == 0
    assert make_method("histogram", random_state=3).degree_cap == 64


def test_kernels_and_features() -> None:
    assert has_kernel(make_method("wl"))
    assert has_kernel(make_method("mlg"))
    assert not has_kernel(make_method("graph2vec"))


def test_the_names_cost_no_heavy_import() -> None:
    code = (
        "import sys; import igsd.baselines.registry; "
        "sys.exit(bool({'torch', 'sklearn', 'gensim', 'grakel'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_is_imported_before_the_clock_starts() -> None:
    assert METHODS["wl"].modules() == ("igsd.baselines.kernels.wl",)
    expected = ("igsd.baselines.kernels.wl", "gensim.models.doc2vec")
    assert METHODS["graph2vec"].modules() == expected


@pytest.mark.parametrize("name", NAMES)
def test_settings_of_every_method(name: str) -> None:
    config = configure(name, "molecules", {"seed": 3})
    estimator = build(name, config)
    assert name_of(estimator) == name
    assert getattr(estimator, "random_state", 3) == 3
    assert defaults(name).updated(config.to_json()) == config
    assert config.learned().keys() <= config.to_json().keys()
    assert config.to_toml()
    assert "seed" not in setting_names(name)


@pytest.mark.parametrize("name", FEW_LABELS)
def test_settings_of_every_method_with_labels(name: str) -> None:
    config = configure(name, "social", {"epochs": 7}, "classes")
    assert config.epochs == 7
    estimator = build(name, config, "classes")
    assert estimator.config() == config
    assert estimator.get_params().get("self_training", False) == name.endswith("+self-training")


def test_what_a_recipe_says_to_a_method() -> None:
    assert configure("igsd", "social") == load_recipe("social", Config)
    untrained = configure("untrained", "social")
    assert untrained == load_recipe("social", Config).updated({"epochs": 0})
    mvgrl, recipe = configure("mvgrl", "molecules"), load_recipe("molecules", Config)
    assert (mvgrl.batch_size, mvgrl.node_features) == (recipe.batch_size, recipe.node_features)
    # What was chosen for the method is not overruled by what was chosen for IGSD.
    assert (mvgrl.epochs, recipe.epochs) == (5, 60)
    assert configure("infograph", "molecules", {"epochs": 7}).epochs == 7


def test_the_two_kinds_of_igsd_with_labels() -> None:
    alone = configure("igsd-self", "social", task="classes")
    assert (alone.self_weight, alone.supcon_weight) == (1.0, 0.0)
    assert alone.pseudo_labels_feed == {"cross-entropy"}
    pulled = configure("igsd-supcon+self-training", "molecules", task="classes")
    assert (pulled.self_weight, pulled.supcon_weight) == (0.0, 1.0)
    assert pulled.pseudo_labels_feed == {"supcon"}
    assert METHODS["igsd-supcon"].estimator("classes") is IGSDClassifier


def test_methods_with_labels_share_what_they_have_in_common() -> None:
    shared = ("epochs", "num_layers", "hidden_dim", "learning_rate", "label_batch_size", "readout")
    configs = [configure(name, "social", task="classes") for name in FEW_LABELS]
    assert len({tuple(getattr(config, key) for key in shared) for config in configs}) == 1


def test_methods_for_numbers() -> None:
    """Five names once ran the same training for numbers, each filed under its own."""
    configs = [configure(name, "molecules", {"epochs": 7}, "numbers") for name in FEW_LABELS[:5]]
    assert len({type(config) for config in configs}) == len(configs)
    for name in FEW_LABELS[5:]:
        with pytest.raises(ConfigError, match=r"needs classes.*there are igsd, infograph, "):
            configure(name, "molecules", {}, "numbers")


def test_igsd_with_labels_is_called_igsd_where_it_is_trained() -> None:
    """``igsd train`` knows it by this name, the tables by those of its parts."""
    for task, name in (("classes", "igsd-supcon+self-training"), ("numbers", "igsd-self")):
        assert configure("igsd", "social", task=task) == configure(name, "social", task=task)


def test_settings_that_a_method_does_not_have() -> None:
    for name, key in (("wl", "epochs"), ("untrained", "epochs"), ("infograph", "temperature")):
        with pytest.raises(ConfigError, match=f"'{name}' has no setting '{key}'"):
            configure(name, "molecules", {key: 1})
    with pytest.raises(ConfigError, match="no setting 'temperature'"):
        configure("gin", "social", {"temperature": 1.0}, "classes")
    with pytest.raises(ConfigError, match="no recipe 'x'"):
        configure("wl", "x")


def test_only_stochastic_methods_depend_on_their_seed() -> None:
    assert {name for name in NAMES if not METHODS[name].stochastic} == {
        *("deep-graph-kernel", "random-walk", "shortest-path", "graphlet", "wl", "wl-oa"),
        *("histogram", "ltp"),
    }


def test_any_model_from_a_file_or_a_run_folder(tmp_path: Path, graphs: GraphSet) -> None:
    (tmp_path / "run").mkdir()
    for model, path in (
        (IGSD(**(TINY | {"epochs": 0})), tmp_path / "run" / "model.safetensors"),
        (LabelDegreeHistogram(), tmp_path / "any name"),
        (make_method("wl"), tmp_path / "wl"),
        (make_method("infograph", **TRAINED), tmp_path / "infograph"),
        (IGSDClassifier(**TRAINED), tmp_path / "classifier"),
    ):
        model.fit(graphs, [0, 1] * (len(graphs) // 2)).save(path)
        loaded = load_model(path.parent if path.suffix else path)
        assert type(loaded) is type(model)
        assert np.array_equal(loaded.transform(graphs), model.transform(graphs))


def test_a_kernel_without_vectors_says_so() -> None:
    assert note_on_vectors(make_method("wl")) is None
    assert note_on_vectors(make_method("graph2vec")) is None
    assert "similarity to one graph of its training" in str(note_on_vectors(make_method("mlg")))


def test_weights_that_do_not_fit_their_settings(tmp_path: Path, graphs: GraphSet) -> None:
    IGSD(**(TINY | {"epochs": 0})).fit(graphs).save(tmp_path / "model")
    arrays, header = read_arrays(tmp_path / "model", "model")
    write_arrays(tmp_path / "odd", dict(list(arrays.items())[:-1]), header)
    with pytest.raises(IGSDError, match=r"do not fit|damaged"):
        load_model(tmp_path / "odd")
    del header["features"]
    write_arrays(tmp_path / "odd", arrays, header)
    with pytest.raises(StorageError, match="damaged"):
        load_model(tmp_path / "odd")
    write_arrays(tmp_path / "odd", arrays, header | {"estimator": "Guess"})
    with pytest.raises(StorageError, match="unknown kind 'Guess'"):
        load_model(tmp_path / "odd")


def test_folders_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="without a model"):
        load_model(tmp_path)
    RunFolder(tmp_path / "run").create({}, Config())
    with pytest.raises(StorageError, match=r"not finished.*--resume"):
        load_model(tmp_path / "run")
    with pytest.raises(StorageError, match="no model at"):
        load_model(tmp_path / "nothing")


def test_an_untrained_copy_is_the_encoder_that_training_starts_from(graphs: GraphSet) -> None:
    config = Config().updated(TINY | {"seed": 3})
    untrained = untrained_copy(IGSD.from_config(config)).fit(graphs)
    assert untrained.history_ == []
    assert untrained.get_params()["random_state"] == 3
    vectors = untrained.transform(graphs)
    assert np.array_equal(vectors, untrained_copy(IGSD.from_config(config)).fit_transform(graphs))
    assert not np.array_equal(vectors, IGSD.from_config(config).fit_transform(graphs))
    other = untrained_copy(IGSD.from_config(config.updated({"seed": 4}))).fit_transform(graphs)
    assert not np.array_equal(vectors, other)
