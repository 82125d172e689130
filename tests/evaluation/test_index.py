from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import igsd
from igsd.errors import ConfigError, DataError, StorageError
from igsd.evaluation import hnsw, index
from igsd.evaluation.index import Index
from igsd.evaluation.neighbors import nearest
from igsd.files.arrays import read_arrays, write_arrays
from igsd.files.models import identity_of
from tests.small_graphs import make_graphs


def vectors_like_a_network(count: int, width: int = 24) -> np.ndarray:
    draws = np.random.default_rng(0)
    rows = draws.normal(size=(count, 6)) @ draws.normal(size=(6, width))
    rows = np.maximum(rows, 0).astype(np.float32)
    rows[:, 3] = 7  # does not vary
    return rows


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make search approximate from 200 vectors on."""
    pytest.importorskip("usearch")
    monkeypatch.setattr(index, "EXACT", 200)
    monkeypatch.setattr(index, "_BLOCK", 300)
    monkeypatch.setattr(hnsw, "_ROWS", 170)


def test_an_exact_index_equals_nearest(tmp_path: Path) -> None:
    vectors, queries = vectors_like_a_network(150), vectors_like_a_network(9) + 0.1
    built = Index.build(vectors, tmp_path / "i")
    assert (built.is_exact, len(built)) == (True, 150)
    for asked in (queries, [3, 149]):
        for found, expected in zip(built.search(asked, 5), nearest(vectors, asked, 5), strict=True):
            np.testing.assert_array_equal(found, expected)
        for found, expected in zip(
            igsd.neighbors(built, asked, 5), built.search(asked, 5), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    assert built.search([0], 999)[0].shape == (1, 149)


@pytest.mark.usefixtures("few")
def test_an_approximate_index_finds_what_exact_search_finds(tmp_path: Path) -> None:
    vectors = vectors_like_a_network(2000)
    built = Index.build(vectors, tmp_path / "i")
    assert not built.is_exact
    for asked in (vectors[:600] + 0.05, np.arange(600)):
        indices, distances = built.search(asked, 10)
        for found in (built.search(asked, 10, exact=True), nearest(vectors, asked, 10)):
            np.testing.assert_allclose(found[1], distances, atol=2e-3)
            assert (found[0] == indices).mean() > 0.98
    assert not (indices == np.arange(600)[:, None]).any()
    one = built.search(vectors[7:8], 3)
    np.testing.assert_array_equal(one[0], built.search(vectors[:20], 3)[0][7:8])


@pytest.mark.usefixtures("few")
def test_many_equal_vectors_do_not_hide_the_others(tmp_path: Path) -> None:
    """Equal vectors link to each other alone, unless they stand for one."""
    vectors = vectors_like_a_network(1500)
    vectors[300:1300] = vectors[2]
    built = Index.build(vectors, tmp_path / "i")
    for asked in ([0, 2, 299, 800], vectors[[2, 5, 1400]] + 0.01):
        for found, expected in zip(built.search(asked, 8), nearest(vectors, asked, 8), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-6)
    every = np.ones((300, 4), np.float32)
    assert Index.build(every, tmp_path / "e").search([5], 3)[1].tolist() == [[0, 0, 0]]


@pytest.mark.usefixtures("few")
def test_the_same_vectors_give_the_same_file(tmp_path: Path) -> None:
    vectors = vectors_like_a_network(700)
    Index.build(vectors, tmp_path / "a")
    Index.build(vectors.astype(np.float64), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]  # nothing left over


def test_graphs_are_described(tmp_path: Path) -> None:
    graphs = make_graphs(4, graph_names=("a", "bé", "", "bé"), ids=("1", "2", "3", "4"))
    model = igsd.make_method("histogram").fit(graphs)
    built = Index.build(graphs, tmp_path / "i", model=model)
    assert built.graph_names is not None
    assert [*built.graph_names] == ["a", "bé", "", "bé"]
    assert (built.graph_names.index("bé"), "b" in built.graph_names) == (1, False)
    assert built.graph_names[-1] == "bé"
    with pytest.raises(IndexError):
        built.graph_names[4]
    indices, _ = igsd.neighbors(built, graphs[1], k=1, model=model)
    assert indices.tolist() == [[1]]


def test_an_index_of_another_model(tmp_path: Path) -> None:
    graphs = make_graphs(6)
    model = igsd.IGSD(epochs=1, random_state=0).fit(graphs)
    built = Index.build(graphs, tmp_path / "i", model=model)
    model.save(tmp_path / "m")
    assert identity_of(igsd.load_model(tmp_path / "m")) == identity_of(model) != ""
    igsd.neighbors(built, graphs, model=igsd.load_model(tmp_path / "m"))
    other = igsd.IGSD(epochs=1, random_state=1).fit(graphs)
    with pytest.raises(DataError, match="index of vectors of another model"):
        igsd.neighbors(built, graphs, model=other)


def test_wrong_vectors(tmp_path: Path) -> None:
    vectors = vectors_like_a_network(30)
    built = Index.build(vectors, tmp_path / "i")
    with pytest.raises(DataError, match=r"vectors of 24 numbers .* Got shape \(2, 5\)"):
        built.search(np.ones((2, 5)))
    with pytest.raises(DataError, match=r"Query 1 \(from 0\) is not"):
        built.search(np.stack([vectors[0], np.full(24, np.nan)]))
    with pytest.raises(DataError, match=r"Query 0 .* is not"):
        built.search(np.full((1, 24), 1e200))
    with pytest.raises(DataError, match="There is no graph 30"):
        built.search([30])
    with pytest.raises(ConfigError, match="k must be at least 1"):
        built.search([0], 0)
    for wrong in (np.zeros((0, 4)), np.zeros(4), np.array([["a"]])):
        with pytest.raises(DataError, match=r"needs vectors \[G, d\]"):
            Index.build(wrong, tmp_path / "w")
    vectors[17, 2] = np.inf
    with pytest.raises(DataError, match="That of graph 17 is not"):
        Index.build(vectors, tmp_path / "w")
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


@pytest.mark.usefixtures("few")
def test_a_file_that_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "i"
    Index.build(vectors_like_a_network(400), path)
    content = path.read_bytes()
    for cut in (0, 5, 300, len(content) // 2, len(content) - 1):
        (tmp_path / "cut").write_bytes(content[:cut])
        with pytest.raises(StorageError, match=r"not a vector index|damaged"):
            Index.load(tmp_path / "cut")
    changed = bytearray(content)
    changed[-9] ^= 1
    (tmp_path / "changed").write_bytes(changed)
    with pytest.raises(StorageError, match="another checksum"):
        Index.load(tmp_path / "changed")


COLUMNS = {
    "mean": lambda a: a[:-1],
    "scale": lambda a: a * 0,
    "varies": lambda a: a[:-1],
    "members": lambda a: a + 1,
    "members_ptr": lambda a: a[:-1],
    "vectors": lambda a: a[:-1],
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("column", COLUMNS)
def test_columns_that_do_not_fit(tmp_path: Path, column: str) -> None:
    Index.build(vectors_like_a_network(300), tmp_path / "i")
    arrays, header = read_arrays(tmp_path / "i", "vector index")
    arrays[column] = np.ascontiguousarray(COLUMNS[column](np.array(arrays[column])))
    write_arrays(tmp_path / "w", arrays, header)
    with pytest.raises(StorageError, match="does not fit the others"):
        Index.load(tmp_path / "w")


def test_ids_that_are_no_texts(tmp_path: Path) -> None:
    """A byte that no text has once ended in a traceback when the id was shown."""
    Index.build(vectors_like_a_network(2), tmp_path / "i")
    arrays, header = read_arrays(tmp_path / "i", "vector index")
    arrays |= {"ids": np.array([97, 203], np.uint8), "ids_ptr": np.array([0, 1, 2])}
    write_arrays(tmp_path / "w", arrays, header)
    with pytest.raises(StorageError, match="'ids'"):
        Index.load(tmp_path / "w")


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / ".igsd-index-abcdefgh"
    left.mkdir()
    for name in ("vectors", "hnsw", ".lock"):
        (left / name).write_bytes(b"x")
    Index.build(vectors_like_a_network(9), tmp_path / "i")
    assert [path.name for path in tmp_path.iterdir()] == ["i"]


UNSOUND = {
    "tiny scale": ("scale", lambda a: a * 0 + 1e-300),
    "large scale": ("scale", lambda a: a * 1e6),
    "scale that is no number": ("scale", lambda a: a * np.nan),
    "other mean": ("mean", lambda a: a + 1e6),
    "NaN": ("vectors", lambda a: a * np.nan),
    "one NaN": ("vectors", lambda a: np.where(np.arange(len(a)) == 250, np.nan, a.T).T),
    "large": ("vectors", lambda a: a * 0 + np.float32(3e38)),
    "no width": ("vectors", lambda a: a[:, :0]),
    "lines": ("lines", lambda a: a * 0 + np.iinfo(np.int64).min),
}


@pytest.mark.parametrize("fault", UNSOUND)
def test_numbers_that_cannot_be_an_index(tmp_path: Path, fault: str) -> None:
    Index.build(vectors_like_a_network(300), tmp_path / "i")
    arrays, header = read_arrays(tmp_path / "i", "vector index")
    arrays["lines"] = np.arange(300)
    column, changed = UNSOUND[fault]
    values = np.array(arrays[column])
    arrays[column] = np.ascontiguousarray(changed(values).astype(values.dtype))
    if fault == "no width":
        arrays |= {key: np.array(arrays[key][:0]) for key in ("mean", "scale", "varies")}
    write_arrays(tmp_path / "w", arrays, header)
    with pytest.raises(StorageError, match=r"column '(vectors|scale|mean|lines)' is missing or"):
        Index.load(tmp_path / "w")


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_vectors_of_any_size_fit(tmp_path: Path, size: float) -> None:
    one_differs = np.zeros((3000, 2), np.float32)
    one_differs[:, 1] = 1
    one_differs[7] += np.float32(1e-6)
    for vectors in (vectors_like_a_network(300), one_differs, np.eye(2), np.ones((1, 3))):
        assert len(Index.build(vectors * size, tmp_path / "i")) == len(vectors)


@pytest.mark.usefixtures("few")
def test_native_code_never_sees_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    """Checksums stop accidents, not a file that was made to be wrong."""
    count, width = 600, 23
    Index.build(vectors_like_a_network(count), tmp_path / "i")
    arrays, header = read_arrays(tmp_path / "i", "vector index")
    start = 8 + 2 * count * width
    sound = np.array(arrays["hnsw"])
    assert hnsw._fault(sound, count, width) is None
    draws = np.random.default_rng(0)
    places = [0, 4, start, start + 13, start + 17, start + 64, start + 96, start + 104]
    places += [start + 104 + 2 * count + offset for offset in (0, 8, 12, 17)]
    found = 0
    for place in (*places, *draws.integers(start, len(sound), 300)):
        wrong = sound.copy()
        wrong[place] ^= 255
        found += hnsw._fault(wrong, count, width) is not None
        if hnsw._fault(wrong, count, width) is None:  # room for links that is not used
            hnsw.search_hnsw(hnsw.open_hnsw(wrong, count, width, "i"), np.ones((9, width), "f2"), 9)
    assert found > 100
    arrays["hnsw"] = sound[:-1]
    write_arrays(tmp_path / "w", arrays, header)
    with pytest.raises(StorageError, match="another version of usearch: its links"):
        Index.load(tmp_path / "w").search([0])
