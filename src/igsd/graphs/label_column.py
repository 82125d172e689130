"""``find_labels``: the labels that a command line names, from a column or from a file."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from igsd.errors import DataError, nearest
from igsd.graphs.build import encode_categories
from igsd.graphs.given_labels import (
    GivenLabels,
    LabelTexts,
    Task,
    are_numbers,
    is_fraction,
    read_labels,
    typed_labels,
)
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_file import read_label_file
from igsd.graphs.smiles_table import guess_smiles
from igsd.graphs.table_rows import is_table, names_rows, rows_of
from igsd.graphs.text_table import TextTable, read_text_table

_CLASS_WORDS = ("class", "classes", "label", "labels", "y")


def find_labels(
    graphs: GraphSet, data: str, asked: str, task: Task = "auto", *, told: bool = True
) -> GivenLabels:
    """Return the labels of ``graphs`` that ``asked`` names.

    ``asked``: a file of labels (``read_label_file``), a column of the table ``data``, a target of
    the set, several of those joined by commas, or ``class`` for the classes of the set.
    An empty cell and a marker of ``missing_values`` mean no label, -1 only by the rule there, and
    never among the set's own classes; markers are told in an ``IGSDWarning``, unless ``told`` is
    False because it was said before. ``task``: by default numbers where most are numbers and one
    of them has a fraction or more than 20 are different, else classes.

    Raises ``DataError`` for what is not there, a file of another length, text among numbers, and
    columns that name molecules: SMILES, numbers of rows, a new text in every row.
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
        texts = ["" if code < 0 else str(graphs.class_names[code]) for code in graphs.classes]
        # Classes, however many there are, unless the user says otherwise.
        return typed_labels(LabelTexts((asked,), [texts]), as_classes=task != "numbers")
    names = [*graphs.target_names, *(["class"] if graphs.classes is not None else [])]
    hint = nearest(asked, names) if names else "It has neither classes nor targets."
    raise DataError(f"{asked!r} is no file, and {graphs.name!r} has no labels of that name. {hint}")


def with_classes(graphs: GraphSet, data: str, asked: str) -> GraphSet:
    """Return the graphs with the labels that ``asked`` names as their classes, -1 without one.

    The set is then called NAME+COLUMN, so that records of two columns have places of their own;
    with its own classes it stays as it is. Raises ``DataError`` as ``find_labels`` does, and for
    a column that is mostly numbers, some with a fraction.
    """
    if _means_own_classes(graphs, data, asked):
        return graphs
    given = find_labels(graphs, data, asked, "classes")
    known = [text for text in given.y if text is not None]
    fraction = next(filter(is_fraction, known), None)
    if fraction is not None and are_numbers(known):
        raise DataError(
            f"{asked!r} holds numbers such as {fraction}, and classes were asked for. Values are "
            "learned by `igsd train --labels`; write classes that look so as text."
        )
    codes, names = encode_categories(given.y)
    name = f"{graphs.name}+{given.names[0]}"
    return replace(graphs, classes=codes, class_names=names, name=name)


def _means_own_classes(graphs: GraphSet, data: str, asked: str) -> bool:
    """Say whether ``asked`` is a word for the classes of the set, and names nothing else."""
    is_other = os.path.isfile(asked) or is_table(data) or asked in graphs.target_names
    return asked.lower() in _CLASS_WORDS and graphs.classes is not None and not is_other


def _target_texts(graphs: GraphSet, columns: list[str]) -> LabelTexts:
    places = [graphs.target_names.index(name) for name in columns]
    values = np.asarray(graphs.targets)[:, places]
    texts = [["" if math.isnan(v) else repr(float(v)) for v in column] for column in values.T]
    return LabelTexts(tuple(columns), texts)


def _table_texts(graphs: GraphSet, data: str, asked: str, columns: list[str]) -> LabelTexts:
    """Return the texts of columns of a table, for the lines that are graphs."""
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
    """Raise ``DataError`` for a column that says which molecule a row is, not how it is."""
    if name == guess_smiles(table):
        what = "holds the molecules themselves"
    elif names_rows(name):
        what = "only names the rows"
    else:
        return
    others = [c for c in table.columns if c != guess_smiles(table) and not names_rows(c)]
    rest = f"The others are: {', '.join(others)}." if others else "There is no other column."
    raise DataError(f"Column {name!r} of {table.path} {what}, so it is no label. {rest}")
