"""Vectors of molecules that need no training: what a chemist would try first with few labels."""

from importlib import resources
from typing import Any

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.errors import DataError
from igsd.estimators.base import settings_as_parameters
from igsd.evaluation.heads import HEADS
from igsd.graphs.descriptors import (
    DESCRIPTORS,
    FRAGMENTS,
    NUM_FRAGMENTS,
    described,
    descriptor_names,
)
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, setting

MORGAN = "morgan"
"""The name of the method that is a reference row wherever graphs are molecules."""


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

    n_features_out_ = NUM_FRAGMENTS

    def _fit(self, graphs: GraphSet) -> None:
        self._transform(graphs.take(np.arange(min(1, len(graphs)))))

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        return described(_names(graphs), FRAGMENTS)


@settings_as_parameters(MoleculeConfig)
class MoleculeDescriptors(ShallowEstimator):
    """Molecules as RDKit's descriptors, each x as sign(x) log(1 + |x|).

    Graphs must be named by SMILES. A descriptor that RDKit cannot compute for a molecule is the
    median over the molecules of ``fit``; models standardise the columns inside their training part.
    """

    def _fit(self, graphs: GraphSet) -> None:
        rows = described(_names(graphs), DESCRIPTORS)
        known = [column[np.isfinite(column)] for column in rows.T]
        medians = [float(np.median(column)) if len(column) else 0.0 for column in known]
        self.state_["medians"] = np.array(medians, np.float32)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        rows = described(_names(graphs), DESCRIPTORS)
        return np.where(np.isfinite(rows), rows, self.state_["medians"])

    @property
    def n_features_out_(self) -> int:
        """The number of descriptors."""
        return len(descriptor_names())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return RDKit's names of the descriptors."""
        return np.array(descriptor_names(), dtype=object)


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
