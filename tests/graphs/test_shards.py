"""A set in a folder of shards is the set of one file, and what is wrong with a folder is said."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError, StorageError
from igsd.files import arrays
from igsd.files.stacks import Stack, TextStack
from igsd.graphs import importing, joining, shards
from igsd.graphs.graphset import GraphSet
from igsd.graphs.importing import import_tables
from igsd.graphs.open import open_data

pytest.importorskip("rdkit")

SMILES = ["CCO", "c1ccccc1", "CC(=O)[O-]", "C[C@H](N)C(=O)O", "[Na+].[Cl-]", "CI", "not one"]
ROWS = [
    f"m{row},{SMILES[row % 7]}.{'C' * (1 + row // 7)},{row},{'ab'[row % 2]}" for row in range(30)
]
CSV = "id,smiles,value,label\n" + "\n".join(ROWS) + "\n"

pytestmark = pytest.mark.filterwarnings("ignore::igsd.errors.IGSDWarning")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "PART", 4)
    monkeypatch.setattr(joining, "SHARD", 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.csv").write_text(CSV)
    import_tables([str(tmp_path / "m.csv")], tmp_path / "set")
    return tmp_path / "set"


def whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> GraphSet:
    monkeypatch.setattr(joining, "SHARD", 1000)
    import_tables([str(folder.parent / "m.csv")], folder.parent / "one")
    return GraphSet.load(folder.parent / "one")


def test_the_shards_are_the_set_of_one_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert sorted(path.name for path in folder.iterdir())[:2] == [
        "manifest.json",
        "part-0001.graphs",
    ]
    assert not (tmp_path / "set.parts").exists()
    found, expected = open_data(folder), whole(folder, monkeypatch)
    assert len(list(folder.glob("part-*.graphs"))) > 2
    assert found == expected
    assert (found.name, found.notes, len(found)) == (expected.name, expected.notes, len(expected))
    assert tuple(found.ids or ()) == expected.ids
    assert found.structure_checksum == expected.structure_checksum
    order = np.array([25, 0, 3, 3, 12])
    assert found.take(order) == expected.take(order)
    assert found[:10] == expected[:10]
    assert (found[7].graph_names or ())[0] == (expected.graph_names or ())[7]
    assert np.array_equal(found.node_counts(), expected.node_counts())
    assert found.without_labels() == expected.without_labels()
    sent = pickle.dumps(found)
    assert len(sent) < 20_000  # a process that works on the set maps the shards itself
    assert pickle.loads(sent) == found
    found.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "one").read_bytes()


def test_opening_reads_no_data(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = GraphSet.load.__func__  # type: ignore[attr-defined]

    def spy(cls: type, path: Path, **options: bool) -> GraphSet:
        loaded.append(Path(path).name)
        return load(cls, path, **options)

    monkeypatch.setattr(GraphSet, "load", classmethod(spy))
    graphs = open_data(folder)
    assert (len(graphs), loaded) == (26, [])
    graphs.take([0, 1])
    assert loaded == ["part-0001.graphs"]


def change(folder: Path, **values: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | values))


def listed(folder: Path) -> list[dict]:
    return json.loads((folder / "manifest.json").read_text())["shards"]


def expect(folder: Path, words: str) -> None:
    with pytest.raises(StorageError, match=words):
        open_data(folder)


def test_a_missing_shard(folder: Path) -> None:
    (folder / "part-0002.graphs").unlink()
    expect(folder, r"lacks 1 shard of its \d+: 'part-0002.graphs' is not there")
    (folder / "part-0001.graphs").unlink()
    expect(folder, "lacks 2 shards")


def test_a_truncated_shard(folder: Path) -> None:
    path = folder / "part-0002.graphs"
    path.write_bytes(path.read_bytes()[:-9])
    expect(folder, "part-0002.graphs is damaged: array .* does not fit")


def test_a_shard_of_another_version_or_set(folder: Path, tmp_path: Path) -> None:
    plain = (folder / "part-0002.graphs").read_bytes()
    found, header = arrays.read_arrays(folder / "part-0002.graphs", "graph set")
    arrays.write_arrays(folder / "part-0002.graphs", found, header | {"version": 9})
    expect(folder, "part-0002.graphs is a graph set of format 9; this igsd reads format 1")
    (folder / "part-0002.graphs").write_bytes(plain)
    shutil.copy(folder / "part-0001.graphs", folder / "part-0002.graphs")
    expect(folder, "part-0002.graphs is not the shard that .* lists: its")


def test_a_shard_that_is_not_listed(folder: Path) -> None:
    """Only the next number was looked for."""
    shutil.copy(folder / "part-0001.graphs", folder / "part-0099.graphs")
    expect(folder, "holds part-0099.graphs, which .* does not list")


def test_a_shard_listed_twice(folder: Path) -> None:
    entries = listed(folder)
    change(folder, shards=[*entries, entries[0]])
    expect(folder, "lists the shard 'part-0001.graphs' twice")


def test_a_manifest_that_lies(folder: Path) -> None:
    entries = listed(folder)
    change(folder, graphs=1000)
    expect(folder, "promises 1000 graphs, but its shards hold 26")
    change(
        folder, graphs=27, shards=[entries[0] | {"graphs": entries[0]["graphs"] + 1}, *entries[1:]]
    )
    expect(folder, "part-0001.graphs is not the shard .* its graphs should be 8, but it is 7")
    change(folder, graphs=26, shards=[entries[0] | {"more": 2}, *entries[1:]])  # was a KeyError
    expect(folder, "part-0001.graphs is not the shard .* its more should be 2, but it is None")
    change(folder, graphs=26, shards=[entries[0] | {"file": "../x"}, *entries[1:]])
    expect(folder, "which is not a file beside it")
    change(folder, shards=[entries[0] | {"file": "a" * 5000}, *entries[1:]])
    expect(folder, r"lists 'aaa.*\.\.\.' where 'part-0001\.graphs' must stand")
    change(folder, shards=[entries[1], entries[0], *entries[2:]])  # was opened in that order
    expect(folder, r"lists 'part-0002\.graphs' where 'part-0001\.graphs' must stand")
    change(folder, graphs=26 - entries[-1]["graphs"], shards=entries[:-1])  # lost graphs
    expect(folder, rf"holds {entries[-1]['file']}, which .*manifest\.json does not list")
    change(folder, version=2, shards=entries)
    expect(folder, "manifest.json is of format 2; this igsd reads format 1")
    change(folder, version=1, shards=[])
    expect(folder, "lists no shards")
    change(folder, shards="none")
    expect(folder, "shards must be a list")
    (folder / "manifest.json").write_text("{")
    expect(folder, "it is not JSON")
    (folder / "manifest.json").unlink()
    expect(folder, r"holds shards of a set, but no manifest.json")


def test_damaged_data_are_noticed_when_they_are_needed(folder: Path) -> None:
    path = folder / "part-0002.graphs"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(bytes(data))
    graphs = open_data(folder)
    graphs.take([0])
    with pytest.raises(StorageError, match=r"part-0002.graphs is damaged: its content has another"):
        graphs.take([9])


def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.csv").write_text(CSV)
    written: list[int] = []

    def full(folder: Path, number: int, *args: object) -> shards.Shard:
        if number == 3:
            raise StorageError("Cannot write: no space left on device.")
        written.append(number)
        return shards.write_shard(folder, number, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(joining, "write_shard", full)
    with pytest.raises(StorageError, match="no space left"):
        import_tables([str(tmp_path / "m.csv")], tmp_path / "set")
    assert written == [1, 2]
    assert not (tmp_path / "set").exists()
    monkeypatch.setattr(joining, "write_shard", shards.write_shard)
    monkeypatch.setattr(importing, "write_part", None)  # all parts are there
    import_tables([str(tmp_path / "m.csv")], tmp_path / "set")
    assert len(open_data(tmp_path / "set")) == 26
    assert not (tmp_path / "set.parts").exists()


def test_a_set_in_shards_is_replaced_as_a_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = [str(folder.parent / "m.csv")]
    (folder.parent / "m.csv").write_text(CSV.replace("CCO", "CCN"))
    import_tables(source, folder)
    assert "CCN.C" in (open_data(folder).graph_names or ())
    monkeypatch.setattr(joining, "SHARD", 1000)
    import_tables(source, folder)
    assert folder.is_file()
    monkeypatch.setattr(joining, "SHARD", 8)
    import_tables(source, folder)
    assert len(open_data(folder)) == 26
    assert sorted(path.name for path in folder.parent.iterdir()) == ["m.csv", "set"]


@pytest.mark.parametrize("is_folder", [True, False])
def test_killed_while_an_older_set_is_out_of_the_way(folder: Path, is_folder: bool) -> None:
    """An import without molecules lost the older set, and killed later, no import was possible."""
    source, parts = folder.parent / "m.csv", folder.with_name("set.parts")
    parts.mkdir()
    older = folder if is_folder else folder / "part-0001.graphs"
    older.replace(parts / "replaced")
    shutil.rmtree(folder, ignore_errors=True)
    kept = len(open_data(parts / "replaced"))
    source.write_text("smiles\nnope\n")
    with pytest.raises(DataError, match="not valid SMILES"):
        import_tables([str(source)], folder)
    assert len(open_data(folder)) == kept  # it is there again
    parts.mkdir(exist_ok=True)
    copy = shutil.copytree if is_folder else shutil.copy
    copy(folder, parts / "replaced")  # killed before it was removed
    source.write_text(CSV.replace("CCO", "CCN"))
    import_tables([str(source)], folder)
    assert "CCN.C" in (open_data(folder).graph_names or ())
    assert sorted(path.name for path in folder.parent.iterdir()) == ["m.csv", "set"]


def test_a_stack_is_read_like_one_array() -> None:
    parts = [np.arange(5), np.arange(5, 6), np.arange(6, 14)]
    stack = Stack(np.dtype(np.int64), (), [5, 1, 8], lambda number: parts[number])
    plain = np.arange(14)
    for key in (
        3,
        -1,
        slice(2, 9),
        slice(None, None, 3),
        plain > 6,
        [5, 5, 0],
        plain.reshape(2, 7),
    ):
        assert np.array_equal(stack[key], plain[key])
    assert np.array_equal(np.asarray(stack), plain)
    assert np.array_equal(stack + 1, plain + 1)
    assert (stack.max(), len(stack), stack.shape, stack.ndim) == (13, 14, (14,), 1)
    with pytest.raises(IndexError):
        stack[14]
    table = Stack(np.dtype(np.int64), (2,), [2, 1], lambda n: plain[4 * n :].reshape(-1, 2))
    assert table[:, 1].tolist() == [1, 3, 5]
    assert table[1, 0] == 2
    texts = TextStack([1, 2], lambda number: [["a"], ["b", "c"]][number])
    assert (tuple(texts), texts[-1], texts[1:]) == (("a", "b", "c"), "c", ("b", "c"))
    assert repr(texts) == "('a', 'b', 'c')"
