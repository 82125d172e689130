"""``FileVectors``: vectors made elsewhere, scored like those of any method."""

import hashlib
import os
from pathlib import Path

import numpy as np

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.errors import DataError, enumerated, shortened, warn_user
from igsd.estimators.base import settings_as_parameters
from igsd.files.columns import feature_columns, read_vectors, vector_texts
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.cells import names_rows
from igsd.graphs.readers.file_labels import file_and_stem, places_of
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
                f"The file holds vectors of {len(rows)} graphs and covers no others. "
                f"Got {len(graphs)}. A protocol that trains inside its splits cannot score it."
            )
        return rows

    @staticmethod
    def _unseen(graphs: GraphSet) -> list[str]:
        """Return nothing: what the vectors were made from is not known here."""
        return []

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        return int(self.state_["vectors"].shape[1])


def checksum_of(path: str) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(Path(path).expanduser().read_bytes()).hexdigest()


def vectors_for(path: str | os.PathLike[str], graphs: GraphSet) -> np.ndarray:
    """Return the vectors of graphs from a file, [G, d].

    A table with a column ``id`` is matched by the ids of the graphs. If they have none, a column
    ``file``, ``name`` or ``id`` is matched by their names, those of files with or without the
    ending; else ``id`` by their numbers from 0, or in the order of its column ``graph``; else the
    column ``line`` by their lines. Everything else is taken in order. Raises ``DataError`` if the
    file does not have one row for each graph, or has rows of other graphs; names that are not those
    of files may be others.
    """
    vectors, texts = read_vectors(path), vector_texts(path)
    _refuse_known_columns(path, graphs)
    has_ids = "id" in texts and graphs.ids is not None
    rows = None if has_ids else _rows_by_name(path, texts, graphs)
    if rows is None and "id" in texts and (has_ids or "graph" not in texts):
        rows = _rows_by_id(path, texts["id"], graphs)
    if rows is None and texts.keys() == {"line"} and graphs.lines is not None:
        rows = _rows_by_line(path, texts["line"], graphs)
    if len(vectors) != len(graphs):
        raise DataError(
            f"{path} holds {len(vectors)} vectors, but {graphs.name!r} has {len(graphs)} graphs. "
            "There must be one row for each graph."
        )
    if rows is None and not has_ids:
        _check_names(path, texts.get("name", []), graphs)
    return vectors if rows is None else vectors[rows]


def covered(path: str | os.PathLike[str], whole: GraphSet, known: GraphSet) -> GraphSet:
    """Return which graphs a file has vectors of: the whole set, or those with a label alone."""
    if len(known) < len(whole) and len(read_vectors(path)) == len(known):
        return known
    return whole


def _refuse_known_columns(path: str | os.PathLike[str], graphs: GraphSet) -> None:
    """Raise ``DataError`` for columns of the graphs' own table: a label would predict itself."""
    columns = feature_columns(path)
    if found := [c for c in columns if c in graphs.target_names or names_rows(c)]:
        raise DataError(
            f"{path} has {enumerated([repr(c) for c in found], 3)} among the numbers of its "
            f"vectors, which {graphs.name!r} has too, or which names rows. Leave it out, or call "
            "it id if the rows are to be matched by it."
        )


def _rows_by_id(path: str | os.PathLike[str], ids: list[str], graphs: GraphSet) -> list[int] | None:
    """Return the row of each graph by its id, or by its number; None if they are in order."""
    names = list(graphs.ids or map(str, range(len(graphs))))
    rows = {name: row for row, name in enumerate(ids)}
    missing = [name for name in names if name not in rows]
    is_repeated = len(rows) < len(ids) or len(set(names)) < len(names)
    if ids == names:
        return None
    if is_repeated or missing:
        what = f"no row for {missing[0]!r}" if missing else "the same id more than once"
        if not missing and len(rows) == len(ids):
            what = "each id once, and several graphs there have the same"
        kind = "id" if graphs.ids else "the numbers of the graphs, from 0, as ids"
        raise DataError(
            f"{path} is matched by {kind} with {graphs.name!r}, but has {what}. Without its "
            "column 'id', rows are taken in the order of the graphs."
        )
    return [rows[name] for name in names]


def _rows_by_line(path: str | os.PathLike[str], lines: list[str], graphs: GraphSet) -> list[int]:
    """Return the row of each graph by its line; raises ``DataError`` unless each has one."""
    own = [] if graphs.lines is None else list(map(str, graphs.lines.tolist()))
    rows = {line: row for row, line in enumerate(lines)}
    other = next((line for line in own if line not in rows), None)
    if other is not None or len(rows) < len(lines) or len(rows) > len(own):
        what = "other lines" if other is None else f"no row for line {other}"
        raise DataError(
            f"{path} is matched by line with {graphs.name!r}, but has {what}. There must be one "
            "row for each line of a graph; without the column 'line', rows are taken in order."
        )
    return [rows[line] for line in own]


def _rows_by_name(
    path: str | os.PathLike[str], texts: dict[str, list[str]], graphs: GraphSet
) -> list[int] | None:
    """Return the row of each graph by its name; None if the table does not name the graphs.

    Raises ``DataError`` if it names files, and others than those of the graphs.
    """
    own = graphs.graph_names
    key = next((key for key in ("file", "name", "id") if key in texts), None)
    if own is None or key is None:
        return None
    asked = texts[key]
    places = places_of(asked, own)
    unknown = [text for text, place in zip(asked, places, strict=True) if place is None]
    are_files = any(file_and_stem(name)[1] != name for name in own)
    names_files = key == "file" or (are_files and (key == "name" or len(unknown) < len(asked)))
    if not names_files and sorted(places, key=str) != sorted(range(len(own)), key=str):
        return None
    counts = np.bincount([place for place in places if place is not None], minlength=len(own))
    missing = [own[place] for place in np.flatnonzero(counts == 0)]
    repeated = [own[place] for place in np.flatnonzero(counts > 1)]
    if unknown or missing or repeated:
        parts = {"others:": unknown, "none for": missing, "several for": repeated}
        what = [f"{words} {enumerated(names, 3)}" for words, names in parts.items() if names]
        raise DataError(
            f"The rows of {path} are matched by the column {key!r} with the names of the graphs of "
            f"{graphs.name!r}, such as {shortened(own[0])!r}: there must be one for each graph. "
            f"There are {'; '.join(what)}. Names of files may lack the ending; without the column, "
            "rows are taken in the order of the graphs."
        )
    return np.argsort(np.array(places, np.int64)).tolist()


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
            f"but graph {row} is {mine!r}. Use the data that the vectors were made from, or add "
            "an id column to both files."
        )
    warn_user(
        f"{path} has other names than {graphs.name!r} in {len(other)} of {len(names)} rows, such "
        f"as {name!r} for {mine!r} (graph {row}). The rows are taken in the order of the graphs."
    )
