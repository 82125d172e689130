"""The published fold files of protocol ``gckn``, read by exact member names from two zips.

``gckn-folds.zip`` has training, validation and test positions for MUTAG, NCI1, PROTEINS and PTC;
``gin-folds.zip`` has training and test positions for more sets, IMDB among them, and MUTAG's map
from the order that its folds count in to the order of the TU files.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from igsd.errors import DataError, StorageError
from igsd.evaluation.inputs import IntArray

GCKN_ZIP = "gckn-folds.zip"
GIN_ZIP = "gin-folds.zip"
NUM_FOLDS = 10
VALIDATION_PARTS = 9

_IN_GCKN = ("MUTAG", "NCI1", "PROTEINS", "PTC")
_IN_GIN = {
    "IMDB-BINARY": "IMDBBINARY",
    "IMDB-MULTI": "IMDBMULTI",
    "COLLAB": "COLLAB",
    "DD": "DD",
    "PTC_MR": "PTC_MR",
}


@dataclass(frozen=True)
class GCKNFold:
    """Positions of the training, validation and test part of one published fold."""

    train: IntArray
    validation: IntArray
    test: IntArray

    @property
    def fitted(self) -> IntArray:
        """What the last model of a fold is fitted on: training and validation part together."""
        return np.concatenate([self.train, self.validation])


def read_gckn_folds(
    dataset: str, y: IntArray, *, folder: str | Path | None = None, seed: int = 0
) -> tuple[GCKNFold, ...]:
    """Return the ten published folds of a data set in TU order, for its class codes y [n].

    ``folder`` holds the two zips; without it, the folder that IGSD_DATA names. The sets without
    published validation parts get a stratified ninth of each training part, drawn with ``seed``.
    Raises DataError for a set that has no published folds, or if they do not fit n graphs.
    Raises StorageError if a zip or a member is not there or not readable.
    """
    if dataset not in _IN_GCKN and dataset not in _IN_GIN:
        known = ", ".join([*_IN_GCKN, *_IN_GIN])
        raise DataError(
            f"Protocol 'gckn' has published folds for {known} only. Got {dataset!r}. "
            "Use protocol 'nested' for other sets."
        )
    root = _fold_folder(folder)
    numbers = range(1, NUM_FOLDS + 1)
    if dataset in _IN_GCKN:
        folds = [_gckn_fold(root, dataset, k) for k in numbers]
    else:
        folds = [_gin_fold(root, _IN_GIN[dataset], k, y, seed) for k in numbers]
    if dataset == "MUTAG":
        order = _read(root / GIN_ZIP, "MUTAG/dgcnn_to_tu.txt")
        folds = [GCKNFold(order[f.train], order[f.validation], order[f.test]) for f in folds]
    for number, fold in zip(numbers, folds, strict=True):
        _check_partition(dataset, number, fold, len(y))
    return tuple(folds)


def _gckn_fold(root: Path, dataset: str, k: int) -> GCKNFold:
    path, inner = root / GCKN_ZIP, f"{dataset}/inner_folds"
    return GCKNFold(
        train=_read(path, f"{inner}/train_idx-{k}-1.txt"),
        validation=_read(path, f"{inner}/val_idx-{k}-1.txt"),
        test=_read(path, f"{dataset}/test_idx-{k}.txt"),
    )


def _gin_fold(root: Path, directory: str, k: int, y: IntArray, seed: int) -> GCKNFold:
    """Return a fold of the GIN files, with a stratified ninth of training for validation."""
    from sklearn.model_selection import StratifiedKFold

    path, prefix = root / GIN_ZIP, f"{directory}/10fold_idx"
    train = _read(path, f"{prefix}/train_idx-{k}.txt")
    test = _read(path, f"{prefix}/test_idx-{k}.txt")
    if train.max(initial=-1) >= len(y):
        raise _misfit(directory, k, len(y))
    parts = StratifiedKFold(VALIDATION_PARTS, shuffle=True, random_state=seed)
    fit, validation = next(parts.split(train, y[train]))
    return GCKNFold(train[fit], train[validation], test)


def _fold_folder(folder: str | Path | None) -> Path:
    chosen = folder if folder is not None else os.environ.get("IGSD_DATA")
    if not chosen:
        raise StorageError(
            f"Protocol 'gckn' needs the fold files {GCKN_ZIP} and {GIN_ZIP}, and no folder was "
            f"given. {_HOW_TO_GET}"
        )
    return Path(chosen)


def _read(path: Path, member: str) -> IntArray:
    """Return the integers of one zip member, read in place; nothing is extracted."""
    try:
        with zipfile.ZipFile(path) as archive:
            text = archive.read(member).decode("ascii")
        return np.array(text.split(), dtype=np.int64)
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(f"There is no fold file {path}. {_HOW_TO_GET}") from None
    except KeyError:
        raise StorageError(f"{path} has no member {member}. {_HOW_TO_GET}") from None
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise StorageError(f"{path} cannot be read at {member}: {error}. {_HOW_TO_GET}") from error


def _check_partition(dataset: str, k: int, fold: GCKNFold, num_graphs: int) -> None:
    together = np.sort(np.concatenate([fold.train, fold.validation, fold.test]))
    if not np.array_equal(together, np.arange(num_graphs)):
        raise _misfit(dataset, k, num_graphs)


def _misfit(dataset: str, k: int, num_graphs: int) -> DataError:
    return DataError(
        f"Fold {k} of {dataset} does not divide these {num_graphs} graphs into three parts. "
        "Protocol 'gckn' needs the whole data set in the order of its TU files."
    )


_HOW_TO_GET = (
    f"Set IGSD_DATA to the folder that holds both. {GCKN_ZIP} is `datasets/fold-idx` of the "
    f"repository claying/GCKN, zipped from inside; {GIN_ZIP} holds `NAME/10fold_idx` of "
    "muhanzhang/pytorch_DGCNN `data/`, and MUTAG/dgcnn_to_tu.txt. Protocol 'nested' needs neither."
)
