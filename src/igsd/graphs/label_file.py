"""``read_label_file``: one label per line, for the graphs of a set or for the rows of its table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from igsd.errors import DataError
from igsd.graphs.given_labels import LabelTexts, number_of
from igsd.graphs.graphset import GraphSet
from igsd.graphs.table_rows import is_table, rows_of
from igsd.graphs.text_table import read_text_table
from igsd.pickles import refuse_pickle
from igsd.wording import counted


def read_label_file(path: Path, graphs: GraphSet, data: str) -> LabelTexts:
    """Return the labels in a text or ``.npy`` file, one per graph, called as the file.

    The file has one for each graph or, where ``data`` is a table, for each of its rows: those of
    rows that are no molecules are left out. In a text, one line more at the top is the name of the
    column. Raises ``DataError`` for any other number, and where both may be meant.
    """
    lines = _lines(path)
    rows, num_rows = list(range(len(graphs))), len(graphs)
    if is_table(data) and graphs.lines is not None:
        table = read_text_table(Path(data))
        rows, num_rows = rows_of(graphs, table), len(table.rows)
    may_have_name = not _is_array(path)
    if may_have_name and len(lines) == num_rows == len(graphs) + 1:
        _check_is_no_name(path, lines, data)
    for expected, places in ((num_rows, rows), (len(graphs), range(len(graphs)))):
        first = len(lines) - expected
        if first == 0 or (first == 1 and may_have_name and may_be_name(lines)):
            numbers = [first + place + 1 for place in places]
            return LabelTexts((path.stem,), [[lines[n - 1] for n in numbers]], numbers)
    raise _other_length(path, len(lines), len(graphs), num_rows, data)


def _lines(path: Path) -> list[str]:
    refuse_pickle(path)
    try:
        if _is_array(path):
            content = np.load(path, allow_pickle=False)
            if not isinstance(content, np.ndarray):
                raise ValueError("it holds several arrays")
        else:
            content = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} cannot be read as a file of labels: {error}.") from error
    if not isinstance(content, str):
        return _array_texts(path, content)
    return [line.strip() for line in content.removesuffix("\n").split("\n")]


def _array_texts(path: Path, array: np.ndarray) -> list[str]:
    """Return the labels of an array [G] or [G, 1] as texts, empty for NaN."""
    if array.ndim == 0 or array.size != len(array):
        raise DataError(
            f"{path} must hold one label for each graph, [G]. Got an array of shape "
            f"{list(array.shape)}. Save the column that is meant alone."
        )
    return ["" if value != value else str(value) for value in array.reshape(-1).tolist()]  # NaN


def _is_array(path: Path) -> bool:
    return path.suffix.lower() == ".npy"


def may_be_name(lines: list[str]) -> bool:
    """Say whether the first line may be a column's name; a number or what comes again is a label.

    >>> may_be_name(["active", "yes", "no"]), may_be_name(["yes", "yes", "no"])
    (True, False)
    """
    return bool(lines[0]) and lines[0] not in lines[1:] and number_of(lines[0]) is None


def _check_is_no_name(path: Path, lines: list[str], data: str) -> None:
    """Raise ``DataError`` where the first of as many lines as rows may be a column's name.

    Then the others would be as many as graphs.
    """
    first, others = lines[0], lines[1:]
    if not may_be_name(lines):
        return
    raise DataError(
        f"The {len(lines)} lines of {path} may be one for each row of {data}, or {first!r} may be "
        f"the name of the column and the others one for each of the {len(others)} graphs. Write a "
        f"name and {len(lines)} labels for the rows, or {len(others)} labels without a name."
    )


def _other_length(path: Path, found: int, graphs: int, rows: int, data: str) -> DataError:
    expected = f"{counted(graphs, 'graph')}. There must be one per graph"
    if rows != graphs:
        expected = (
            f"the {counted(rows, 'row')} of {data}, of which {graphs} are molecules. There must be "
            f"{rows}, one per row, or {graphs}, one per molecule"
        )
    unknown = "an empty one where the label is unknown; a column's name may stand above them"
    return DataError(f"{path} holds {counted(found, 'label')} for {expected}, {unknown}.")
