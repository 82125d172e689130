"""``MorganFingerprints``: what a chemist would try first with few labelled molecules."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.baselines.references.histogram import LabelDegreeHistogram
from igsd.batches.features import FeatureMap
from igsd.errors import ConfigError, DataError, need
from igsd.estimators.base import settings_as_parameters
from igsd.evaluation.heads import Head
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings

MORGAN = "morgan"
"""The name of the method."""

RADIUS, NUM_BITS = 2, 2048


def has_smiles(names: Sequence[str] | None) -> bool:
    """Return whether the first graph is named by a SMILES and RDKit is installed."""
    try:
        return bool(names) and len(morgan_fingerprints(list(names or ())[:1])) == 1
    except (ConfigError, DataError):
        return False


def morgan_fingerprints(smiles: Sequence[str]) -> np.ndarray:
    """Return the Morgan fingerprints of molecules, radius 2, [G, 2048] float32 of 0 and 1.

    A molecule whose only fault is an impossible valence is used as written. Raises ``DataError``
    for text that is not SMILES, ``ConfigError`` without RDKit.
    """
    fingerprints = need("chem", "rdkit.Chem.rdFingerprintGenerator", "A fingerprint")
    from rdkit import Chem, rdBase

    generator = fingerprints.GetMorganGenerator(radius=RADIUS, fpSize=NUM_BITS)
    rows = np.zeros((len(smiles), NUM_BITS), np.float32)
    with rdBase.BlockLogs():
        for row, text in zip(rows, smiles, strict=True):
            molecule = Chem.MolFromSmiles(text)
            if molecule is None:  # as written, without the check of valences
                molecule = Chem.MolFromSmiles(text, sanitize=False)
                if molecule is None:
                    raise DataError(f"{text!r} is not a molecule in SMILES: it has no fingerprint.")
                molecule.UpdatePropertyCache(strict=False)
                Chem.FastFindRings(molecule)
            row[:] = generator.GetFingerprintAsNumPy(molecule)
    return rows


@settings_as_parameters(Settings)
class MorganFingerprints(ShallowEstimator):
    """Molecules as Morgan fingerprints, radius 2, folded to 2048 bits; scored by a linear model.

    Graphs must be named by SMILES, as graphs from ``igsd.open_data`` of a SMILES table are.
    """

    head: ClassVar[Head] = "linear"
    n_features_out_ = NUM_BITS

    def _fit(self, graphs: GraphSet) -> None:
        self._transform(graphs.take(np.arange(min(1, len(graphs)))))

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        if graphs.graph_names is None:
            raise DataError(
                f"Fingerprints need the SMILES of every graph as its name, and the graphs of "
                f"{graphs.name!r} have no names. Read molecules from a table of SMILES."
            )
        return morgan_fingerprints(graphs.graph_names)


class Descriptors(ShallowEstimator):
    """Base of references that put a model on fixed vectors of graphs.

    The vectors are Morgan fingerprints if graphs are named by SMILES and RDKit is installed,
    otherwise counts of node labels and degrees.
    """

    def _fit(self, graphs: GraphSet) -> None:
        is_named = has_smiles(graphs.graph_names)
        histogram = None if is_named else LabelDegreeHistogram().fit(graphs).state_["features"]
        self.state_ = {"features": histogram}

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        if self.state_["features"] is None:
            return morgan_fingerprints(graphs.graph_names or ())
        histogram = LabelDegreeHistogram()
        histogram.config_, histogram.state_ = histogram.config(), self.state_
        return histogram.transform(graphs)

    @property
    def n_features_out_(self) -> int:
        """The number of bits, or of labels and degrees."""
        features = self.state_["features"]
        return NUM_BITS if features is None else FeatureMap.from_json(features).dim


@settings_as_parameters(Settings)
class RidgeOnDescriptors(Descriptors):
    """Ridge regression (for classes: logistic regression) on fingerprints or label counts."""

    head: ClassVar[Head] = "linear"


@settings_as_parameters(Settings)
class ForestOnDescriptors(Descriptors):
    """A random forest on fingerprints or label counts."""

    head: ClassVar[Head] = "forest"
