"""Griffe extension for the API reference: docstrings as they are when imported, examples as code.

The reference is read from the source without importing it, but an estimator's list of parameters
is written into its docstring from the setting fields, when its class is made.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

import igsd

_PUBLIC = {
    value.__qualname__: value
    for value in (getattr(igsd, name) for name in igsd.__all__)
    if isinstance(value, type)
}
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class LiveDocstrings(griffe.Extension):
    """Replaces the docstrings of the classes in ``igsd.__all__`` and fences examples in all."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Take over the docstring of a public class, and make code blocks of ``>>>`` examples."""
        if obj.docstring is None:
            return
        live = _PUBLIC.get(obj.name)
        if live is not None and f"{live.__module__}.{live.__qualname__}" == obj.path:
            obj.docstring.value = inspect.cleandoc(live.__doc__ or "")
        obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
