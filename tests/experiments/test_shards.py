from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd.baselines.kernels.wl import WLKernel
from igsd.errors import ConfigError, DataError, StorageError
from igsd.estimators import IGSD, IGSDClassifier
from igsd.experiments import shards
from igsd.experiments.shards import predictions_by_shards, shards_of, vectors_by_shards
from igsd.graphs.graphset import GraphSet
from igsd.graphs.shards import write_manifest, write_shard
from igsd.workers.pools import Workers
from igsd.workers.tasks import Pool
from tests.small_graphs import TINY, make_graphs
from tests.workers.children import DaskProcesses

SETTINGS = TINY | {"batch_size": 64, "epochs": 1, "random_state": 0}


class Pretended(Workers):
    """Three workers that are this process."""

    @property
    def is_here(self) -> bool:
        return False

    @contextlib.contextmanager
    def pool(self) -> Iterator[Pool]:
        pool = Pool()
        pool.size = 3
        yield pool


@pytest.fixture(scope="module")
def many() -> GraphSet:
    """Return graphs that are computed in four chunks."""
    return make_graphs(5000, attributes=2, classes=True)


@pytest.fixture(scope="module")
def saved(many: GraphSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model of vectors, ``v``, and one of classes, ``c``."""
    folder = tmp_path_factory.mktemp("models")
    IGSD(**SETTINGS).fit(many[:200]).save(folder / "v")
    classes = np.asarray(many.classes)[:200]
    IGSDClassifier(**SETTINGS).fit(many[:200], classes).save(folder / "c")
    return folder


def test_shards_are_whole_chunks() -> None:
    parts = [(start, start + 10) for start in range(0, 100, 10)]
    assert shards_of(parts, 1) == parts
    assert shards_of([(0, 3)], 8) == [(0, 3)]
    parts = [(start, start + 10) for start in range(0, 1000, 10)]
    found = shards_of(parts, 2)
    assert len(found) == 17
    assert [start for start, _ in found[1:]] == [stop for _, stop in found[:-1]]
    assert (found[0][0], found[-1][1]) == (0, 1000)
    assert all(start % 10 == 0 for start, _ in found)
    assert max(stop - start for start, stop in shards_of([(0, 10**5), (10**5, 10**7)], 1)) > 10**6


def test_vectors_are_those_of_one_process(many: GraphSet, saved: Path) -> None:
    model, source = IGSD.load(saved / "v"), str(saved / "v")
    here = list(vectors_by_shards(model, source, many, Workers()))
    by_shards = list(vectors_by_shards(model, source, many, Pretended()))
    assert len(here) > 2
    assert [len(rows) for rows in here] == [len(rows) for rows in by_shards]
    assert np.array_equal(np.concatenate(here), np.concatenate(by_shards))
    assert np.array_equal(np.concatenate(here), model.transform(many))


def test_predictions_are_those_of_one_process(many: GraphSet, saved: Path) -> None:
    model, source = IGSDClassifier.load(saved / "c"), str(saved / "c")
    here = predictions_by_shards(model, source, many, Workers())
    assert predictions_by_shards(model, source, many, Pretended()) == here
    assert here["graph"] == list(range(5000))
    assert list(here)[:2] == ["graph", "class"]


def test_a_model_that_does_not_cut_a_set_itself(
    many: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = WLKernel().fit(many[:50])
    model.save(tmp_path / "wl")
    monkeypatch.setattr(shards, "CHUNK", 60)
    for workers in (Workers(), Pretended()):
        chunks = list(vectors_by_shards(model, str(tmp_path / "wl"), many[:150], workers))
        assert [len(rows) for rows in chunks] == [60, 60, 30]
        assert np.array_equal(np.concatenate(chunks), model.transform(many[:150]))


def test_a_model_without_labels(many: GraphSet, saved: Path) -> None:
    model, source = IGSD.load(saved / "v"), str(saved / "v")
    for workers in (Workers(), Pretended()):
        with pytest.raises(ConfigError, match="no predictions"):
            predictions_by_shards(model, source, many, workers)


def test_notes_come_once_and_errors_say_where(
    many: GraphSet, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from igsd.errors import IGSDWarning, warn_user

    class Model:
        def transform(self, graphs: GraphSet) -> np.ndarray:
            warn_user("Nodes have labels that the model does not know.")
            if len(graphs) < 60:
                raise DataError("Graph 7 is empty.")
            return np.zeros((len(graphs), 2))

    monkeypatch.setattr(shards, "CHUNK", 60)
    monkeypatch.setattr(shards, "_opened", lambda path, changed: Model())
    with pytest.warns(IGSDWarning, match="does not know") as found:
        assert len(list(vectors_by_shards(Model(), str(saved / "v"), many[:120], Pretended()))) == 2
    assert len(found) == 1
    with pytest.raises(DataError, match=r"Graph 7 is empty. \(Graphs are counted from graph 120"):
        list(vectors_by_shards(Model(), str(saved / "v"), many[:150], Pretended()))


def test_shards_of_a_stored_set_are_read_by_the_workers(
    many: GraphSet, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.graphs"
    many.save(path)
    folder = tmp_path / "shards"
    folder.mkdir()
    packed = [part.packed() for part in (many[:3000], many[3000:])]
    parts = [write_shard(folder, number, *part) for number, part in enumerate(packed, 1)]
    write_manifest(folder, packed[0][1], parts)
    model, source = IGSD.load(saved / "v"), str(saved / "v")
    seen: list[Any] = []
    real = shards._graphs
    monkeypatch.setattr(shards, "_graphs", lambda shard: seen.append(shard) or real(shard))
    stored = (path, folder)
    kinds: dict[str, Any] = dict.fromkeys(map(str, stored), shards.Stored)
    kinds |= dict.fromkeys(("MUTAG", __file__), GraphSet)
    for data, kind in kinds.items():
        seen.clear()
        found = list(vectors_by_shards(model, source, many, Pretended(), data=data))
        assert {type(shard) for shard in seen} == {kind}
        assert np.array_equal(np.concatenate(found), model.transform(many))
    for place in stored:
        changed = shards.Stored(str(place), "of another set", 0, 3)
        with pytest.raises(StorageError, match="is not the same on every worker, or has changed"):
            real(changed)


def test_progress(many: GraphSet, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = IGSD.load(saved / "v")
    list(vectors_by_shards(model, str(saved / "v"), many, Pretended(), verbose=True))
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("embedding: 5000/5000 4/4 shards, ")
    assert lines[-1].endswith(" graphs/s, 0 s left")


@pytest.mark.slow
def test_processes(many: GraphSet, saved: Path) -> None:
    model, source = IGSD.load(saved / "v"), str(saved / "v")
    found = np.concatenate(list(vectors_by_shards(model, source, many, Workers(2))))
    assert np.array_equal(found, model.transform(many))
    model, source = IGSDClassifier.load(saved / "c"), str(saved / "c")
    here = predictions_by_shards(model, source, many, Workers())
    assert predictions_by_shards(model, source, many, Workers(2)) == here


@pytest.mark.slow
def test_a_cluster_one_of_whose_workers_is_killed(
    many: GraphSet, saved: Path, cluster: DaskProcesses
) -> None:
    model, source = IGSD.load(saved / "v"), str(saved / "v")
    chunks: list[Any] = []
    for rows in vectors_by_shards(model, source, many, Workers(1, cluster.address)):
        if not chunks:
            cluster.workers[0].kill()
        chunks.append(rows)
    assert np.array_equal(np.concatenate(chunks), model.transform(many))
    # The other worker does it alone, without the file of the model, from the file of graphs.
    many.save(saved / "many.graphs")
    more: Any = {"data": str(saved / "many.graphs")}
    found = list(vectors_by_shards(model, source, many, Workers(1, cluster.address), **more))
    assert np.array_equal(np.concatenate(found), model.transform(many))


@pytest.mark.slow
def test_a_cluster_that_ends_leaves_no_file(
    many: GraphSet, saved: Path, cluster: DaskProcesses, tmp_path: Path
) -> None:
    from igsd.files.columns import write_vectors

    model, source, target = IGSD.load(saved / "v"), str(saved / "v"), tmp_path / "vectors.npy"

    def chunks() -> Iterator[np.ndarray]:
        for rows in vectors_by_shards(model, source, many, Workers(1, cluster.address)):
            cluster.scheduler.kill()
            yield rows

    columns = [str(name) for name in model.get_feature_names_out()]
    with pytest.raises(ConfigError, match="has ended, or cannot be reached"):
        write_vectors(target, chunks(), (len(many), len(columns)), columns)
    assert not target.exists()
    assert not list(tmp_path.glob(".vectors*"))
