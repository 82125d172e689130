from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from igsd.baselines.kernels.wl import Graph2Vec, wl_words
from igsd.graphs.build import from_edges
from tests.small_graphs import make_graphs


def test_words_worked_by_hand() -> None:
    # The path a-b-c-d, labelled C C N C. Level 0: C C N C.
    # Level 1: C(C) C(C,N) N(C,C) C(N): four different words.
    # Level 2: below each of them stand different things again: four new words.
    graphs = from_edges(
        [4, 2],
        np.array([0, 1, 2, 4]),
        np.array([1, 2, 3, 5]),
        node_labels=np.array([0, 0, 1, 0, 0, 0], np.int32),
        node_label_names=("C", "N"),
    )
    words, pair = wl_words(graphs, "label", 2)
    assert len(words) == 12
    assert words[0] == words[1] == words[3] != words[2]
    assert len(set(words[4:8])) == 4
    assert len(set(words[8:])) == 4
    assert len(set(words)) == 2 + 4 + 4
    # C-C: level 0 C C, then C(C) twice, which the first graph has too, then C(C(C)) twice.
    assert pair[:2] == [words[0]] * 2
    assert pair[2:4] == [words[4]] * 2
    assert pair[4] == pair[5]
    assert pair[4] not in words


def test_words_from_degrees() -> None:
    star = from_edges([4], np.array([0, 0, 0]), np.array([1, 2, 3]))
    (words,) = wl_words(star, "degree", 1)
    assert words[1] == words[2] == words[3] != words[0]
    assert words[5] == words[6] == words[7] != words[4]


def test_similar_graphs_get_similar_vectors() -> None:
    rings = [(i, (i + 1) % 6) for i in range(6)]
    stars = [(0, i) for i in range(1, 6)]
    edges = np.array([(u + 6 * g, v + 6 * g) for g in range(12) for u, v in (rings, stars)[g % 2]])
    graphs = from_edges([6] * 12, edges[:, 0], edges[:, 1], node_labels=np.zeros(72, np.int32))
    vectors = Graph2Vec(dim=8, epochs=40, learning_rate=0.05, min_count=1).fit_transform(graphs)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similar = unit @ unit.T
    assert similar[0, 2::2].min() > 0.9
    assert similar[0, 1::2].max() < similar[0, 2::2].min()


def test_no_word_is_frequent_enough() -> None:
    graphs = make_graphs(3)
    assert np.isfinite(Graph2Vec(min_count=10_000, dim=4).fit_transform(graphs)).all()


@pytest.mark.slow
def test_same_numbers_in_every_process() -> None:
    # gensim starts from Python's hash of the text, which differs between processes.
    code = (
        "from tests.small_graphs import make_graphs;"
        "from igsd.baselines.kernels.wl import Graph2Vec;"
        "print(Graph2Vec(dim=4, epochs=3, min_count=1).fit_transform(make_graphs(5)).tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
