"""Methods on the Weisfeiler-Lehman colours of nodes, each the 64-bit hash of a subtree."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from igsd.baselines.kernels import base
from igsd.baselines.kernels.patterns import Patterns, block_matrix, key_source
from igsd.errors import need
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.colours import Keys, wl_colours
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve
from igsd.settings.fields import Settings, setting


def count_colours(graphs: GraphSet, colours: Keys) -> Patterns:
    """Return how often each colour [levels, N] occurs in each graph."""
    graph = np.tile(graphs.graph_of_node(), len(colours))
    return Patterns.count(graph, colours.ravel(), len(graphs))


class WLConfig(base.PatternKernelConfig):
    """The settings of the Weisfeiler-Lehman kernels."""

    iterations: int = setting(5, "method", "height of the largest subtree", low=0, high=1000)


@settings_as_parameters(WLConfig)
class WLKernel(base.PatternKernel):
    """Compares graphs by how often each subtree of height 0 to ``iterations`` occurs in them.

    k(G, H) = sum over levels t and colours c of count_t(c, G) * count_t(c, H). Colours start as the
    node labels, or as degrees if there are none. Deterministic, whatever ``random_state`` is.
    """

    def _represent(self, graphs: GraphSet) -> Patterns:
        colours = wl_colours(graphs, self.state_["source"], self.config_.iterations)
        return count_colours(graphs, colours)


@settings_as_parameters(WLConfig)
class WLOptimalAssignment(WLKernel):
    """Compares graphs by the best one-to-one assignment of their nodes.

    Two nodes are as similar as the number of Weisfeiler-Lehman levels on which their colours are
    equal. Colours form a tree, on which the best assignment is the intersection of histograms:
    k(G, H) = sum over levels t and colours c of min(count_t(c, G), count_t(c, H)). A minimum of two
    counts is the product of their unary codes, so the kernel has an explicit map too: the patterns
    'colour c at least once', 'at least twice' and so on.
    """

    def _represent(self, graphs: GraphSet) -> Patterns:
        return super()._represent(graphs).unary()


class DeepGraphKernelConfig(base.KernelConfig):
    """The settings of deep graph kernels."""

    max_features: int = setting(4096, "method", "patterns that get a vector", low=1)
    iterations: int = setting(2, "method", "height of the largest subtree", low=0, high=1000)
    dim: int = setting(128, "method", "width of a pattern's vector", low=1, high=65_536)


@settings_as_parameters(DeepGraphKernelConfig)
class DeepGraphKernel(base.KernelEstimator):
    """Compares graphs by their subtree counts, with similar subtrees partly counted as equal.

    k(G, H) = phi(G)' M phi(H), phi the Weisfeiler-Lehman counts and M = E E', where E [P, dim] are
    vectors of the patterns: two patterns are similar that occur at the same nodes and beside the
    same patterns (Yanardag and Vishwanathan, 2015). Departs from the paper: E is the truncated
    singular value decomposition of the positive pointwise mutual information of patterns, which is
    what word2vec approximates, and does not depend on an order of training. The ``max_features``
    most common patterns are embedded. Rows are scaled to length 1, so that every pattern has the
    same weight.
    """

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["source"], self.notes_ = key_source(graphs)
        colours = wl_colours(graphs, self.state_["source"], self.config_.iterations)
        keys = count_colours(graphs, colours).most_common(self.config_.max_features)
        check_time("the deep graph kernel")
        information = mutual_information(co_occurrences(graphs, colours, keys))
        check_time("the deep graph kernel")
        self.state_["columns"] = keys.view(np.int64)
        self.state_["vectors"] = embed(information, self.config_.dim)

    def _represent(self, graphs: GraphSet) -> np.ndarray:
        colours = wl_colours(graphs, self.state_["source"], self.config_.iterations)
        counts = count_colours(graphs, colours).columns(self.state_["columns"].view(np.uint64))
        return np.asarray(counts @ self.state_["vectors"])

    @property
    def n_features_out_(self) -> int:
        """Width of a pattern's vector."""
        return int(self.state_["vectors"].shape[1])


