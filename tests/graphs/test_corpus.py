from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rdkit")

from igsd.errors import DataError
from igsd.graphs import corpus as module
from igsd.graphs.chemistry import chemical
from igsd.graphs.corpus import corpus_texts, read_corpus
from igsd.graphs.readers.smiles import from_smiles
from igsd.workers.pools import Workers
from tests.graphs.test_chemistry import DRUGS


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART", 3)


def test_graphs_and_targets(tmp_path: Path) -> None:
    found = read_corpus([*DRUGS[:3], "no molecule", *DRUGS[3:]], folder=tmp_path)
    expected = chemical(from_smiles(DRUGS))
    assert found.left_out == 1
    assert np.array_equal(found.graphs.node_ptr, expected.node_ptr)
    assert np.array_equal(found.graphs.adjacency.col, expected.adjacency.col)
    for ours, theirs in (
        (found.graphs.node_label_names, expected.node_label_names),
        (found.graphs.edge_label_names, expected.edge_label_names),
    ):
        assert set(ours) == set(theirs)
    ours, theirs = found.graphs, expected
    assert ours.node_labels is not None
    assert theirs.node_labels is not None
    assert [ours.node_label_names[c] for c in ours.node_labels] == [
        theirs.node_label_names[c] for c in theirs.node_labels
    ]
    assert len(found.descriptors) == len(found.fragments) == len(DRUGS)
    assert found.fragments.shape[1] == 1024


def test_nothing_is_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_corpus(DRUGS[:4], folder=tmp_path)
    calls = []
    write = module.make_part

    def counted(*args: Any) -> Any:
        calls.append(args)
        return write(*args)

    monkeypatch.setattr(module, "make_part", counted)
    again = read_corpus(DRUGS[:4], folder=tmp_path)
    assert not calls
    assert again.checksum == first.checksum
    more = read_corpus(DRUGS, folder=tmp_path)
    assert len(calls) == 2  # the first part is there
    assert np.array_equal(more.descriptors[:4], first.descriptors, equal_nan=True)


@pytest.mark.slow
def test_processes_give_the_same(tmp_path: Path) -> None:
    one = read_corpus(DRUGS, folder=tmp_path / "one")
    two = read_corpus(DRUGS, folder=tmp_path / "two", workers=Workers(2))
    assert one.checksum == two.checksum
    assert np.array_equal(one.descriptors, two.descriptors, equal_nan=True)
    assert one.graphs == two.graphs


def _flip_last_bit(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)


@pytest.mark.parametrize(
    "damaged", ["joined-*/fragments.npy", "joined-*/corpus.json", "??/*.safetensors"]
)
def test_damage_is_mended_with_a_note(damaged: str, tmp_path: Path) -> None:
    good, folder = read_corpus(DRUGS, folder=tmp_path / "good"), tmp_path / "bad"
    read_corpus(DRUGS, folder=folder)
    _flip_last_bit(next(folder.glob(damaged)))
    with pytest.warns(UserWarning, match="corpus in the cache cannot be used and is made again"):
        found = read_corpus(DRUGS, folder=folder)
    assert found.graphs == good.graphs
    assert np.array_equal(found.fragments, good.fragments)
    assert np.array_equal(found.descriptors, good.descriptors, equal_nan=True)


def test_parts_that_vanish_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, join, calls = read_corpus(DRUGS, folder=tmp_path / "a"), module._join, []

    def emptied(*args: object) -> None:
        calls.append(args)
        if len(calls) == 1:
            next((tmp_path / "b").glob("??/*.safetensors")).unlink()
        join(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_join", emptied)
    found = read_corpus(iter(DRUGS), folder=tmp_path / "b")
    assert len(calls) == 2
    assert found.graphs == good.graphs


def test_an_unusable_cache_costs_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good, blocked = read_corpus(DRUGS, folder=tmp_path), tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv("IGSD_CACHE", str(blocked))
    with pytest.warns(UserWarning, match="The corpus cannot be cached.*Set IGSD_CACHE"):
        found = read_corpus(DRUGS)
    assert found.graphs == good.graphs
    assert np.array_equal(found.fragments, good.fragments)


def test_no_molecules(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no SMILES"):
        read_corpus([], folder=tmp_path)
    with pytest.raises(DataError, match="Not one string"):
        read_corpus(["nope"], folder=tmp_path)


def test_tables(tmp_path: Path) -> None:
    for name, rows in (("a", DRUGS[:2]), ("b", DRUGS[2:4])):
        lines = "".join(f"{place},{row}\n" for place, row in enumerate(rows))
        (tmp_path / f"{name}.csv").write_text(f"id,smiles\n{lines}")
    found = list(corpus_texts([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]))
    assert found == list(DRUGS[:4])
    with pytest.raises(DataError, match="There is no table"):
        list(corpus_texts(["missing.csv"]))
