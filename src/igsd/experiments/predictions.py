"""Predictions as a table: what a model says of each graph, and which graph it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError
from igsd.estimators.classifier import GraphClassifier
from igsd.estimators.regressor import GraphRegressor
from igsd.graphs.graphset import GraphSet
from igsd.storage import atomic_file

Columns = dict[str, list[Any]]


def prediction_columns(
    model: Any, graphs: GraphSet, source: str = "the model", *, verbose: bool = False
) -> Columns:
    """Return the columns of a table of predictions, one entry per graph.

    ``graph``, ``line`` and ``name`` (where there are any); then ``class``, ``probability`` and one
    ``p_CLASS`` per class, or one column per target (``value`` where it has no name). Raises
    ``ConfigError`` for a model that has learned no labels.
    """
    if not isinstance(model, GraphClassifier | GraphRegressor):
        raise ConfigError(
            f"{source} is a model of {type(model).__name__}, which gives vectors and predicts "
            "nothing. Train with labels: `igsd train DATA --labels COLUMN`."
        )
    model.set_params(verbose=verbose)
    columns = about_graphs(graphs)
    if isinstance(model, GraphClassifier):
        probabilities = model.predict_proba(graphs)
        codes = probabilities.argmax(axis=1)
        columns["class"] = model.classes_[codes].tolist()
        columns["probability"] = probabilities.max(axis=1).tolist()
        for code, name in enumerate(model.classes_.tolist()):
            columns[f"p_{name}"] = probabilities[:, code].tolist()
        return columns
    values = model.predict(graphs).reshape(len(graphs), -1)
    for place, name in enumerate(_value_names(model, values.shape[1])):
        # A target may be called as one of the columns about the graph.
        columns[f"predicted_{name}" if name in columns else name] = values[:, place].tolist()
    return columns


def _value_names(model: GraphRegressor, count: int) -> tuple[str, ...]:
    if model.scale_.names:
        return model.scale_.names
    return ("value",) if count == 1 else tuple(f"value{i}" for i in range(count))


def about_graphs(graphs: GraphSet) -> Columns:
    """Return the columns that say which graph a row is about."""
    columns: Columns = {"graph": list(range(len(graphs)))}
    if graphs.lines is not None:
        columns["line"] = graphs.lines.tolist()
    if graphs.graph_names is not None:
        columns["name"] = list(graphs.graph_names)
    return columns


def write_columns(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write a table as ``.csv`` or ``.parquet``, whole or not at all."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.table(columns)
    is_csv = Path(path).suffix.lower() == ".csv"
    with atomic_file(path) as file:
        (pa.csv.write_csv if is_csv else pa.parquet.write_table)(table, file)
