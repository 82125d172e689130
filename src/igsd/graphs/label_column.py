"""``find_labels``: the labels that a command line names, from a column or from a file."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from igsd.errors import DataError, nearest
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_file import read_label_file
from igsd.graphs.missing_values import warn_of_markers, without_markers
from igsd.graphs.smiles_table import guess_smiles
from igsd.graphs.table_rows import is_table, names_rows, rows_of
from igsd.graphs.text_table import TextTable, read_text_table
from igsd.wording import counted, enumerated

Task = Literal["auto", "classes", "numbers"]

_CLASS_WORDS = ("class", "classes", "label", "labels", "y")
# Whole numbers with more different values than this are rather counts than classes.
_MOST_CLASSES = 20


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """Labels of the graphs of a set, as estimators take them.

    ``y``: a list of class names, None where unknown; or numbers [G] or [G, t], NaN where unknown.
    ``names``: of the columns.
    """

    y: Any
    are_classes: bool
    names: tuple[str, ...]

    @property
    def is_known(self) -> np.ndarray:
        """Whether a graph has a label, [G] bool."""
        if self.are_classes:
            return np.array([value is not None for value in self.y])
        return ~np.isnan(self.y.reshape(len(self.y), -1)).all(axis=1)


def find_labels(
    graphs: GraphSet, data: str, asked: str, task: Task = "auto", *, told: bool = True
) -> GivenLabels:
    """Return the labels of ``graphs`` that ``asked`` names.

    ``asked``: a file of labels (``read_label_file``), a column of the table ``data``, a target of
    the set, several of those joined by commas, or ``class`` for the classes of the set.
    In a file or a table, an empty cell and a marker of ``missing_values`` mean no label; markers
    are told in an ``IGSDWarning``, unless ``told`` is False because it was said before. ``task``:
    by default numbers where a value has a fraction or there are many different ones, else classes.

    Raises ``DataError`` for what is not there, a file of another length, numbers that
    are none, and columns that name molecules: SMILES, numbers of rows, a new text in every row.
    """
    if os.path.isfile(asked):
        texts = read_label_file(Path(asked), graphs, data)
        return _from_texts(*_cleared([texts], (Path(asked).stem,), told), task)
    if asked in graphs.target_names:
        columns = [asked]
    else:
        columns = [name.strip() for name in asked.split(",")]
    if is_table(data):
        texts_and_names = _table_texts(graphs, data, asked, columns)
        return _from_texts(*_cleared(*texts_and_names, told), task)
    if graphs.targets is not None and set(columns) <= set(graphs.target_names):
        return _from_targets(graphs, columns, task)
    if graphs.classes is not None and _means_own_classes(graphs, data, asked):
        texts = ["" if code < 0 else str(graphs.class_names[code]) for code in graphs.classes]
        return _from_texts([texts], (asked,), task)
    names = [*graphs.target_names, *(["class"] if graphs.classes is not None else [])]
    hint = nearest(asked, names) if names else "It has neither classes nor targets."
    raise DataError(f"{asked!r} is no file, and {graphs.name!r} has no labels of that name. {hint}")


def with_classes(graphs: GraphSet, data: str, asked: str) -> GraphSet:
    """Return the graphs with the labels that ``asked`` names as their classes, -1 without one.

    The set is then called NAME+COLUMN, so that records of two columns have places of their own;
    with its own classes it stays as it is. Raises ``DataError`` as ``find_labels`` does.
    """
    if _means_own_classes(graphs, data, asked):
        return graphs
    given = find_labels(graphs, data, asked, "classes")
    codes, names = encode_categories(given.y)
    name = f"{graphs.name}+{given.names[0]}"
    return replace(graphs, classes=codes, class_names=names, name=name)


def check_enough(given: GivenLabels) -> None:
    """Raise ``DataError`` for labels that nothing can be learned from.

    Classes must be at least two, and every number known of at least two graphs.
    """
    names = enumerated([repr(name) for name in given.names])
    if not given.is_known.any():
        raise DataError(
            f"{names} holds no label: it is empty for each of the {counted(len(given.y), 'graph')}."
            " Fill it in for some graphs, or train without labels."
        )
    if given.are_classes:
        classes = {value for value in given.y if value is not None}
        if len(classes) < 2:
            raise DataError(
                f"All labels in {names} are {classes.pop()!r}. There must be graphs of at least "
                "two classes."
            )
        return
    known = (~np.isnan(given.y.reshape(len(given.y), -1))).sum(axis=0)
    for name, count in zip(given.names, known.tolist(), strict=True):
        if count < 2:
            raise DataError(
                f"{name!r} is known of {counted(count, 'graph')}; it must be of at least two."
            )


def _means_own_classes(graphs: GraphSet, data: str, asked: str) -> bool:
    """Say whether ``asked`` is a word for the classes of the set, and names nothing else."""
    is_other = os.path.isfile(asked) or is_table(data) or asked in graphs.target_names
    return asked.lower() in _CLASS_WORDS and graphs.classes is not None and not is_other


def _from_targets(graphs: GraphSet, columns: list[str], task: Task) -> GivenLabels:
    places = [graphs.target_names.index(name) for name in columns]
    values = np.asarray(graphs.targets)[:, places]
    texts = [["" if math.isnan(v) else repr(float(v)) for v in column] for column in values.T]
    return _from_texts(texts, tuple(columns), task)


def _cleared(
    texts: list[list[str]], names: tuple[str, ...], told: bool
) -> tuple[list[list[str]], tuple[str, ...]]:
    """Return columns of text without markers of missing values, and names; warns where ``told``."""
    for column, name in zip(texts, names, strict=True) if told else ():
        warn_of_markers(column, name)
    return [without_markers(column) for column in texts], names


def _from_texts(texts: list[list[str]], names: tuple[str, ...], task: Task) -> GivenLabels:
    """Return columns of text as classes or as numbers, one entry per graph; empty is unknown."""
    if task == "auto":
        task = "numbers" if all(map(_are_numbers, texts)) or len(texts) > 1 else "classes"
    if task == "classes":
        if len(texts) > 1:
            raise DataError(f"Classes are one column. Got {', '.join(names)}.")
        classes = [_class_name(text) for text in texts[0]]
        _check_repeats(classes, names[0])
        return GivenLabels(classes, True, names)
    columns = [
        [_number(text, name) for text in column] for column, name in zip(texts, names, strict=True)
    ]
    values = np.array(columns).T
    return GivenLabels(values[:, 0] if len(names) == 1 else values, False, names)


def _table_texts(
    graphs: GraphSet, data: str, asked: str, columns: list[str]
) -> tuple[list[list[str]], tuple[str, ...]]:
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
    return [[texts[row] for row in rows] for texts in found], tuple(columns)


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


def _check_repeats(values: list[str | None], name: str) -> None:
    """Raise ``DataError`` for many classes of which no two graphs share one: names, rather."""
    known = [value for value in values if value is not None]
    if len(known) > _MOST_CLASSES and len(set(known)) == len(known):
        raise DataError(
            f"No two of the {len(known)} labels in {name!r} are the same, so they are rather names "
            "than classes, and nothing can be learned from them."
        )


def _are_numbers(texts: list[str]) -> bool:
    """Say whether a column is rather numbers to predict than classes."""
    try:
        values = {float(text) for text in texts if text}
    except ValueError:
        return False
    return any(not value.is_integer() for value in values) or len(values) > _MOST_CLASSES


def _class_name(text: str) -> str | None:
    """Return a class as text; whole numbers are written alike, 1.0 as 1."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        return text
    return str(int(value)) if value.is_integer() else text


def _number(text: str, name: str) -> float:
    if not text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise DataError(
            f"The label column {name!r} must hold numbers or nothing here. Found {text!r}. Text "
            "names classes: --task classes, or task='classes' in Python."
        ) from None
