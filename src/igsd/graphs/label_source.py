"""``find_labels``: the labels that ``--labels`` names, in a table, a file or the data set."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from igsd.errors import DataError, counted, nearest
from igsd.files.arrays import refuse_pickle
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import GraphSet
from igsd.graphs.labels import (
    GraphLabels,
    LabelTexts,
    Task,
    are_numbers,
    class_labels,
    is_fraction,
    number_labels,
    number_of,
    read_labels,
)
from igsd.graphs.readers.table import (
    TextTable,
    guess_smiles,
    is_table,
    names_rows,
    read_text_table,
    rows_of,
)


def read_label_file(path: Path, graphs: GraphSet, data: str) -> LabelTexts:
    """Return the labels in a text or ``.npy`` file, one per graph, called as the file.

    The file has one for each graph or, if ``data`` is a table, for each of its rows, of which those
    that are not molecules are left out. A text file may have the name of the column in a first
    line. Raises ``DataError`` for any other number of lines, and if it is ambiguous.
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
            f"{list(array.shape)}. Save that column alone."
        )
    return ["" if value != value else str(value) for value in array.reshape(-1).tolist()]  # NaN


def _is_array(path: Path) -> bool:
    return path.suffix.lower() == ".npy"


def may_be_name(lines: list[str]) -> bool:
    """Return whether the first line may be a column's name: not a number, and not repeated below.

    >>> may_be_name(["active", "yes", "no"]), may_be_name(["yes", "yes", "no"])
    (True, False)
    """
    return bool(lines[0]) and lines[0] not in lines[1:] and number_of(lines[0]) is None


def _check_is_no_name(path: Path, lines: list[str], data: str) -> None:
    """Raise ``DataError`` if the first of as many lines as rows may be a column's name.

    Then there would be as many others as graphs.
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
    unknown = "an empty one if the label is unknown; a column's name may stand above them"
    return DataError(f"{path} holds {counted(found, 'label')} for {expected}, {unknown}.")


_CLASS_WORDS = ("class", "classes", "label", "labels", "y")


def find_labels(
    graphs: GraphSet, data: str, asked: str, task: Task = "auto", *, told: bool = True
) -> GraphLabels:
    """Return the labels of ``graphs`` that ``asked`` names.

    ``asked``: a file of labels (``read_label_file``), a column of the table ``data``, a target of
    the data set, several of those separated by commas, or ``class`` for its own classes.
    Missing labels follow ``igsd.graphs.labels.drop_missing``, except that the data set's own
    classes are taken as they are; ``told=False`` suppresses its warnings. ``task``: by default
    numbers if most are numbers and one has a fraction or more than 20 are different, else classes.

    Raises ``DataError`` if there is no such label, for a file of another length, for text among
    numbers, and for columns that only name the molecules: SMILES, row numbers, a new text in every
    row.
    """
    if os.path.isfile(asked):
        return read_labels(read_label_file(Path(asked), graphs, data), task, told=told)
    one = asked in graphs.target_names
    names = [asked] if one else [name.strip() for name in asked.split(",")]
    if is_table(data):
        return read_labels(_table_texts(graphs, data, asked, names), task, told=told)
    if graphs.targets is not None and set(names) <= set(graphs.target_names):
        return read_labels(_target_texts(graphs, names), task, told=told)
    if graphs.classes is not None and _means_own_classes(graphs, data, asked):
        own = [None if code < 0 else str(graphs.class_names[code]) for code in graphs.classes]
        # Classes, however many there are, unless the user says otherwise.
        if task != "numbers":
            return class_labels(own, asked)
        return number_labels(LabelTexts((asked,), [[name or "" for name in own]]))
    names = [*graphs.target_names, *(["class"] if graphs.classes is not None else [])]
    hint = nearest(asked, names) if names else "It has neither classes nor targets."
    raise DataError(
        f"{asked!r} is not a file, and {graphs.name!r} has no labels of that name. {hint}"
    )


def with_classes(graphs: GraphSet, data: str, asked: str) -> GraphSet:
    """Return the graphs with the labels that ``asked`` names as their classes, -1 without one.

    The data set is then called NAME+COLUMN, so that two columns have separate records; with its
    own classes it is returned unchanged. Raises ``DataError`` as ``find_labels`` does, and for
    a column that is mostly numbers, some with a fraction.
    """
    if _means_own_classes(graphs, data, asked):
        return graphs
    labels = find_labels(graphs, data, asked, "classes")
    known = [text for text in labels.y if text is not None]
    fraction = next(filter(is_fraction, known), None)
    if fraction is not None and are_numbers(known):
        raise DataError(
            f"{asked!r} holds numbers such as {fraction}, but classes are needed here. Numbers are "
            "learned by `igsd train --labels`; put quotes around class names that look like "
            "numbers."
        )
    codes, names = encode_categories(labels.y)
    name = f"{graphs.name}+{labels.names[0]}"
    return replace(graphs, classes=codes, class_names=names, name=name)


def _means_own_classes(graphs: GraphSet, data: str, asked: str) -> bool:
    """Return whether ``asked`` is a word for the classes of the data set, and nothing else."""
    is_other = os.path.isfile(asked) or is_table(data) or asked in graphs.target_names
    return asked.lower() in _CLASS_WORDS and graphs.classes is not None and not is_other


def _target_texts(graphs: GraphSet, columns: list[str]) -> LabelTexts:
    places = [graphs.target_names.index(name) for name in columns]
    values = np.asarray(graphs.targets)[:, places]
    texts = [["" if math.isnan(v) else repr(float(v)) for v in column] for column in values.T]
    return LabelTexts(tuple(columns), texts)


def _table_texts(graphs: GraphSet, data: str, asked: str, columns: list[str]) -> LabelTexts:
    """Return the cells of columns of a table, for the rows that are graphs."""
    table = read_text_table(Path(data))
    columns = [asked] if asked in table.columns else columns
    rows = rows_of(graphs, table)
    if not set(columns) & set(table.columns) and Path(asked).suffix:
        raise DataError(
            f"There is no file {asked}, and {data} has no column of that name. Its columns are: "
            f"{', '.join(table.columns)}."
        )
    found = [table.column(name) for name in columns]
    for name in columns:
        _check_is_label(table, name)
    lines = [table.lines[row] for row in rows]
    return LabelTexts(tuple(columns), [[texts[row] for row in rows] for texts in found], lines)


def _check_is_label(table: TextTable, name: str) -> None:
    """Raise ``DataError`` for a column that identifies the molecules instead of labelling them."""
    if name == guess_smiles(table):
        what = "holds the molecules themselves"
    elif names_rows(name):
        what = "only names the rows"
    else:
        return
    others = [c for c in table.columns if c != guess_smiles(table) and not names_rows(c)]
    rest = f"The others are: {', '.join(others)}." if others else "There is no other column."
    raise DataError(f"Column {name!r} of {table.path} {what}, so it is not a label. {rest}")
