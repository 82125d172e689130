"""``find_labels``: the labels that ``--labels`` names, in a table, a file or the data set."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from igsd.errors import DataError, StorageError, counted, enumerated, nearest, warn_user
from igsd.files.arrays import refuse_pickle
from igsd.files.columns import read_npy
from igsd.files.remote import opened_path
from igsd.graphs import labels
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import Fields, GraphSet
from igsd.graphs.readers import table as tables
from igsd.graphs.readers.cells import (
    Commas,
    comma_notes,
    may_be_name,
    names_rows,
    with_point,
)
from igsd.graphs.readers.text_table import is_table, read_text_table

_CLASS_WORDS = ("class", "classes", "label", "labels", "y")


def read_label_file(path: Path, graphs: GraphSet, data: str) -> labels.LabelTexts:
    """Return the labels in a text or ``.npy`` file, one per graph, named after the file.

    The file has one for each graph or, if ``data`` is a table, for each of its rows, of which those
    that are not molecules are left out. A table with the columns file and label, or of two columns
    of which one names graphs, gives the label of each graph by the name of its file, or by its id.
    Any other text file may have the name of the column in a first line. Decimal commas are read as
    points. Raises ``DataError`` for any other number of lines or columns, and if it is ambiguous.
    """
    from igsd.graphs.readers.file_labels import (
        check_one_column,
        count_named,
        has_file_column,
        read_file_labels,
    )

    known = [names for names in (graphs.graph_names, graphs.ids) if names is not None]
    if found := [names for names in known if has_file_column(path, names)]:
        names = max(found, key=lambda names: count_named(path, names))
        texts = _with_points(read_file_labels(path, names), path)
        return labels.LabelTexts((path.stem,), [texts])
    check_one_column(path, graphs.graph_names)
    is_array = path.suffix.lower() == ".npy"
    lines = _lines(path, is_array)
    has_name = not is_array and may_be_name(lines)
    num_graphs = num_rows = len(graphs)
    rows = list(range(num_graphs))
    if is_table(data) and graphs.lines is not None:
        table = read_text_table(data)
        rows, num_rows = tables.rows_of(graphs, table), len(table.rows)
    if has_name and len(lines) == num_rows == num_graphs + 1:
        raise DataError(
            f"The {num_rows} lines of {path} may be one for each row of {data}, or {lines[0]!r} "
            f"may be the name of the column and the others one for each of the {num_graphs} "
            f"graphs. Write a name and {num_rows} labels for the rows, or {num_graphs} labels "
            "without a name."
        )
    for expected, places in ((num_rows, rows), (num_graphs, range(num_graphs))):
        first = len(lines) - expected
        if first == 0 or (first == 1 and has_name):
            if first == 0 and has_name:
                _check_first(path, lines)
            if first == 1 and not is_array:
                _check_last(path, lines)
            if expected < num_rows and not is_array:
                warn_user(
                    f"{path} is read as one label per molecule: {num_graphs} for the {num_rows} "
                    f"rows of {data}. If it is meant to have one per row, empty lines at its end "
                    "are missing: write NA in them."
                )
            numbers = [first + place + 1 for place in places]
            texts = _with_points([lines[n - 1] for n in numbers], path)
            return labels.LabelTexts((path.stem,), [texts], numbers)
    needed = f"{counted(num_graphs, 'graph')}. There must be one per graph"
    if num_rows != num_graphs:
        needed = (
            f"the {counted(num_rows, 'row')} of {data}, of which {num_graphs} are molecules. There "
            f"must be {num_rows}, one per row, or {num_graphs}, one per molecule"
        )
    raise DataError(
        f"{path} holds {counted(len(lines), 'label')} for {needed}, an empty one if the label is "
        "unknown; a column's name may stand above them."
    )


def _lines(path: Path, is_array: bool) -> list[str]:
    """Return the labels in a file as texts; those of an array [G] or [G, 1] are empty for NaN."""
    refuse_pickle(path)
    try:
        if not is_array:
            text = path.read_text(encoding="utf-8-sig").removesuffix("\n")
            return [_unquoted(line.strip()) for line in text.split("\n")]
        array = read_npy(path, "labels")
        if array.dtype.kind == "S":
            array = np.char.decode(array, "utf-8")
    except StorageError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read as a file of labels: {error}.") from error
    if array.ndim == 0 or array.size != len(array):
        raise DataError(
            f"{path} must hold one label for each graph, [G]. Got an array of shape "
            f"{list(array.shape)}. Save that column alone."
        )
    if array.dtype.kind not in "biufU":
        raise DataError(f"{path} must hold labels as numbers or text. Got {array.dtype}.")
    return ["" if value != value else str(value) for value in array.reshape(-1).tolist()]  # NaN


def _with_points(texts: list[str], path: Path) -> list[str]:
    """Return labels with points instead of decimal commas, if they have such; a note says so."""
    commas = Commas()
    for text in texts:
        commas.see(text)
    for note in comma_notes([(path.name, commas)]):
        warn_user(f"{path}: {note}.")
    return [*map(with_point, texts)] if commas.are_decimal else texts


def _check_first(path: Path, lines: list[str]) -> None:
    """Refuse a first line that may be a name where a label was expected; warn if none recurs.

    A program that cuts empty lines at the end of a file would move all labels by one graph.
    """
    last = f"If the last label is unknown, write NA in a line for it at the end of {path}."
    known = [line for line in lines[1:] if line and line.lower() not in labels.MARKERS]
    if known and all(labels.number_of(with_point(line)) is not None for line in known):
        raise DataError(
            f"{path} has as many lines as there are labels to give, but the first one, "
            f"{lines[0]!r}, is not a number as the others are. If it is the name of the column, a "
            f"label is missing. {last}"
        )
    if len(set(known)) < len(known):
        raise DataError(
            f"{path} has as many lines as there are labels to give, but the first one, "
            f"{lines[0]!r}, does not recur. If it is the name of the column, a label is missing. "
            f"{last} If it is a label, write the name of the column in a line above it."
        )
    warn_user(
        f"{lines[0]!r}, the first line of {path}, is taken as the label of the first graph, since "
        f"there is a line for each. If it is the name of the column, a label is missing. {last}"
    )


def _check_last(path: Path, lines: list[str]) -> None:
    """Refuse an empty last line below what may be a label instead of the name of the column."""
    known = [line for line in lines[1:] if line and line.lower() not in labels.MARKERS]
    are_numbers = all(labels.number_of(with_point(line)) is not None for line in known)
    if lines[-1] or are_numbers or lines[0].lower() in _CLASS_WORDS or names_rows(lines[0]):
        return
    raise DataError(
        f"The last line of {path} is empty. If the first one, {lines[0]!r}, is the name of the "
        "column, write NA in the last one for an unknown label; if it is a label, remove the empty "
        "line."
    )


def _unquoted(text: str) -> str:
    """Return a line without the quotes that programs put around texts and empty cells."""
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"') if is_quoted else text


def find_labels(
    graphs: GraphSet, data: str, asked: str, task: labels.Task = "auto", *, warn: bool = True
) -> labels.GraphLabels:
    """Return the labels of ``graphs`` that ``asked`` names.

    ``asked``: a column of the table ``data``, a target of the data set, several of those separated
    by commas, ``class`` for its own classes, or a file of labels (``read_label_file``).
    Missing labels follow ``igsd.graphs.labels.drop_missing``, except that the data set's own
    classes are taken as they are; ``warn=False`` suppresses its warnings. ``task``: by default
    numbers if most are numbers and one has a fraction or more than 20 are different, else classes.

    Raises ``DataError`` if there is no such label, for a file of another length, for text among
    numbers, and for columns that only name the molecules: SMILES, row numbers, a new text in every
    row.
    """
    with opened_path(data) as local:
        return _find_labels(graphs, local, asked, task, warn=warn)


def _find_labels(
    graphs: GraphSet, data: str, asked: str, task: labels.Task, *, warn: bool
) -> labels.GraphLabels:
    names = [asked] if asked in graphs.target_names else [n.strip() for n in asked.split(",")]
    if _is_file(graphs, data, asked, warn=warn):
        columns = read_label_file(Path(asked), graphs, data)
    elif is_table(data):
        columns = _table_texts(graphs, data, asked, names)
    elif graphs.targets is not None and set(names) <= set(graphs.target_names):
        values = graphs.targets[:, [graphs.target_names.index(name) for name in names]].T.tolist()
        texts = [["" if value != value else repr(value) for value in row] for row in values]
        columns = labels.LabelTexts(tuple(names), texts)
    elif graphs.classes is not None and _means_own_classes(graphs, data, asked):
        own = [None if c < 0 else str(graphs.class_names[c]) for c in graphs.classes.tolist()]
        if task != "numbers":  # classes, however many there are, unless the user says otherwise
            return labels.class_labels(own, asked)
        return labels.number_labels(labels.LabelTexts((asked,), [[name or "" for name in own]]))
    else:
        names = [*graphs.target_names, *(["class"] if graphs.classes is not None else [])]
        hint = nearest(asked, names) if names else "It has neither classes nor targets."
        raise DataError(
            f"{asked!r} is not a file, and {graphs.name!r} has no labels of that name. {hint}"
        )
    return labels.read_labels(columns, task, warn=warn)


def with_classes(graphs: GraphSet, data: str, asked: str) -> GraphSet:
    """Return the graphs with the labels that ``asked`` names as their classes, -1 without one.

    The data set is then called NAME+COLUMN, so that two columns have separate records; with its
    own classes it is returned unchanged. Raises ``DataError`` as ``find_labels`` does, and for
    a column that is mostly numbers, some with a fraction.
    """
    if _means_own_classes(graphs, data, asked):
        return graphs
    return _classified(graphs, find_labels(graphs, data, asked, "classes"), asked)


def with_labels(graphs: GraphSet, data: str, asked: str) -> GraphSet:
    """Return the graphs with the labels that ``asked`` names: classes, or numbers as targets.

    Several columns become several targets. Otherwise as ``with_classes``.
    """
    if _means_own_classes(graphs, data, asked):
        return graphs
    found = find_labels(graphs, data, asked)
    if found.are_classes:
        return _classified(graphs, found, asked)
    values = np.asarray(found.y, np.float64).reshape(len(graphs), -1)
    name = f"{graphs.name}+{'+'.join(found.names)}"
    columns: Fields = {"classes": None, "class_names": ()}
    return replace(graphs, **columns, targets=values, target_names=found.names, name=name)


def _classified(graphs: GraphSet, found: labels.GraphLabels, asked: str) -> GraphSet:
    """Return the graphs with these classes; raises ``DataError`` if most of them are fractions."""
    known = [text for text in found.y if text is not None]
    fraction = next(filter(labels.is_fraction, known), None)
    if fraction is not None and labels.are_numbers(known):
        raise DataError(
            f"{asked!r} holds numbers such as {fraction}, but classes are needed here. Numbers are "
            "learned by `igsd train --labels`; put quotes around class names that look like "
            "numbers."
        )
    codes, names = encode_categories(found.y)
    name = f"{graphs.name}+{found.names[0]}"
    return replace(graphs, classes=codes, class_names=names, name=name)


def _means_own_classes(graphs: GraphSet, data: str, asked: str) -> bool:
    """Return whether ``asked`` is a word for the classes of the data set, and nothing else."""
    is_other = is_table(data) or asked in graphs.target_names
    return asked.lower() in _CLASS_WORDS and graphs.classes is not None and not is_other


def _is_file(graphs: GraphSet, data: str, asked: str, *, warn: bool) -> bool:
    """Return whether ``asked`` is a file; labels of the data with that name take precedence."""
    if not os.path.isfile(asked):
        return False
    is_own = asked in graphs.target_names or _means_own_classes(graphs, data, asked)
    is_own = is_own or (is_table(data) and asked in read_text_table(data).columns)
    if is_own and warn:
        warn_user(
            f"{asked!r} is read from {data}, which has labels of that name. The file {asked} is "
            f"another one: write {os.path.join(os.curdir, asked)} for its labels."
        )
    return not is_own


def _table_texts(graphs: GraphSet, data: str, asked: str, columns: list[str]) -> labels.LabelTexts:
    """Return the cells of columns of a table, for the rows that are graphs."""
    table = read_text_table(data)
    columns = [asked] if asked in table.columns else columns
    rows = tables.rows_of(graphs, table)
    if not set(columns) & set(table.columns) and Path(asked).suffix:
        raise DataError(
            f"There is no file {asked}, and {data} has no column of that name. Its columns are: "
            f"{table.listed}."
        )
    found = [table.column(name) for name in columns]
    smiles = tables.smiles_columns(table)
    for name in columns:
        if name in smiles or names_rows(name):
            what = "holds the molecules themselves" if name in smiles else "only names the rows"
            others = [c for c in table.columns if c not in smiles and not names_rows(c)]
            rest = (
                f"The others are: {enumerated(others, 30)}"
                if others
                else "There is no other column"
            )
            raise DataError(
                f"Column {name!r} of {table.path} {what}, so it is not a label. {rest}."
            )
    lines = [table.lines[row] for row in rows]
    return labels.LabelTexts(
        tuple(columns), [[texts[row] for row in rows] for texts in found], lines
    )
