"""``settings_as_parameters``: the settings of a configuration as the keywords of an estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from igsd.settings import Settings

T = TypeVar("T", bound=type)


def parameter_defaults(config_class: type[Settings]) -> dict[str, Any]:
    """Return the parameters of an estimator and their defaults; ``seed`` is ``random_state``."""
    defaults = {entry.name: entry.default for entry in config_class.settings()}
    seed = defaults.pop("seed")
    return defaults | {"random_state": seed} | dict(config_class.besides)


def settings_as_parameters(config_class: type[Settings]) -> Callable[[T], T]:
    """Return a class decorator that gives ``config_class`` and a constructor with its settings.

    The signature is what scikit-learn, ``help`` and editors read. Like every constructor of
    scikit-learn it stores what it is given and checks nothing: ``fit`` does.
    """
    defaults = parameter_defaults(config_class)

    def decorate(cls: T) -> T:
        def store(self: Any, **given: Any) -> None:
            for name in given:
                if name not in defaults:
                    raise TypeError(
                        f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                        f"{name!r}"
                    )
            for name, default in defaults.items():
                setattr(self, name, given.get(name, default))

        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
        ]
        store.__name__, store.__qualname__ = "__init__", f"{cls.__qualname__}.__init__"
        store.__signature__ = inspect.Signature([itself, *keywords])  # type: ignore[attr-defined]
        cls.__init__ = store  # type: ignore[misc]
        cls.config_class = config_class  # type: ignore[attr-defined]
        return cls

    return decorate
