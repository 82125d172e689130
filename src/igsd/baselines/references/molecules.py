"""Vectors of molecules that need no training on them: what a chemist would try with few labels."""

import hashlib
import json
import os
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.errors import DataError
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.molecules import MoleculeEncoder
from igsd.evaluation.heads import HEAD_NAMES
from igsd.files.cache import ENCODERS, cache_dir, recall, store
from igsd.graphs.corpus import corpus_texts, read_corpus
from igsd.graphs.datasets import DATA_VARIABLE
from igsd.graphs.descriptors import (
    DESCRIPTORS,
    FRAGMENTS,
    NUM_FRAGMENTS,
    described,
    descriptor_names,
)
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import smiles_of
from igsd.graphs.open import as_graphset
from igsd.settings.fields import Settings, setting
from igsd.settings.igsd import PretrainConfig
from igsd.training.fit import Fitted
from igsd.workers.pools import Workers

MORGAN = "morgan"
"""The name of the method that is a reference row wherever graphs are molecules."""


class MoleculeConfig(Settings):
    """The settings of fixed vectors of molecules."""

    head: str = setting(
        "linear", "method", "model that predicts from the vectors", choices=HEAD_NAMES
    )


@settings_as_parameters(MoleculeConfig)
class MorganFingerprints(ShallowEstimator):
    """Molecules as counts of circular fragments (Morgan, ECFP4), radius 2, folded to 2048.

    Graphs must be named by SMILES, as graphs from ``igsd.open_data`` of a SMILES table are.
    """

    n_features_out_ = NUM_FRAGMENTS

    def _fit(self, graphs: GraphSet) -> None:
        self._transform(graphs.take(np.arange(min(1, len(graphs)))))

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        return described(smiles_of(graphs), FRAGMENTS)


@settings_as_parameters(MoleculeConfig)
class MoleculeDescriptors(ShallowEstimator):
    """Molecules as RDKit's descriptors, each x as sign(x) log(1 + |x|).

    Graphs must be named by SMILES. A descriptor that RDKit cannot compute for a molecule is the
    median over the molecules of ``fit``; models standardise the columns inside their training part.
    """

    def _fit(self, graphs: GraphSet) -> None:
        rows = described(smiles_of(graphs), DESCRIPTORS)
        known = [column[np.isfinite(column)] for column in rows.T]
        medians = [float(np.median(column)) if len(column) else 0.0 for column in known]
        self.state_["medians"] = np.array(medians, np.float32)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        rows = described(smiles_of(graphs), DESCRIPTORS)
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

        smiles_of(graphs)
        vectors: np.ndarray = pretrained("molecules").transform(graphs)
        return vectors

    @property
    def n_features_out_(self) -> int:
        """The width of the encoder's vectors."""
        return int(self.state_["width"])


CORPORA = {
    "chembl31_150k": "f4e4e42021087954",
    "zinc250k": "b2a780b520e9188f",
}
"""The corpora that the encoder in the package learned from: start of the SHA-256 of the strings."""


class CorpusConfig(PretrainConfig):
    """The settings of ``igsd pretrain`` as a method; by default those of the shipped encoder."""

    epochs: int = setting(6, "run", "passes over the molecules", low=0)
    learning_rate: float = setting(2e-3, "run", "step size of Adam at its highest", above=0)
    readout: str = setting("sum+max", "encoder", "sum, mean, max, or several joined by +")
    self_weight: float = setting(0.0, "labels", "w: weight of Eq. InfoNCE", low=0.0)
    corpus: str = setting(
        "chembl31_150k+zinc250k",
        "method",
        "tables NAME.csv.gz in the folder molecules of IGSD_DATA, one after the other",
        choices=(*CORPORA, "+".join(CORPORA)),
    )
    most: int = setting(300_000, "method", "only the first strings of the corpus", low=2)
    head: str = setting(
        "linear", "method", "model that predicts from the vectors", choices=HEAD_NAMES
    )


@settings_as_parameters(CorpusConfig)
class CorpusVectors(MoleculeEncoder):
    """Molecules as vectors of an encoder that learns from a corpus, not from the given graphs.

    What ``igsd pretrain`` does, as a method that protocols score. Encoders are kept in the cache,
    and so is a training that was interrupted. Graphs must be named by SMILES.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the encoder of the settings from the cache, or train it, and return self."""
        smiles_of(as_graphset(X))
        config, verbose = self._config_of_fit(), self.get_params(deep=False)["verbose"]
        strings = list(islice(_corpus_strings(config.corpus.split("+")), config.most))
        workers = Workers(config.processes)
        corpus = read_corpus(strings, num_fragments=config.num_fragments, workers=workers)
        settings = {k: v for k, v in config.learned().items() if k not in ("head", "most")}
        key = json.dumps([settings, corpus.checksum], sort_keys=True)
        digest = hashlib.sha256(key.encode()).hexdigest()[:40]
        path = cache_dir() / ENCODERS / f"{digest}.safetensors"
        model = recall(path, "A pre-trained encoder in the cache", type(self).load)
        if model is None:
            checkpoint = path.with_suffix(".checkpoint")
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            model = type(self).from_config(config, checkpoint=checkpoint, verbose=verbose)
            model.fit_corpus(corpus)
            store(path, "A pre-trained encoder", model.save)
            checkpoint.unlink(missing_ok=True)
        self.corpus_, self.vector_dim_ = model.corpus_, model.vector_dim_
        return self._set_fitted(config, {}, Fitted(model.network_, model.features_, model.history_))


def _corpus_strings(names: list[str]) -> list[str]:
    """Return the SMILES of corpora; raises ``DataError`` for one that is missing or another."""
    found = []
    for name in names:
        path = Path(os.environ.get(DATA_VARIABLE, "."), "molecules", f"{name}.csv.gz").expanduser()
        if not path.is_file():
            raise DataError(
                f"The corpus {name} is not on this machine. Put {name}.csv.gz into the folder "
                f"molecules of the folder that {DATA_VARIABLE} names; the model card of the "
                "encoder in the package says where it comes from."
            )
        strings = list(corpus_texts([str(path)]))
        digest = hashlib.sha256("\n".join(strings).encode()).hexdigest()
        if not digest.startswith(CORPORA[name]):
            raise DataError(
                f"{path} is another table than the one that records name {name} (checksum "
                f"{digest[:16]}, expected {CORPORA[name]}). An encoder from a corpus of your own "
                "is made by igsd pretrain; igsd evaluate FILE DATA scores it."
            )
        found += strings
    return found
