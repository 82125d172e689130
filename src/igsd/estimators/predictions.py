"""Predictions as a table, one row per graph."""

import math
import os
from collections.abc import Mapping
from typing import Any

from igsd.errors import ConfigError, DataError
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.estimators.predictor import MoleculeClassifier, MoleculePredictor
from igsd.files.columns import Columns
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import find_labels


def prediction_columns(
    model: Any, graphs: GraphSet, source: str = "the model", *, verbose: bool = False
) -> Columns:
    """Return the columns of a table of predictions, one entry per graph.

    Those of ``about_graphs``; then ``class``, ``probability`` and one ``p_CLASS`` per class, or one
    column per target (``value`` if it has no name). A predictor for molecules adds the ends of a
    90 % interval to each number (``value_low``, ``value_high``; empty below 9 labels), and what is
    known near each molecule, for each target if their labelled molecules differ; for a target that
    holds only 0 and 1 it gives ``TARGET_probability``. Raises ``ConfigError`` for a model that was
    trained without labels.
    """
    is_predictor = isinstance(model, MoleculePredictor)
    if not isinstance(model, GraphClassifier | GraphRegressor | MoleculePredictor):
        raise ConfigError(
            f"{source} is a model of {type(model).__name__}, which gives vectors and no "
            "predictions. Train with labels, of a column of a table or in a file: `igsd train DATA "
            "--labels COLUMN|FILE`."
        )
    model.set_params(verbose=verbose)
    columns = about_graphs(graphs)
    if isinstance(model, GraphClassifier | MoleculeClassifier):
        probabilities = model.predict_proba(graphs)
        codes = probabilities.argmax(axis=1)
        columns["class"] = model.classes_[codes].tolist()
        columns["probability"] = probabilities.max(axis=1).tolist()
        names = (f"p_{name}" for name in model.classes_.tolist())
        columns |= dict(zip(names, probabilities.T.tolist(), strict=True))
        return columns | (model.nearness(graphs) if is_predictor else {})
    values = model.predict(graphs).reshape(len(graphs), -1)
    widths = model.half_widths() if is_predictor else [None] * values.shape[1]
    targets, near = model.scale_.titles, model.nearness(graphs) if is_predictor else {}
    # A target may have the name of another column: predict also adds ``given``.
    taken = {*columns, *near, "given", *(f"given_{name}" for name in targets)}
    taken |= {f"{name}_{end}" for name in targets for end in ("low", "high", "probability")}
    for name, column, width in zip(targets, values.T, widths, strict=True):
        title = name
        while title in taken or (title != name and title in targets):
            title = f"predicted_{title}"
        is_probability = width is not None and math.isnan(width)
        columns[f"{title}_probability" if is_probability else title] = column.tolist()
        if width is not None and not is_probability:
            ends = {"low": column - width, "high": column + width}
            for end, values_of_end in ends.items():  # empty where there are too few labels
                shown = values_of_end.tolist() if math.isfinite(width) else [None] * len(graphs)
                columns[f"{title}_{end}"] = shown
    return columns | near


def about_graphs(graphs: GraphSet) -> dict[str, list[object]]:
    """Return the columns that identify the graph of each row."""
    lines = None if graphs.lines is None else graphs.lines.tolist()
    columns = {"graph": range(len(graphs)), "line": lines}
    columns |= {"id": graphs.ids, "name": graphs.graph_names}
    return {name: list(column) for name, column in columns.items() if column is not None}


def given_columns(metrics: Mapping[str, Any], graphs: GraphSet, data: str) -> Columns:
    """Return the known labels of ``data``, of the kind that a model was trained on.

    ``metrics``: those of the run folder. One column ``given``, or ``given_T`` for each of several
    targets, None if unknown; no column if ``data`` has no such label. A file of labels only applies
    to the graphs of the training.
    """
    labels, trained_on = metrics.get("labels", {}), metrics.get("data", {}).get("checksum")
    if os.path.isfile(labels.get("source", "")) and graphs.checksum != trained_on:
        return {}
    try:
        found = find_labels(graphs, data, labels["source"], labels["task"], warn=False)
    except (DataError, KeyError):
        return {}
    if found.are_classes:
        return {"given": found.y}
    values = found.y.reshape(len(graphs), -1).T
    columns = [[None if math.isnan(v) else v for v in column] for column in values.tolist()]
    names = ["given"] if len(columns) == 1 else [f"given_{name}" for name in found.names]
    return dict(zip(names, columns, strict=True))
