from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rdkit")

from igsd.baselines.registry import load_model
from igsd.errors import StorageError
from igsd.files.columns import read_vectors
from igsd.files.locks import Lock
from igsd.training import loop
from tests.cli.conftest import Run
from tests.graphs.test_chemistry import DRUGS

SMALL = [
    "--set=epochs=3",
    "--set=hidden_dim=8",
    "--set=num_layers=2",
    "--set=num_fragments=16",
    "--set=label_batch_size=4",
    "--set=self_epochs=2",
    "--quiet",
]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """Return the name of a table of molecules, one of them none."""
    (tmp_path / "corpus.csv").write_text("smiles\n" + "\n".join([*DRUGS, "nope"]) + "\n")
    return "corpus.csv"


def test_an_encoder_from_a_table(igsd: Run, corpus: str, tmp_path: Path) -> None:
    code, out, err = igsd("pretrain", corpus, "-o", "encoder", *SMALL)
    assert code == 0
    assert "vectors of 232 numbers, from 8 molecules: encoder" in out
    assert "1 string left out" in err
    assert not (tmp_path / "encoder.checkpoint").exists()
    assert igsd("embed", "encoder", corpus, "-o", "v.npy", "--quiet")[0] == 0
    expected = load_model(tmp_path / "encoder").transform(DRUGS)
    assert np.array_equal(read_vectors(tmp_path / "v.npy"), expected)


def test_a_finished_encoder_is_replaced_only_on_request(
    igsd: Run, corpus: str, tmp_path: Path
) -> None:
    """It was replaced without a word, and two commands wrote one file."""
    (tmp_path / "encoder").write_bytes(b"precious")
    code, _, err = igsd("pretrain", corpus, "-o", "encoder", *SMALL)
    assert (code, "encoder exists. Choose another name" in err) == (2, True)
    assert (tmp_path / "encoder").read_bytes() == b"precious"
    lock = Lock(tmp_path / ".encoder.lock")
    assert lock.acquire()
    code, _, err = igsd("pretrain", corpus, "-o", "encoder", *SMALL, "--force")
    assert (code, "is in use" in err) == (2, True)
    lock.release()
    assert igsd("pretrain", corpus, "-o", "encoder", *SMALL, "--force")[0] == 0
    assert not (tmp_path / ".encoder.lock").exists()


def test_an_interrupted_run_ends_with_the_same_weights(
    igsd: Run, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert igsd("pretrain", corpus, "-o", "whole", *SMALL)[0] == 0
    step, taken = loop._one_step, []

    def stopping(*args: object) -> None:
        if len(taken) == 3:
            raise KeyboardInterrupt
        taken.append(args)
        step(*args)  # type: ignore[arg-type]

    often = "--set=checkpoint_every=1"
    with monkeypatch.context() as patch:
        patch.setattr(loop, "_one_step", stopping)
        assert igsd("pretrain", corpus, "-o", "parts", *SMALL, often)[0] == 130
    assert (tmp_path / "parts.checkpoint").exists()
    for other, difference in (
        (["--set=learning_rate=0.5"], "its learning_rate is"),
        (["--most=5"], "it was trained on other graphs"),
        (["--start=whole"], "it began with other weights"),
    ):
        code, _, err = igsd("pretrain", corpus, "-o", "parts", *SMALL, often, *other)
        assert (code, difference in err, "or delete parts.checkpoint" in err) == (2, True, True)
    code, _, err = igsd("pretrain", corpus, "-o", "parts", *SMALL, often)
    assert code == 0
    assert "continuing from parts.checkpoint" in err
    vectors = [load_model(tmp_path / name).transform(DRUGS) for name in ("whole", "parts")]
    assert np.array_equal(*vectors)


def test_wrong_input(igsd: Run, corpus: str) -> None:
    code, _, err = igsd("pretrain", "missing.csv", "-o", "encoder")
    assert (code, "There is no table missing.csv" in err) == (2, True)
    code, _, err = igsd("pretrain", corpus, "-o", "encoder", "--set=width=3")
    assert (code, "no setting 'width'" in err) == (2, True)


def test_a_path_named_molecules_wins(igsd: Run, tmp_path: Path) -> None:
    (tmp_path / "molecules").write_text("something else")
    (tmp_path / "m.csv").write_text("smiles\nCCO\n")
    code, _, err = igsd("embed", "molecules", "m.csv", "-o", "v.npy")
    assert code == 2
    assert "molecules" in err
    with pytest.raises(StorageError):
        load_model("molecules")
