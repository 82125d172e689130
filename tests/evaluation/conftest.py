"""Made-up fold files, for what reads them and for the protocol that uses them."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from igsd.evaluation import folds


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in IGSD_DATA: folds of 60 graphs, PTC and MUTAG (shifted order), IMDB-BINARY."""
    order = np.random.default_rng(0).permutation(60)
    shift = (np.arange(60) + 7) % 60
    text = lambda numbers: "\n".join(str(int(i)) for i in numbers)  # noqa: E731
    with zipfile.ZipFile(tmp_path / "gckn-folds.zip", "w") as archive:
        for name in ("PTC", "MUTAG"):
            for k in range(1, 11):
                turned = np.roll(order, 6 * k)
                inner = f"{name}/inner_folds"
                archive.writestr(f"{name}/test_idx-{k}.txt", text(turned[:6]))
                archive.writestr(f"{inner}/val_idx-{k}-1.txt", text(turned[6:14]))
                archive.writestr(f"{inner}/train_idx-{k}-1.txt", text(turned[14:]))
    with zipfile.ZipFile(tmp_path / "gin-folds.zip", "w") as archive:
        archive.writestr("MUTAG/dgcnn_to_tu.txt", text(shift))
        for k in range(1, 11):
            turned = np.roll(order, 6 * k)
            prefix = "IMDBBINARY/10fold_idx"
            archive.writestr(f"{prefix}/test_idx-{k}.txt", text(turned[:6]))
            archive.writestr(f"{prefix}/train_idx-{k}.txt", text(turned[6:]))
    monkeypatch.setenv("IGSD_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def two_folds(monkeypatch):
    """Only the first two folds, to keep 60 values of C affordable."""
    monkeypatch.setattr(folds, "NUM_PUBLISHED", 2)
