"""``FileVectors``: vectors made elsewhere, scored like those of any method."""

import hashlib
from pathlib import Path

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.errors import DataError
from igsd.estimators.base import settings_as_parameters
from igsd.files.columns import read_vectors, vector_ids
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

    A table with a column ``id`` is matched by the ids of the graphs, or by their numbers from 0 if
    they have none; everything else is taken in the order of the graphs.
    """

    def _fit(self, graphs: GraphSet) -> None:
        path = self.config_.vectors_path
        if self.config_.vectors_checksum not in ("", checksum_of(path)):
            raise DataError(f"{path} has changed since the command began. Give the command again.")
        self.state_["vectors"] = vectors_for(path, graphs)

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


def vectors_for(path: str, graphs: GraphSet) -> np.ndarray:
    """Return the vectors of graphs from a file, [G, d] float32, by id or in order.

    Raises ``DataError`` if the file has not one row for each graph.
    """
    vectors, ids = read_vectors(path).astype(np.float32), vector_ids(path)
    if ids is not None:
        names = graphs.ids or tuple(map(str, range(len(graphs))))
        rows = {str(name): row for row, name in enumerate(ids)}
        missing = [name for name in names if name not in rows]
        if len(rows) < len(ids) or missing:
            what = f"no row for {missing[0]!r}" if missing else "the same id more than once"
            kind = "id" if graphs.ids else "the numbers of the graphs, from 0, as ids"
            raise DataError(
                f"{path} is matched by {kind} with {graphs.name!r}, but has {what}. Without its "
                "column 'id', rows are taken in the order of the graphs."
            )
        if len(ids) == len(graphs):
            return vectors[[rows[name] for name in names]]
    if len(vectors) != len(graphs):
        raise DataError(
            f"{path} holds {len(vectors)} vectors, but {graphs.name!r} has {len(graphs)} graphs. "
            "There must be one row for each graph."
        )
    return vectors
