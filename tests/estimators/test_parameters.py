from __future__ import annotations

import inspect

import pytest

from igsd.config_semi import SemiConfig
from igsd.estimators import IGSDClassifier


def test_the_signature_is_the_configuration() -> None:
    parameters = inspect.signature(IGSDClassifier).parameters
    defaults = {name: p.default for name, p in parameters.items()}
    besides = SemiConfig.besides
    assert {name: defaults.pop(name) for name in besides} == besides
    assert IGSDClassifier.config_class is SemiConfig
    defaults["seed"] = defaults.pop("random_state")
    assert defaults == SemiConfig().to_json()
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


def test_stored_as_given() -> None:
    model = IGSDClassifier(epochs="many", random_state=None)
    assert model.epochs == "many"
    assert model.get_params()["random_state"] is None


def test_an_unknown_keyword() -> None:
    with pytest.raises(TypeError, match=r"IGSDClassifier.*'epoch'"):
        IGSDClassifier(epoch=3)