def co_occurrences(graphs: GraphSet, colours: Keys, keys: Keys) -> Any:
    """Return how often two patterns occur at one node or at two neighbours, sparse [P, P].

    ``colours`` [levels, N] are the patterns at each node; ``keys`` [P] those that count, ascending.
    """
    levels, num_nodes = colours.shape
    at_node = Patterns.count(np.tile(np.arange(num_nodes), levels), colours.ravel(), num_nodes)
    here = at_node.columns(keys).astype(np.float64)
    entries = graphs.adjacency.num_entries * levels
    reserve(24.0 * entries, f"a table of {entries} patterns beside each other")
    around = here + block_matrix(graphs) @ here
    reserve(16.0 * min(around.nnz * float(levels), len(keys) ** 2), "a table of co-occurrences")
    return here.T @ around


def mutual_information(together: Any) -> Any:
    """Return max(0, log(c_ij c / (c_i c_j))) of co-occurrences c [P, P], sparse."""
    table = together.tocoo()
    totals = np.asarray(together.sum(axis=1)).ravel()
    expected = totals[table.row] * totals[table.col] / totals.sum()
    values = np.maximum(np.log(table.data / expected), 0.0)
    return sparse.coo_array((values, (table.row, table.col)), shape=table.shape).tocsr()


def embed(information: Any, dim: int) -> np.ndarray:
    """Return rows E [P, <= dim] of length 1 with E E' close to the information's directions."""
    size = information.shape[0]
    if size <= max(dim + 1, 200):
        U, scale, _ = np.linalg.svd(information.toarray())
    else:
        U, scale, _ = svds(information, k=dim, v0=np.ones(size))
        U, scale = U[:, ::-1], scale[::-1]
    vectors = U[:, :dim] * np.sqrt(scale[:dim])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1.0))


class Graph2VecConfig(Settings):
    """The settings of graph2vec."""

    dim: int = setting(128, "method", "width of a vector", low=1, high=65_536)
    iterations: int = setting(2, "method", "height of the largest subtree", low=0, high=1000)
    epochs: int = setting(50, "method", "passes over the documents", low=1)
    learning_rate: float = setting(0.025, "method", "step size at the start", above=0)
    min_count: int = setting(5, "method", "words seen less often are not read", low=1)
    negative: int = setting(5, "method", "negative samples for each word", low=1, high=1000)
    sample: float = setting(0.0, "method", "frequency from which words are thinned; 0: none", low=0)


@settings_as_parameters(Graph2VecConfig)
class Graph2Vec(base.ShallowEstimator):
    """Learns a vector for each graph that predicts its subtrees (Narayanan et al., 2017).

    The words of a graph are the Weisfeiler-Lehman colours of its nodes at the levels 0 to
    ``iterations``; gensim's doc2vec (PV-DBOW with negative samples) learns a vector for each word.
    ``transform`` finds the vector of a graph with the words held fixed, the same way for graphs of
    ``fit`` and for new ones, each on its own. Words that ``fit`` saw fewer than ``min_count`` times
    are not read.
    """

    def _fit(self, graphs: GraphSet) -> None:
        doc2vec, s = _doc2vec(), self.config_
        self.state_["source"], self.notes_ = key_source(graphs)
        words_of = wl_words(graphs, self.state_["source"], s.iterations)
        documents = [doc2vec.TaggedDocument(words, [g]) for g, words in enumerate(words_of)]
        model = self._empty_model(s.min_count)
        model.build_vocab(documents)
        if len(model.wv):
            model.train(documents, total_examples=len(documents), epochs=s.epochs)
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
        for g, words in enumerate(wl_words(graphs, self.state_["source"], s.iterations)):
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

    def _empty_model(self, min_count: int) -> Any:
        s = self.config_
        # One worker: several would update in a random order and give other numbers each time.
        same = {key: getattr(s, key) for key in ("sample", "negative", "seed")}
        return _doc2vec().Doc2Vec(
            vector_size=s.dim, alpha=s.learning_rate, min_count=min_count, dm=0, workers=1, **same
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
