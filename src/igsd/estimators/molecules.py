"""``MoleculeEncoder``: pre-trained on molecules; ``pretrained``: the one in the package."""

import hashlib
import os
from collections.abc import Mapping
from importlib import resources
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from igsd.batches.features import FeatureMap
from igsd.errors import ConfigError, DataError, StorageError, nearest
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.files.arrays import Header
from igsd.files.models import SHIPPED, identity_of
from igsd.graphs.corpus import Corpus, read_corpus
from igsd.graphs.graphset import GraphSet
from igsd.model.network import Dims
from igsd.model.pretraining import EncoderNetwork, PretrainModel, vector_map
from igsd.progress import progress_bar
from igsd.settings.igsd import PretrainConfig
from igsd.training.fit import Fitted, fit
from igsd.training.free_targets import FreeTargets
from igsd.workers.pools import Workers

_SAMPLE = 20_000
"""Molecules of the corpus that the map from a representation to a vector is made from."""


@settings_as_parameters(PretrainConfig)
class MoleculeEncoder(NeuralEstimator):
    """Learns vectors of molecules from what RDKit computes for them, and from their views.

    ``fit`` takes SMILES strings; those that are not molecules are left out. The targets, RDKit's
    descriptors and the counts of circular fragments, cost no labels. They are learned by Eq. semi
    beside Eq. InfoNCE. ``transform`` takes SMILES, or anything that ``igsd.IGSD`` takes if its
    graphs are named by SMILES.

    A vector holds the targets as the network predicts them (``vector="targets"``): smooth versions
    of the descriptors, in their order, and of the counts of fragments, reduced to ``fragment_dim``
    numbers. Few labels are enough to learn from these; the network's representation is wider.

    Learned: ``network_`` (the encoder), ``features_``, ``history_``, ``config_``, ``corpus_`` (the
    number of molecules and the checksum of the corpus), ``vector_dim_`` (0 for a representation).
    """

    network_class = EncoderNetwork
    corpus_: Header
    vector_dim_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on SMILES strings, or on a set of molecules, and return self; ``y`` is not read."""
        texts = X.graph_names if isinstance(X, GraphSet) else X
        if texts is None or isinstance(texts, str):
            raise DataError("MoleculeEncoder learns from a list of SMILES strings.")
        config, shown = self._config_of_fit(), self.get_params(deep=False)["verbose"]
        texts = list(texts)
        with progress_bar("reading", len(texts), shown=shown) as advance:
            corpus = read_corpus(
                texts,
                num_fragments=config.num_fragments,
                workers=Workers(config.processes),
                advance=advance,
            )
        self.fit_corpus(corpus)
        self.standardised_ = X.standardised if isinstance(X, GraphSet) else ""
        return self

    def fit_corpus(self, corpus: Corpus, start: "MoleculeEncoder | None" = None) -> Self:
        """Train on a corpus that is read already, and return self.

        ``start``: an encoder with the same settings of features and encoder, whose weights this
        training begins with instead of random ones.
        """
        config, parameters = self._config_of_fit(), self.get_params(deep=False)
        fitted = fit(
            corpus.graphs,
            config,
            PretrainModel,
            name=config.section,
            labels=FreeTargets.of_corpus(corpus),
            encoder=None if start is None else self._begun(start, config),
            checkpoint=parameters["checkpoint"],
            log_dir=parameters["log_dir"],
            verbose=parameters["verbose"],
            identity={} if start is None else {"start": identity_of(start)},
        )
        self.corpus_ = {"molecules": len(corpus.graphs), "checksum": corpus.checksum}
        self.vector_dim_ = 0
        student, history = fitted.network.igsd.student.encoder, fitted.history
        self._set_network(config, fitted.features, history, student.state_dict(prefix="encoder."))
        if config.vector == "targets":
            self._fit_vector(corpus, config)
        return self

    def _fit_vector(self, corpus: Corpus, config: PretrainConfig) -> None:
        """Learn the map from a representation to a vector, from a sample of the corpus."""
        rows = np.random.default_rng(config.seed).permutation(len(corpus.graphs))[:_SAMPLE]
        rows = np.sort(rows)
        h = torch.from_numpy(self.transform(corpus.graphs.take(rows)))
        targets = FreeTargets.of_corpus(corpus).of(rows, h.device)
        weight, bias = vector_map(
            h, targets, config.num_fragments, config.fragment_dim, config.seed
        )
        self.vector_dim_ = len(bias)
        weights = self.network_.state_dict() | {"vector.weight": weight, "vector.bias": bias}
        self._set_network(config, self.features_, self.history_, weights)

    def _set_network(
        self,
        config: PretrainConfig,
        features: FeatureMap,
        history: list[dict[str, float]],
        weights: Mapping[str, Tensor],
    ) -> None:
        """Make a network with these weights, rounded as they will be stored, the fitted one."""
        network = EncoderNetwork(config, Dims(features, self.vector_dim_)).eval()
        rounded = {name: _rounded(tensor) for name, tensor in weights.items()}
        network.load_state_dict(rounded if config.half else weights)
        self._set_fitted(config, {}, Fitted(network, features, history))

    @staticmethod
    def _begun(start: "MoleculeEncoder", config: PretrainConfig) -> nn.Module:
        """Return the encoder of ``start``; raises ``ConfigError`` if settings ask for another."""
        for key in ("node_features", "encoder", "num_layers", "hidden_dim", "readout"):
            found, wanted = getattr(start.config_, key), getattr(config, key)
            if found != wanted:
                raise ConfigError(
                    f"The training cannot begin with an encoder of {key}={found!r}: the settings "
                    f"ask for {wanted!r}."
                )
        encoder: nn.Module = start.network_.encoder
        return encoder

    def packed(self) -> tuple[dict[str, Tensor], Header]:
        """Return the (tensors, header) that ``save`` writes; float16 with ``half``."""
        tensors, header = super().packed()
        if self.config_.half:
            tensors = {k: v.half() if v.is_floating_point() else v for k, v in tensors.items()}
        return tensors, header

    def _state(self) -> tuple[dict[str, Tensor], Header]:
        return {}, {"corpus": self.corpus_, "vector_dim": self.vector_dim_}

    def _set_state(self, tensors: Mapping[str, Tensor], header: Header) -> None:
        self.corpus_ = dict(header["corpus"])
        self.vector_dim_ = int(header.get("vector_dim", 0))

    def _num_outputs(self) -> int:
        return self.vector_dim_


def _rounded(tensor: Tensor) -> Tensor:
    return tensor.half().to(tensor.dtype) if tensor.is_floating_point() else tensor


def pretrained(name: str = "molecules") -> MoleculeEncoder:
    """Return the pre-trained encoder that comes with the package.

    ``molecules``: vectors of molecules from SMILES, without any training; its model card is beside
    it in the package and in the documentation. Raises ``ConfigError`` for another name, and
    ``StorageError`` if the file is not the one that was shipped.

    >>> from igsd import pretrained
    >>> pretrained("molecules").transform(["CCO", "c1ccccc1"]).shape[0]
    2
    """
    if name not in SHIPPED:
        raise ConfigError(f"There is no pre-trained model {name!r}. {nearest(name, SHIPPED)}")
    folder = resources.files("igsd") / "shipped"
    with resources.as_file(folder / f"{name}.safetensors") as path:
        if not path.exists():
            raise StorageError(f"The model {name!r} is missing from this installation of igsd.")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != (folder / f"{name}.sha256").read_text().split()[0]:
            raise StorageError(
                f"{path} is not the file that came with igsd: its checksum differs. Install igsd "
                "again."
            )
        with torch.no_grad():
            return MoleculeEncoder.load(path)


def open_encoder(name: str) -> MoleculeEncoder:
    """Return the encoder of this name in the package, or of a file that ``igsd pretrain`` wrote."""
    return MoleculeEncoder.load(name) if os.path.exists(name) else pretrained(name)
