"""What small models see of molecules, and which models are tried on it.

Inputs: vectors of an encoder, descriptors, counts of fragments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from igsd.errors import ParameterError
from igsd.evaluation.small_models import HEADS
from igsd.graphs.descriptors import DESCRIPTORS, FRAGMENTS, described
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar

INPUTS = ("vectors", DESCRIPTORS, FRAGMENTS)
ALL = "all inputs"
"""The inputs side by side."""

_CUT = 6.0
_MOST_KERNEL, _MOST_ALL = 2000, 10_000
"""Labels above which kernels, and linear models of all inputs, take too long."""


def parts_of(name: str) -> tuple[str, ...]:
    """Return the inputs that an input is made of."""
    return INPUTS if name == ALL else (name,)


def raw_inputs(
    graphs: GraphSet, names: Sequence[str], encoder: Any, *, shown: bool = False
) -> dict[str, np.ndarray]:
    """Return some inputs of molecules, [G, d] each, as the encoder and RDKit give them.

    ``descriptors``: signed logarithms, NaN where RDKit cannot compute one. ``fragments``:
    log(1 + count) of circular fragments (ECFP4) hashed to 2,048.
    """
    found: dict[str, np.ndarray] = {}
    if "vectors" in names:
        found["vectors"] = encoder.set_params(verbose=shown).transform(graphs)
    for name in (name for name in INPUTS[1:] if name in names):
        bar = progress_bar(f"computing {name}", len(graphs), shown=shown)
        with bar as advance:
            found[name] = described(graphs.graph_names or (), name, advance)
    if FRAGMENTS in found:
        found[FRAGMENTS] = np.log1p(found[FRAGMENTS], dtype=np.float32)
    return found


@dataclass(frozen=True, eq=False)
class InputScale:
    """Centre and scale of each input, by name, [d] each: rows get a mean squared norm of 1.

    The columns of descriptors are standardised first and cut off at 6.
    """

    centre: Mapping[str, np.ndarray]
    scale: Mapping[str, np.ndarray]

    @classmethod
    def fit(cls, raw: Mapping[str, np.ndarray]) -> Self:
        """Return the scale of inputs [n, d]."""
        centres, scales = {}, {}
        for name, values in raw.items():
            known = np.where(np.isfinite(values), values, np.nan)
            has_any = ~np.isnan(known).all(axis=0)
            centre, spread = np.zeros((2, values.shape[1]), np.float32)
            centre[has_any] = np.nanmean(known[:, has_any], axis=0)
            scale = np.ones(values.shape[1], np.float32)
            if name == DESCRIPTORS:
                spread[has_any] = np.nanstd(known[:, has_any], axis=0)
                scale = np.where(spread > 1e-6, spread, np.float32(1e6))
            rows = cls({name: centre}, {name: scale}).apply({name: values})[name]
            norm = np.sqrt(max(float(np.square(rows).sum(axis=1).mean()), 1e-12))
            centres[name], scales[name] = centre, scale * np.float32(norm)
        return cls(centres, scales)

    def apply(self, raw: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return scaled inputs, and ``ALL`` if there are several; unknown values become 0."""
        found: dict[str, np.ndarray] = {}
        for name, values in raw.items():
            centre = self.centre[name]
            rows = (np.where(np.isfinite(values), values, centre) - centre) / self.scale[name]
            limit = _CUT / np.sqrt(rows.shape[1]) if name == DESCRIPTORS else np.inf
            found[name] = np.clip(rows, -limit, limit)
        if len(found) > 1:
            joined = [found[name] for name in INPUTS if name in found]
            found[ALL] = np.concatenate(joined, axis=1) / np.float32(np.sqrt(len(joined)))
        return found

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of a file."""
        centres = {f"centre.{name}": array for name, array in self.centre.items()}
        return centres | {f"scale.{name}": array for name, array in self.scale.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """Return the scale that ``arrays`` came from."""
        parts = (
            {k.removeprefix(kind): v for k, v in arrays.items() if k.startswith(kind)}
            for kind in ("centre.", "scale.")
        )
        return cls(*parts)


def parsed_names(text: str, known: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the names in ``text`` in their usual order; raises ``ConfigError`` for others."""
    names = text.split("+")
    if not set(names) <= set(known) or len(set(names)) < len(names):
        rule = f"must be different names out of {', '.join(known)}, joined by '+'."
        raise ParameterError(name, "MoleculePredictor", f"{rule} Got {text!r} instead.")
    return tuple(each for each in known if each in names)


def heads_for(Y: np.ndarray, heads: Sequence[str]) -> tuple[str, ...]:
    """Return the heads that can learn the classes, or the numbers, Y [G, o]."""
    return tuple(head for head in heads if Y.shape[1] > 1 or not HEADS[head].classes_only)


def candidates_for(
    inputs: Sequence[str], heads: Sequence[str], num_labels: int
) -> list[tuple[str, str]]:
    """Return the small models (input, head) to try with so many labels."""
    wide = [ALL] if len(inputs) > 1 else []
    on = {
        "linear": [*inputs, *(wide if num_labels <= _MOST_ALL else [])],
        "pls": (wide or list(inputs)) if num_labels <= _MOST_KERNEL else [],
        "prototypes": wide or list(inputs),
        "kernel": [n for n in (*inputs, *wide) if n != "fragments" or not wide]
        if num_labels <= _MOST_KERNEL
        else [],
        "forest": [name for name in inputs if name != "vectors"] or list(inputs),
    }
    return [(name, head) for head in heads for name in on[head]]
