from __future__ import annotations

import inspect
import pydoc
import re
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.baselines.registry import METHODS, TASKS, make_method, method_names
from igsd.errors import ConfigError
from igsd.estimators import IGSD, IGSDClassifier
from igsd.estimators.base import ConfiguredEstimator, parameter_docs, settings_as_parameters
from igsd.settings.fields import Settings, setting
from igsd.settings.igsd import SemiConfig
from tests.small_graphs import make_graphs


class CountConfig(Settings):
    """One setting, and a parameter that is none."""

    besides: ClassVar = {"verbose": False}

    times: int = setting(1, "run", "what sizes are multiplied with", low=1)


@settings_as_parameters(CountConfig)
class Count(ConfiguredEstimator[CountConfig]):
    """The smallest estimator with settings: the number of graphs."""

    def fit(self, X: Any, y: Any = None) -> Count:
        self.config_ = self._config_of_fit()
        return self

    @property
    def n_features_out_(self) -> int:
        return 2


def test_settings_are_parameters_and_come_back() -> None:
    config = CountConfig(seed=3, times=2)
    made = Count.from_config(config, verbose=True)
    assert made.get_params() == {"times": 2, "random_state": 3, "verbose": True}
    assert made.config() == config
    with pytest.raises(ConfigError, match="'times' parameter of Count must be at least 1"):
        Count(times=0).config()
    with pytest.raises(ConfigError, match="'random_state' parameter of Count"):
        Count(random_state=-1).fit([])


def test_a_drawn_seed_is_the_one_of_the_fit() -> None:
    made = Count(random_state=np.random.default_rng(0))
    assert made.config().seed == 0
    first = made.fit([]).config_.seed
    assert made.config().seed == first != 0
    assert made.fit([]).config_.seed != first


def test_columns_are_named_after_the_class() -> None:
    with pytest.raises(NotFittedError):
        Count().get_feature_names_out()
    assert Count().fit([]).get_feature_names_out().tolist() == ["count0", "count1"]

    class CountKernel(Count):
        """Called as the method that it is."""

    assert CountKernel().fit([]).get_feature_names_out().tolist() == ["count0", "count1"]


@pytest.mark.parametrize("estimator", [Count(), IGSD(), LabelDegreeHistogram()])
def test_scikit_learn_is_told_that_graphs_come_in(estimator: BaseEstimator) -> None:
    tags = get_tags(estimator)
    assert tags.no_validation
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.string
    assert tags.transformer_tags is not None


def test_the_signature_is_the_configuration() -> None:
    parameters = inspect.signature(IGSDClassifier).parameters
    defaults = {name: p.default for name, p in parameters.items()}
    besides = SemiConfig.besides
    assert {name: defaults.pop(name) for name in besides} == besides
    assert IGSDClassifier.config_class is SemiConfig
    assert defaults.pop("random_state") == SemiConfig.seed
    assert set(defaults) == {*SemiConfig().to_json()} - {"seed"}
    kept = {name: value for name, value in defaults.items() if value is not None}
    assert kept == {"node_attributes": "auto", "edge_weight": "weight"}  # else the recipe decides
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


def test_stored_as_given() -> None:
    model = IGSDClassifier(epochs="many", random_state=None)
    assert model.epochs == "many"
    assert model.get_params()["random_state"] is None


def test_an_unknown_keyword() -> None:
    with pytest.raises(TypeError, match=r"IGSDClassifier.*'epoch'"):
        IGSDClassifier(epoch=3)


@pytest.mark.parametrize(
    ("name", "task"), [(name, task) for task in TASKS for name in method_names(task)]
)
def test_help_documents_every_keyword_once(name: str, task: str) -> None:
    estimator = METHODS[name].estimator(task)
    text = inspect.getdoc(estimator) or ""
    listed = re.findall(r"^(\w+) : [\w, ]+, default=(.+)\n    \w", text, re.MULTILINE)
    parameters = inspect.signature(estimator).parameters.values()
    assert listed == [(parameter.name, repr(parameter.default)) for parameter in parameters]
    assert text.index(parameter_docs(estimator.config_class)) > 0
    first = text.split("\n", 1)[0]
    assert first.endswith(".")


def test_help_is_a_manual() -> None:
    text = pydoc.render_doc(IGSD, renderer=pydoc.plaintext)
    for part in (
        "view : str, default=None",
        "'ppr' without a recipe",
        "'attribute-mask'",
        "``nn.Module``",
        "random_state",
    ):
        assert part in text


def test_notebooks_show_what_a_fitted_model_learned() -> None:
    model = make_method("histogram", degree_cap=7)
    assert "fitted</caption>" not in model._repr_html_()
    shown = model.fit(make_graphs(4))._repr_html_()
    assert shown.startswith("<table><caption>LabelDegreeHistogram, fitted</caption>")
    assert "degree_cap=7" in shown
    assert "script" not in shown
