"""Settings by composition are those that methods had when each class listed what it left out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from igsd.baselines.registry import METHODS, TASKS
from igsd.errors import ConfigError, IGSDWarning
from igsd.settings.groups import warn_without_effect
from igsd.settings.igsd import Config, PretrainConfig, SemiConfig, SemiRegressionConfig

OLD: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("old_settings.json").read_text()
)
"""Names and defaults of each class before settings were composed of groups (commit a77b849)."""

NEW = ["warmup_epochs", "schedule", "sync_batch_norm"]
"""Settings that every neural method got then."""
CARRIED = ["node_attributes", "edge_weight", "directed"]
"""What graphs carry, for every method whose nodes have features."""
NEW_WITHOUT_LABELS = [*NEW, "halve_every"]
NEW_FOR_BASELINES = [
    *NEW_WITHOUT_LABELS,
    "devices",
    "distance_bins",
    "edge_hidden_dim",
    "set2set_steps",
]
SUBTREES = ["infonce_weight", "subtree_height", "subtree_weight"]
NEW_WITH_LABELS = [*NEW, "most_steps"]
ADDED = {
    "HistogramConfig": ["head"],
    "Config": [*NEW_WITHOUT_LABELS, "loss", *SUBTREES],
    "BYOLConfig": [*NEW_FOR_BASELINES, "num_views"],
    "BarlowTwinsConfig": [*NEW_FOR_BASELINES, "num_views"],
    "MVGRLConfig": NEW_FOR_BASELINES,
    "GCCConfig": [*NEW_WITHOUT_LABELS, "devices"],
    "GraphCLConfig": NEW_FOR_BASELINES,
    "InfoGraphVectorsConfig": NEW_FOR_BASELINES,
    "SemiConfig": [*NEW_WITH_LABELS, "loss", "pretraining_targets", *SUBTREES],
    "SemiRegressionConfig": [*NEW_WITH_LABELS, "loss", "pretraining_targets", *SUBTREES],
    "InfoGraphConfig": NEW_WITH_LABELS,
    "InfoGraphStarConfig": NEW_WITH_LABELS,
    "MeanTeacherConfig": NEW_WITH_LABELS,
    "SupervisedConfig": NEW_WITH_LABELS,
    "SupervisedRegressionConfig": NEW_WITH_LABELS,
}
CLASSES = {
    cls.__name__: cls
    for known in METHODS.values()
    for cls in (known.estimator(task).config_class for task in TASKS if known.does(task))
}


@pytest.mark.parametrize("name", OLD)
def test_names_and_defaults(name: str) -> None:
    today = CLASSES[name]().to_json()
    assert {key: today.get(key) for key in OLD[name]} == OLD[name]
    added = ADDED.get(name, []) + (CARRIED if "node_features" in today else [])
    assert sorted(today.keys() - OLD[name].keys()) == sorted(added)


@pytest.mark.parametrize("name", OLD)
def test_stored_settings_open(name: str) -> None:
    assert CLASSES[name].from_json(OLD[name]) == CLASSES[name]()


@pytest.mark.parametrize("name", CLASSES)
def test_every_setting_is_in_a_group_and_explained(name: str) -> None:
    for entry in CLASSES[name].settings():
        assert entry.metadata["group"] in CLASSES[name].groups
        assert len(entry.metadata["help"]) > 5


@pytest.mark.parametrize("name", CLASSES)
def test_absurd_numbers_are_refused_by_every_setting(name: str) -> None:
    """``num_layers=100000000`` once ran until the memory was used up."""
    for entry in CLASSES[name].settings():
        if type(entry.default) in (int, float):
            with pytest.raises(ConfigError, match=f"'{entry.name}' .* (at most|less than) "):
                CLASSES[name]().updated({entry.name: type(entry.default)(10**18)})


@pytest.mark.parametrize(
    ("changes", "asked", "words"),
    [
        ({"heat_time": 3.0}, "heat_time", "view='heat'"),
        ({"view": "edge-drop", "threshold": 0.1}, "threshold", "a diffusion without top_k"),
        ({"drop_rate": 0.5}, "drop_rate", "a random view"),
        ({"distance_bins": 5}, "distance_bins", "encoder='mpnn'"),
        ({"encoder": "mpnn", "readout": "max"}, "readout", "other encoders than 'mpnn'"),
        ({"subtree_height": 3}, "subtree_height", "a subtree_weight above 0"),
        ({"projector": False, "predictor": False, "head_dim": 8}, "head_dim", "projector=True"),
    ],
)
def test_settings_that_change_nothing_are_named(
    changes: dict[str, object], asked: str, words: str
) -> None:
    """They were accepted without a word and gave the same bytes."""
    settings = Config().updated(changes)
    with pytest.warns(IGSDWarning, match=f"{asked}=.* changes nothing here: that is for {words}"):
        warn_without_effect(settings, [asked])


def test_targets_without_a_pretraining_are_named() -> None:
    settings = SemiRegressionConfig().updated({"pretraining_targets": "geometry"})
    with pytest.warns(IGSDWarning, match="that is for pretraining_epochs above 0"):
        warn_without_effect(settings, ["pretraining_targets"])


@pytest.mark.parametrize("name", ["subtree_weight", "pretraining_epochs"])
def test_what_a_training_on_free_targets_does_not_do_is_named(name: str) -> None:
    """`igsd pretrain --set subtree_weight=1` was accepted and ignored."""
    settings = PretrainConfig().updated({name: 1})
    with pytest.warns(IGSDWarning, match=f"{name}=.* changes nothing here"):
        warn_without_effect(settings, [name])


def test_settings_of_a_recipe_are_not_named() -> None:
    settings = SemiConfig().updated({"self_training": False, "subtree_height": 3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_without_effect(settings, ["self_training", "epochs", "view"])
    with pytest.warns(IGSDWarning, match="self_training=True"):
        warn_without_effect(settings, ["self_training_rounds"])
