"""Predictions as a table, one row per graph."""

import math
import os
from collections.abc import Mapping
from typing import Any

from igsd.errors import ConfigError, DataError
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.files.columns import Columns
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import find_labels


def prediction_columns(
    model: Any, graphs: GraphSet, source: str = "the model", *, verbose: bool = False
) -> Columns:
    """Return the columns of a table of predictions, one entry per graph.

    ``graph``, ``line``, ``id`` and ``name`` (if there are any); then ``class``, ``probability`` and
    one ``p_CLASS`` per class, or one column per target (``value`` if it has no name). Raises
    ``ConfigError`` for a model that was trained without labels.
    """
    if not isinstance(model, GraphClassifier | GraphRegressor):
        raise ConfigError(
            f"{source} is a model of {type(model).__name__}, which gives vectors and no "
            "predictions. Train with labels: `igsd train DATA --labels COLUMN`."
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
        # A target may have the name of a column about the graph.
        columns[f"predicted_{name}" if name in columns else name] = values[:, place].tolist()
    return columns


def _value_names(model: GraphRegressor, count: int) -> tuple[str, ...]:
    if model.scale_.names:
        return model.scale_.names
    return ("value",) if count == 1 else tuple(f"value{i}" for i in range(count))


def about_graphs(graphs: GraphSet) -> dict[str, list[object]]:
    """Return the columns that identify the graph of each row."""
    columns: dict[str, list[object]] = {"graph": list(range(len(graphs)))}
    if graphs.lines is not None:
        columns["line"] = graphs.lines.tolist()
    if graphs.ids is not None:
        columns["id"] = list(graphs.ids)
    if graphs.graph_names is not None:
        columns["name"] = list(graphs.graph_names)
    return columns


def given_columns(metrics: Mapping[str, Any], graphs: GraphSet, data: str) -> Columns:
    """Return the known labels of ``data``, of the kind that a model was trained on.

    ``metrics``: those of the run folder. One column ``given``, or ``given_T`` for each of several
    targets, None if unknown; no column if ``data`` has no such label, as with new graphs. A file of
    labels only applies to the graphs of the training.
    """
    labels, trained_on = metrics.get("labels", {}), metrics.get("data", {}).get("checksum")
    if os.path.isfile(labels.get("source", "")) and graphs.checksum != trained_on:
        return {}
    try:
        found = find_labels(graphs, data, labels["source"], labels["task"], told=False)
    except (DataError, KeyError):
        return {}
    if found.are_classes:
        return {"given": found.y}
    values = found.y.reshape(len(graphs), -1).T
    columns = [[None if math.isnan(v) else v for v in column] for column in values.tolist()]
    names = ["given"] if len(columns) == 1 else [f"given_{name}" for name in found.names]
    return dict(zip(names, columns, strict=True))
