"""The folds of the protocols: stratified and seeded, or published with a data set.

Published folds are read from two zips. ``gckn-folds.zip`` has training, validation and test
positions; ``gin-folds.zip`` has training and test positions for more sets, and the map from the
order that MUTAG's folds count in to the order of the TU files.
"""

import os
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from igsd.errors import ConfigError, DataError, IGSDError, StorageError, counted
from igsd.evaluation.inputs import IntArray
from igsd.files.bounded import check_members

OUTER_FOLDS, INNER_FOLDS = 10, 5
NUM_PUBLISHED, VALIDATION_PARTS = 10, 9
GCKN_ZIP, GIN_ZIP = "gckn-folds.zip", "gin-folds.zip"

Split = tuple[IntArray, IntArray]

_IN_GCKN = ("MUTAG", "NCI1", "PROTEINS", "PTC")
_IN_GIN = {"IMDB-BINARY": "IMDBBINARY", "IMDB-MULTI": "IMDBMULTI"}
_IN_GIN |= {name: name for name in ("COLLAB", "DD", "PTC_MR")}
_HOW_TO_GET = (
    f"Set IGSD_DATA to the folder that holds both. {GCKN_ZIP} is `datasets/fold-idx` of the "
    f"repository claying/GCKN, zipped from inside; {GIN_ZIP} holds `NAME/10fold_idx` of "
    "muhanzhang/pytorch_DGCNN `data/`, and MUTAG/dgcnn_to_tu.txt. Protocol 'nested' needs neither."
)


class Fold(NamedTuple):
    """Positions of the training and test part of a fold, and of a validation part if it has one."""

    train: IntArray
    test: IntArray
    validation: IntArray | None = None

    @property
    def fitted(self) -> IntArray:
        """The positions that the final model is fitted on: training and validation part."""
        return np.concatenate([p for p in (self.train, self.validation) if p is not None])

    def without_twins(self, groups: IntArray) -> "Fold":
        """Return the fold without the training graphs that share a group with a test graph.

        ``groups`` [n]: equal numbers mark graphs that message passing cannot tell apart. Raises
        ``DataError`` if nothing is left to train on, or to validate with.
        """
        parts = [p for p in (self.train, self.validation) if p is not None]
        train, *validation = [p[~np.isin(groups[p], groups[self.test])] for p in parts]
        if not all(part.size for part in (train, *validation)):
            raise DataError(
                "No training graph is left after removing the twins of the test graphs: every "
                "graph is indistinguishable from one in the test part. Score with twins instead."
            )
        return Fold(train, self.test, *validation)


def outer_folds(
    y: IntArray, seed: int, num_folds: int = OUTER_FOLDS
) -> tuple[tuple[Fold, ...], tuple[str, ...]]:
    """Return the shuffled stratified folds of class codes y [n] for one seed, and notes about them.

    Every class must be in every test part, so there are at most as many folds as the smallest class
    has graphs; a note says so. Raises ``ConfigError`` if ``num_folds`` is below 2.
    """
    if num_folds < 2:
        raise ConfigError(f"num_folds must be at least 2. Got {num_folds}.")
    smallest = int(np.unique(y, return_counts=True)[1].min())
    count = min(num_folds, smallest)
    splits = StratifiedKFold(count, shuffle=True, random_state=seed).split(y, y)
    size = counted(smallest, "graph")
    note = f"{count} folds instead of {num_folds}: the smallest class has {size}"
    return tuple(Fold(*parts) for parts in splits), (note,) if count < num_folds else ()


def inner_folds(y_train: IntArray) -> tuple[Split, ...]:
    """Return the unshuffled stratified folds inside a training part, as GridSearchCV makes them.

    A smallest class with fewer than ``INNER_FOLDS`` members gives as many folds as it has members,
    but at least two. There are none if only one class, or one graph of each, is left to choose by.
    """
    counts = np.unique(y_train, return_counts=True)[1]
    if len(counts) < 2 or counts.max() < 2:
        return ()
    count = min(INNER_FOLDS, max(2, int(counts.min())))
    with warnings.catch_warnings():
        # A class of one member (twins removed) cannot be in both parts; that is no error here.
        warnings.simplefilter("ignore", UserWarning)
        return tuple(StratifiedKFold(count).split(y_train, y_train))


def read_gckn_folds(dataset: str, y: IntArray, *, seed: int = 0) -> tuple[Fold, ...]:
    """Return the ten published folds of a data set in TU order, for its class codes y [n].

    The folder that IGSD_DATA names holds the two zips. Sets without published validation parts get
    a stratified ninth of each training part, drawn with ``seed``. Raises ``DataError`` for a set
    without published folds, or if they do not fit n graphs, and ``StorageError`` if a zip or a
    member is missing or unreadable.
    """
    if dataset not in _IN_GCKN and dataset not in _IN_GIN:
        known = ", ".join([*_IN_GCKN, *_IN_GIN])
        raise DataError(
            f"Protocol 'gckn' has published folds for {known} only. Got {dataset!r}. "
            "Use protocol 'nested' for other sets."
        )
    root = os.environ.get("IGSD_DATA")
    if not root:
        raise StorageError(
            f"Protocol 'gckn' needs the fold files {GCKN_ZIP} and {GIN_ZIP}, but no folder was "
            f"given. {_HOW_TO_GET}"
        )
    folds = []
    for number in range(1, NUM_PUBLISHED + 1):
        train, *validation, test = _published_parts(Path(root), dataset, number)
        positions = np.sort(np.concatenate([train, *validation, test]))
        if not np.array_equal(positions, np.arange(len(y))):
            raise DataError(
                f"Fold {number} of {dataset} does not divide these {len(y)} graphs into three "
                "parts. Protocol 'gckn' needs the whole data set in the order of its TU files."
            )
        if not validation:
            ninths = StratifiedKFold(VALIDATION_PARTS, shuffle=True, random_state=seed)
            train, *validation = (train[part] for part in next(ninths.split(train, y[train])))
        folds.append(Fold(train, test, *validation))
    return tuple(folds)


def _published_parts(root: Path, dataset: str, k: int) -> list[IntArray]:
    """Return the training, validation (if published) and test positions of fold k in TU order."""
    if dataset in _IN_GIN:
        prefix = f"{_IN_GIN[dataset]}/10fold_idx"
        return [_read(root / GIN_ZIP, f"{prefix}/{part}_idx-{k}.txt") for part in ("train", "test")]
    names = (f"inner_folds/train_idx-{k}-1", f"inner_folds/val_idx-{k}-1", f"test_idx-{k}")
    parts = [_read(root / GCKN_ZIP, f"{dataset}/{name}.txt") for name in names]
    if dataset == "MUTAG":
        order = _read(root / GIN_ZIP, "MUTAG/dgcnn_to_tu.txt")
        parts = [order[part] for part in parts]
    return parts


def _read(path: Path, member: str) -> IntArray:
    """Return the integers of one zip member, read in place; nothing is extracted."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_members(path, archive.infolist())
            text = archive.read(member).decode("ascii")
        return np.array(text.split(), dtype=np.int64)
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(f"There is no fold file {path}. {_HOW_TO_GET}") from None
    except IGSDError:
        raise
    except KeyError:
        raise StorageError(f"{path} has no member {member}. {_HOW_TO_GET}") from None
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, ValueError) as error:
        raise StorageError(f"{path} cannot be read at {member}: {error}. {_HOW_TO_GET}") from error
