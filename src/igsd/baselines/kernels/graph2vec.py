"""``Graph2Vec``: graphs as documents whose words are subtrees (Narayanan et al., 2017)."""

from typing import Any

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.baselines.kernels.patterns import key_source
from igsd.baselines.kernels.wl import wl_colours
from igsd.errors import need
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time
from igsd.settings.fields import Settings, setting


class Graph2VecConfig(Settings):
    """The settings of graph2vec."""

    dim: int = setting(128, "method", "width of a vector", low=1)
    iterations: int = setting(2, "method", "height of the largest subtree", low=0)
    epochs: int = setting(50, "method", "passes over the documents", low=1)
    learning_rate: float = setting(0.025, "method", "step size at the start", above=0)
    min_count: int = setting(5, "method", "words seen less often are not read", low=1)
    negative: int = setting(5, "method", "negative samples for each word", low=1)
    sample: float = setting(0.0, "method", "frequency from which words are thinned; 0: none", low=0)


@settings_as_parameters(Graph2VecConfig)
class Graph2Vec(ShallowEstimator):
    """Learns a vector for each graph that predicts the subtree patterns in it.

    The words of a graph are the Weisfeiler-Lehman colours of its nodes at the levels 0 to
    ``iterations``; gensim's doc2vec (PV-DBOW with negative samples) learns a vector for each word.
    ``transform`` finds the vector of a graph with the words held fixed, the same way for graphs of
    ``fit`` and for new ones, each on its own. Words that ``fit`` saw fewer than ``min_count`` times
    are not read.
    """

    def _fit(self, graphs: GraphSet) -> None:
        doc2vec = _doc2vec()
        self.state_["source"], self.notes_ = key_source(graphs)
        words_of = enumerate(self._documents(graphs))
        documents = [doc2vec.TaggedDocument(words, [g]) for g, words in words_of]
        model = self._empty_model(self.config_.min_count)
        model.build_vocab(documents)
        if len(model.wv):
            model.train(documents, total_examples=len(documents), epochs=self.config_.epochs)
        words = model.wv.index_to_key
        self.state_["words"] = np.array([int(word, 16) for word in words], np.uint64).view(np.int64)
        counts = [model.wv.get_vecattr(word, "count") for word in words]
        self.state_["counts"] = np.array(counts, dtype=np.int64)
        self.state_["word_vectors"] = np.array(model.syn1neg, dtype=np.float32)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        doc2vec, model, s = _doc2vec(), self._fixed_model(), self.config_
        fixed = {"learn_words": False, "learn_hidden": False}
        rows = np.empty((len(graphs), s.dim), dtype=np.float32)
        free, work = np.ones(1, np.float32), np.zeros(s.dim, np.float32)
        for g, words in enumerate(self._documents(graphs)):
            check_time("graph2vec")
            # gensim would start from a hash of the text that differs between processes.
            model.random = np.random.RandomState(s.seed % 2**32)
            row = (model.random.random_sample((1, s.dim)).astype(np.float32) - 0.5) / s.dim
            for epoch in range(s.epochs if len(model.wv) else 0):
                rate = s.learning_rate * (1 - epoch / s.epochs) + 1e-4 * epoch / s.epochs
                doc2vec.train_document_dbow(
                    model, words, [0], rate, work, **fixed, doctag_vectors=row, doctags_lockf=free
                )
            rows[g] = row[0]
        return rows

    def _documents(self, graphs: GraphSet) -> list[list[str]]:
        return wl_words(graphs, self.state_["source"], self.config_.iterations)

    def _empty_model(self, min_count: int) -> Any:
        s = self.config_
        # One worker: several would update in a random order and give other numbers each time.
        return _doc2vec().Doc2Vec(
            vector_size=s.dim,
            dm=0,
            min_count=min_count,
            sample=s.sample,
            negative=s.negative,
            alpha=s.learning_rate,
            seed=s.seed,
            workers=1,
        )

    def _fixed_model(self) -> Any:
        """Return a doc2vec model with the learned words, for inferring vectors of documents."""
        model = self._empty_model(1)
        words = [f"{key:x}" for key in self.state_["words"].view(np.uint64).tolist()]
        frequencies = dict(zip(words, self.state_["counts"].tolist(), strict=True))
        model.build_vocab_from_freq(frequencies, corpus_count=1)
        place = {word: row for row, word in enumerate(words)}
        order = [place[word] for word in model.wv.index_to_key]
        model.syn1neg = np.ascontiguousarray(self.state_["word_vectors"][order])
        return model

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        return int(self.config_.dim)


def _doc2vec() -> Any:
    return need("baselines", "gensim.models.doc2vec", "graph2vec")


def wl_words(graphs: GraphSet, source: str, iterations: int) -> list[list[str]]:
    """Return the words of each graph: the colours of its nodes, level by level, in hexadecimal.

    ``source``: "label" or "degree". A graph of n nodes has n * (``iterations`` + 1) words.
    """
    colours = wl_colours(graphs, source, iterations)
    bounds = zip(graphs.node_ptr[:-1].tolist(), graphs.node_ptr[1:].tolist(), strict=True)
    return [[f"{c:x}" for c in colours[:, a:b].ravel().tolist()] for a, b in bounds]
