"""``FileVectors``: vectors made elsewhere, scored like those of any method."""

import hashlib
import os
from pathlib import Path

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.errors import DataError, warn_user
from igsd.estimators.base import settings_as_parameters
from igsd.files.columns import read_vectors, vector_texts
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, setting


class VectorsConfig(Settings):
    """Which file the vectors are in."""

    file: str = setting("", "method", "name of the file, without its ending")
    vectors_path: str = setting("", "method", "where it is")
    vectors_checksum: str = setting("", "method", "SHA-256 of the file")


@settings_as_parameters(VectorsConfig)
class FileVectors(ShallowEstimator):
    """Vectors from a file (.npy, .csv, .parquet), one row per graph of the whole set.

    How its rows are matched with graphs: ``vectors_for``.
    """

    def _fit(self, graphs: GraphSet) -> None:
        path = self.config_.vectors_path
        if self.config_.vectors_checksum not in ("", checksum_of(path)):
            raise DataError(f"{path} has changed since the command began. Give the command again.")
        self.state_["vectors"] = vectors_for(path, graphs).astype(np.float32)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        rows: np.ndarray = self.state_["vectors"]
        if len(graphs) != len(rows):
            raise DataError(
                f"The file holds vectors of {len(rows)} graphs and knows nothing about others. "
                f"Got {len(graphs)}. A protocol that trains inside its splits cannot score it."
            )
        return rows

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        return int(self.state_["vectors"].shape[1])


def checksum_of(path: str) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(Path(path).expanduser().read_bytes()).hexdigest()


def vectors_for(path: str | os.PathLike[str], graphs: GraphSet) -> np.ndarray:
    """Return the vectors of graphs from a file, [G, d].

    A table with a column ``id`` is matched by the ids of the graphs; if they have none, by their
    numbers from 0, or in the order of its column ``graph``. Everything else is taken in order,
    which a column ``name`` must not contradict. Raises ``DataError`` if the file does not have one
    row for each graph, or has rows of other graphs.
    """
    vectors, texts = read_vectors(path), vector_texts(path)
    ids = texts.get("id")
    if ids is not None and (graphs.ids is not None or "graph" not in texts):
        names = list(graphs.ids or map(str, range(len(graphs))))
        rows = {name: row for row, name in enumerate(ids)}
        missing = [name for name in names if name not in rows]
        is_repeated = len(rows) < len(ids) or len(set(names)) < len(names)
        if ids != names and (is_repeated or missing):
            what = f"no row for {missing[0]!r}" if missing else "the same id more than once"
            if not missing and len(rows) == len(ids):
                what = "each id once, and several graphs there have the same"
            kind = "id" if graphs.ids else "the numbers of the graphs, from 0, as ids"
            raise DataError(
                f"{path} is matched by {kind} with {graphs.name!r}, but has {what}. Without its "
                "column 'id', rows are taken in the order of the graphs."
            )
        if ids != names and len(ids) == len(names):
            vectors = vectors[[rows[name] for name in names]]
    if len(vectors) != len(graphs):
        raise DataError(
            f"{path} holds {len(vectors)} vectors, but {graphs.name!r} has {len(graphs)} graphs. "
            "There must be one row for each graph."
        )
    if ids is None or graphs.ids is None:
        _check_names(path, texts.get("name", []), graphs)
    return vectors


def _check_names(path: str | os.PathLike[str], names: list[str], graphs: GraphSet) -> None:
    """Raise if a row has the name of another graph; a name that no graph has is only a note."""
    own = graphs.graph_names or ()
    pairs = enumerate(zip(names, own, strict=False))  # names [] if there are none
    other = [(row, name, mine) for row, (name, mine) in pairs if name != mine]
    if not other:
        return
    known = set(own)
    row, name, mine = next((item for item in other if item[1] in known), other[0])
    if name in known:
        raise DataError(
            f"{path} has the graphs of {graphs.name!r} in another order: row {row} is {name!r}, "
            f"but graph {row} is {mine!r}. Give the data that the vectors were made from, or ids "
            "to both."
        )
    warn_user(
        f"{path} has other names than {graphs.name!r} in {len(other)} of {len(names)} rows, such "
        f"as {name!r} for {mine!r} (graph {row}). The rows are taken in the order of the graphs."
    )
