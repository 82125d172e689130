"""Vectors of molecules that need no training: what a chemist would try first with few labels."""

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.errors import ConfigError, DataError, need
from igsd.estimators.base import settings_as_parameters
from igsd.evaluation.heads import HEADS
from igsd.graphs.chemistry import molecule_of
from igsd.graphs.descriptors import descriptor_names, descriptors, fragment_counts, signed_log
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, setting

MORGAN = "morgan"
"""The name of the method that is a reference row wherever graphs are molecules."""

SIZE = 2048


def has_smiles(names: Sequence[str] | None) -> bool:
    """Return whether the first graph is named by a SMILES and RDKit is installed."""
    try:
        return bool(names) and len(morgan_counts(list(names or ())[:1])) == 1
    except (ConfigError, DataError):
        return False


def morgan_counts(smiles: Sequence[str]) -> np.ndarray:
    """Return how often each circular fragment of radius 2 occurs (ECFP4), [G, 2048] uint8.

    A molecule whose only fault is an impossible valence is used as written. Raises ``DataError``
    for text that is not SMILES, ``ConfigError`` without RDKit.
    """
    rows = np.zeros((len(smiles), SIZE), np.uint8)
    return _filled(rows, smiles, lambda molecule: fragment_counts(molecule, SIZE))


def _filled(
    rows: np.ndarray, smiles: Sequence[str], compute: Callable[[Any], np.ndarray]
) -> np.ndarray:
    """Fill ``rows`` with what is computed of each molecule, and return them."""
    need("chem", "rdkit", "A vector of a molecule")
    from rdkit import rdBase

    with rdBase.BlockLogs():
        for row, text in zip(rows, smiles, strict=True):
            molecule = molecule_of(text)
            if molecule is None:
                raise DataError(f"{text!r} is not a molecule in SMILES: it has no fingerprint.")
            row[:] = compute(molecule)
    return rows


def _names(graphs: GraphSet) -> tuple[str, ...]:
    """Return the SMILES of graphs; raises ``DataError`` if they have no names."""
    if graphs.graph_names is None:
        raise DataError(
            f"Fingerprints and descriptors need the SMILES of every graph as its name, and the "
            f"graphs of {graphs.name!r} have no names. Read molecules from a table of SMILES."
        )
    return graphs.graph_names


class MoleculeConfig(Settings):
    """The settings of fixed vectors of molecules."""

    head: str = setting("linear", "method", "model that predicts from the vectors", choices=HEADS)


@settings_as_parameters(MoleculeConfig)
class MorganFingerprints(ShallowEstimator):
    """Molecules as counts of circular fragments (Morgan, ECFP4), radius 2, folded to 2048.

    Graphs must be named by SMILES, as graphs from ``igsd.open_data`` of a SMILES table are.
    """

    n_features_out_ = SIZE

    def _fit(self, graphs: GraphSet) -> None:
        self._transform(graphs.take(np.arange(min(1, len(graphs)))))

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        return morgan_counts(_names(graphs))


@settings_as_parameters(MoleculeConfig)
class MoleculeDescriptors(ShallowEstimator):
    """Molecules as RDKit's descriptors, each x as sign(x) log(1 + |x|).

    Graphs must be named by SMILES. A descriptor that RDKit cannot compute for a molecule is the
    median over the molecules of ``fit``; models standardise the columns inside their training part.
    """

    def _fit(self, graphs: GraphSet) -> None:
        rows = self._computed(graphs)
        known = [column[np.isfinite(column)] for column in rows.T]
        medians = [float(np.median(column)) if len(column) else 0.0 for column in known]
        self.state_["medians"] = np.array(medians, np.float32)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        rows = self._computed(graphs)
        return np.where(np.isfinite(rows), rows, self.state_["medians"])

    def _computed(self, graphs: GraphSet) -> np.ndarray:
        """Return the descriptors, NaN where there is none; those computed before are kept."""
        names = _names(graphs)
        need("chem", "rdkit", "A vector of a molecule")
        new = [name for name in dict.fromkeys(names) if name not in _computed]
        rows = np.zeros((len(new), len(descriptor_names())), np.float32)
        _filled(rows, new, lambda molecule: signed_log(descriptors(molecule)))
        found = _computed | dict(zip(new, rows, strict=True))
        if len(found) <= _MOST_KEPT:
            _computed.update(found)
        return np.stack([found[name] for name in names]) if names else rows

    @property
    def n_features_out_(self) -> int:
        """The number of descriptors."""
        return len(descriptor_names())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return RDKit's names of the descriptors."""
        return np.array(descriptor_names(), dtype=object)


# All descriptors of a molecule take milliseconds, and every split needs most of them again.
_computed: dict[str, np.ndarray] = {}
_MOST_KEPT = 100_000


def _shipped_checksum() -> str:
    return (resources.files("igsd") / "shipped" / "molecules.sha256").read_text()[:12]


class PretrainedConfig(MoleculeConfig):
    """The settings of the pre-trained vectors; ``weights`` tells records of old weights apart."""

    weights: str = setting(
        _shipped_checksum(),
        "method",
        "start of the checksum of the encoder in the package, which cannot be chosen",
        choices=(_shipped_checksum(),),
    )


@settings_as_parameters(PretrainedConfig)
class PretrainedMolecules(ShallowEstimator):
    """Molecules as vectors of the encoder in the package, ``igsd.pretrained("molecules")``.

    The encoder stays as it is. Graphs must be named by SMILES.
    """

    def _fit(self, graphs: GraphSet) -> None:
        width = self._transform(graphs.take(np.arange(min(1, len(graphs))))).shape[1]
        self.state_["width"] = int(width)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        from igsd.estimators.molecules import pretrained

        _names(graphs)
        vectors: np.ndarray = pretrained("molecules").transform(graphs)
        return vectors

    @property
    def n_features_out_(self) -> int:
        """The width of the encoder's vectors."""
        return int(self.state_["width"])
