"""``Predictions``: what the model of a labelled run says of its graphs, and how far to trust it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from igsd.baselines.registry import load_model
from igsd.errors import IGSDError, counted
from igsd.estimators.predictions import prediction_columns
from igsd.experiments.trained import hide_labels
from igsd.files.columns import Columns
from igsd.files.models import RunMetrics
from igsd.graphs.datasets import shown_names
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import find_labels
from igsd.graphs.labels import GraphLabels
from igsd.report.holdout import Judged, calibration_plot
from igsd.report.page.charts import inline
from igsd.report.page.html import Html, joined, scroll_table, tag
from igsd.report.page.map import MapClasses, MapNumbers, shown_graphs

MOST_ROWS = 200
"""Predictions in the table of a page."""

_LONGEST = 40
_ENDS = ("_probability", "")
CROSS, HIDDEN = "cross-validation inside the labels", "labels hidden from training"

_HELD_OUT, _FITTED = " (held out)", " (fitted)"
_REMARKS = {
    _HELD_OUT: " Held out: predicted in cross-validation by models that had not seen this label.",
    _FITTED: " Fitted: the model has learned this label, so this is no prediction.",
}
_NEAR = ("distance", "is_far", "nearest", "nearest_label")

_WHY = {
    CROSS: (
        "Cross-validation: each of these labels was predicted by models that had not seen it. {} "
        "on the same predictions, so they look a little better here than on new graphs."
    ),
    HIDDEN: "Hidden: the model itself predicts labels that --label-rate kept from it.",
}


@dataclass(frozen=True, eq=False)
class Predictions:
    """The labels of a run, and what its model predicts for the ``shown`` graphs [n].

    ``is_used`` [G]: whether training saw the label. ``columns``: as ``prediction_columns`` gives
    them, None if there is no model; ``missing`` says why. ``held``: the rows of ``held_out.csv``.
    ``names``: classes for people, by class.
    """

    labels: GraphLabels
    is_used: np.ndarray
    shown: np.ndarray
    columns: Columns | None
    missing: str
    held: Sequence[Mapping[str, Any]]
    names: Mapping[str, str]

    @cached_property
    def classes(self) -> list[str]:
        """The classes: those of the model, or without one those of the labels."""
        if self.columns is None:
            return sorted({str(value) for value in self.labels.y if value is not None})
        return [key.removeprefix("p_") for key in self.columns if key.startswith("p_")]

    @cached_property
    def targets(self) -> list[str]:
        """The columns with predicted numbers, in the order of the labels."""
        unnamed = [f"value{i}" for i in range(len(self.labels.names))]
        names = zip(self.labels.names, unnamed, strict=True)
        columns = self.columns or {}
        found = []
        for name, other in names:
            renamed = [f"predicted_predicted_{name}", f"predicted_{name}"]
            own = [title for title in renamed if title not in self.labels.names]
            titles = [f"{title}{end}" for title in (*own, name, other, "value") for end in _ENDS]
            found.append(next((title for title in titles if title in columns), ""))
        return found

    @cached_property
    def is_event(self) -> bool:
        """Whether probabilities are predicted: of classes, or that the first target is 1."""
        own = (self.labels.names[0], f"predicted_{self.labels.names[0]}")
        return self.labels.are_classes or self.targets[0] in [f"{n}_probability" for n in own]

    def map_labels(self) -> MapClasses | MapNumbers:
        """Return the marks of graphs on the map: their label, for the others the prediction."""
        count, is_known = len(self.is_used), self.labels.is_known
        # Without a model a hidden label is better than nothing.
        is_shown = self.is_used if self.columns is not None else is_known
        if self.labels.are_classes:
            place = {name: code for code, name in enumerate(self.classes)}
            codes = np.full(count, -1)
            if self.columns is not None:
                codes[self.shown] = [place[str(name)] for name in self.columns["class"]]
            for graph in np.flatnonzero(is_shown):
                codes[graph] = place.get(str(self.labels.y[graph]), -1)
            return MapClasses(codes, [self.name(c) for c in self.classes], is_given=is_shown)
        values = np.full(count, np.nan)
        if self.columns is not None and self.targets[0]:
            values[self.shown] = np.asarray(self.columns[self.targets[0]], np.float64)
        given = self.labels.y.reshape(count, -1)[:, 0]
        is_shown = is_shown & ~np.isnan(given)
        values[is_shown] = given[is_shown]
        name, *others = self.labels.names
        note = f"The colours show {name}; also learned: {', '.join(others)}." if others else ""
        return MapNumbers(values, name, note, is_given=is_shown)

    def name(self, value: object) -> str:
        """Return the display name of a class."""
        return self.names.get(str(value), str(value))

    def text(self, graph: int) -> str:
        """Return what is known of a graph's prediction besides the class: how sure, and hidden."""
        parts = []
        sure, place = (self.columns or {}).get("probability"), self._places.get(graph)
        if sure is not None and place is not None and not self.is_used[graph]:
            parts.append(f"probability {sure[place]:.2f}")
        if self.labels.is_known[graph] and not self.is_used[graph]:
            parts.append(f"hidden label {self.given(graph)}")
        return ", ".join(parts)

    @cached_property
    def event(self) -> str:
        """What the probabilities of ``judged`` are about."""
        if not self.labels.are_classes:
            return f"{self.labels.names[0]} = 1"
        return self.name(self.classes[1]) if len(self.classes) == 2 else "the predicted class"

    def judged(self) -> dict[str, Judged]:
        """Return predictions of labels that were not seen when they were made, by their origin.

        Of classes (probability, whether it came true): with two classes of the second, with more
        of the most probable one. Of numbers, and of 0 and 1 beside others, (predicted, given), for
        the first target.
        """
        found: dict[str, Judged] = {}
        if self.columns is not None:
            unseen = self.labels.is_known & ~self.is_used
            rows = [self._places[graph] for graph in self.shown.tolist() if unseen[graph]]
            found[HIDDEN] = self._pairs(
                [{key: values[row] for key, values in self.columns.items()} for row in rows],
                [self.labels.y[self.shown[row]] for row in rows],
            )
        held = [row for row in self.held if row.get("target") == self.labels.names[0]]
        found[CROSS] = self._pairs(held, [row.get("given") for row in held])
        return {name: pairs for name, pairs in found.items() if len(pairs[0])}

    def _pairs(self, rows: Sequence[Mapping[str, Any]], given: Sequence[Any]) -> Judged:
        """Return the predictions in rows of a table, and the true labels; skips damaged rows."""
        predicted, came_true = list[float](), list[float]()
        for row, value in zip(rows, given, strict=True):
            if self.labels.are_classes:
                p = [number_or_nan(row.get(f"p_{name}")) for name in self.classes]
                if str(value) not in self.classes or not all(0 <= share <= 1 for share in p):
                    continue
                code, best = self.classes.index(str(value)), int(np.argmax(p))
                pair = (p[1], code == 1) if len(p) == 2 else (p[best], code == best)
                event = (pair[0], float(pair[1]))
            else:
                name = "predicted" if "predicted" in row else self.targets[0]
                event = (number_or_nan(row.get(name)), number_or_nan(np.ravel(value)[0]))
            if math.isfinite(event[0]) and math.isfinite(event[1]):
                predicted.append(float(event[0]))
                came_true.append(float(event[1]))
        return np.array(predicted), np.array(came_true)

    def table(self) -> tuple[Columns, dict[str, list[str]]]:
        """Return (columns, remarks) of the predictions [n], as the page lists them.

        The model predicts what it has learned nearly as it was given. So a label that training saw
        has the prediction of ``held`` instead, with the remark ``_HELD_OUT``, or ``_FITTED`` where
        there is none. ``remarks``: by column of predictions. What is near such a graph is itself,
        and left out.
        """
        columns = {key: list(values) for key, values in (self.columns or {}).items()}
        held = {(str(row.get("target")), str(row.get("graph"))): row for row in self.held}
        keys = ["class"] if self.labels.are_classes else self.targets
        remarks = {key: [""] * len(self.shown) for key in keys if key}
        y = (
            self.labels.y
            if self.labels.are_classes
            else self.labels.y.reshape(len(self.is_used), -1)
        )
        for place, graph in enumerate(self.shown.tolist()):
            if not self.is_used[graph]:
                continue
            for key in (key for key in _NEAR if key in columns):
                columns[key][place] = None
            for number, (key, target) in enumerate(zip(keys, self.labels.names, strict=True)):
                if not key or (key != "class" and math.isnan(y[graph, number])):
                    continue
                found = self._held_out(held.get((target, str(graph)), {}), key)
                remarks[key][place] = _HELD_OUT if found else _FITTED
                if key != "class" and found:
                    shift = found[key] - columns[key][place]
                    ends = [f"{key}_{end}" for end in ("low", "high")]
                    found |= {k: columns[k][place] + shift for k in ends if k in columns}
                for name, value in found.items():
                    columns[name][place] = value
        return columns, remarks

    def _held_out(self, row: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return a row of ``held`` as a prediction in some columns, empty if it is damaged."""
        if key != "class":
            value = number_or_nan(row.get("predicted"))
            return {key: value} if math.isfinite(value) else {}
        shares = [number_or_nan(row.get(f"p_{name}")) for name in self.classes]
        if not all(0 <= share <= 1 for share in shares):
            return {}
        best = int(np.argmax(shares))
        return {"class": self.classes[best], "probability": shares[best]}

    @cached_property
    def _places(self) -> dict[int, int]:
        return {int(graph): place for place, graph in enumerate(self.shown)}

    def given(self, graph: int) -> str:
        """Return the known label of a graph in words."""
        if self.labels.are_classes:
            return self.name(self.labels.y[graph])
        values = np.ravel(self.labels.y[graph])
        return " ".join("-" if math.isnan(value) else f"{value:.4g}" for value in values)


def read_predictions(
    path: Path, metrics: RunMetrics, graphs: GraphSet, data: str, held: Sequence[Mapping[str, Any]]
) -> tuple[Predictions | None, str]:
    """Return (predictions of a labelled run, "") or (None, why not); a run without labels has none.

    ``data``: what the run was trained on; ``held``: the rows of its ``held_out.csv``.
    """
    learned = metrics.get("labels")
    if learned is None:
        return None, ""
    try:
        asked, task = str(learned["source"]), cast(Any, learned["task"])
        labels = find_labels(graphs, data, asked, task, warn=False)
        used = hide_labels(labels, float(learned.get("rate", 1.0)), int(metrics.get("seed", 0)))
    except KeyError as error:
        return None, f"Its labels are not shown: metrics.json does not say their {error}."
    except IGSDError as error:
        return None, f"Its labels are not shown: {error}"
    shown, columns, missing = shown_graphs(len(graphs), used.is_known), None, ""
    try:
        columns = prediction_columns(load_model(path), graphs.take(shown), str(path))
        if labels.are_classes != ("class" in columns):
            columns, missing = None, f"The model does not predict the {labels.task} of the run."
    except IGSDError as error:
        missing = str(error)
    names = {}
    if labels.are_classes and _are_own(graphs, labels):
        pairs = zip(graphs.class_names, shown_names(graphs, "classes"), strict=True)
        names = {str(name): text for name, text in pairs}
    return Predictions(labels, used.is_known, shown, columns, missing, held, names), ""


def predictions_section(found: Predictions, name: str) -> Html:
    """Return predictions in numbers: by class, how reliable they are, and graph by graph."""
    parts = [tag("h3", "Predictions")]
    if found.columns is None:
        text = f"There are no predictions. {found.missing}"
        return joined(*parts, tag("p", text, class_="missing"), _reliability(found, name))
    if found.labels.are_classes:
        parts.append(_by_class(found))
    return joined(*parts, _graph_table(found), _reliability(found, name))


def _by_class(found: Predictions) -> Html:
    """Return the number of graphs of each class, given and predicted, and the mean probability."""
    columns: Any = found.columns
    is_used, lines = found.is_used[found.shown], []
    predicted = np.array([str(value) for value in columns["class"]])
    sure = np.asarray(columns["probability"], np.float64)
    given = [str(found.labels.y[graph]) for graph in np.flatnonzero(found.is_used)]
    for value in found.classes:
        chosen = ~is_used & (predicted == value)
        mean = f"{sure[chosen].mean():.2f}" if chosen.any() else "-"
        count = str(int(chosen.sum()))
        lines.append([found.name(value), str(given.count(value)), count, mean])
    header = ["class", "labels", "predicted for others", "mean probability"]
    return scroll_table(header, lines, "Predictions by class")


def _graph_table(found: Predictions) -> Html:
    """Return the predictions of graphs: those without a label first, the surest of them first."""
    columns, remarks = found.table()
    is_used = found.is_used[found.shown]
    sure: Any = np.asarray(columns.get("probability", np.zeros(len(found.shown))), np.float64)
    rows = np.lexsort((-sure, is_used))
    keys = [key for key in columns if key not in ("graph", "class")]
    keys = [key for key in keys if "class" not in columns or not key.startswith("p_")]
    about = [key for key in ("line", "id", "name") if key in keys]
    others = [key for key in keys if key not in about]
    first = ["label", "predicted"] if "class" in columns else ["label"]
    lines = []
    for row in rows[:MOST_ROWS]:
        graph = int(found.shown[row])
        label = found.given(graph) if found.labels.is_known[graph] else ""
        label += " (hidden)" if label and not found.is_used[graph] else ""
        cells = {key: _cell(columns[key][row]) for key in [*about, *others]}
        if "class" in columns:
            cells["class"] = found.name(columns["class"][row])
        for key, values in remarks.items():
            cells[key] += values[row]
        texts = [label, *([cells["class"]] if "class" in columns else [])]
        before = [str(graph), *(cells[key] for key in about)]
        lines.append([*before, *texts, *(cells[key] for key in others)])
    titles = {key: f"predicted {key}" for key in found.targets if "predicted" not in key}
    further = [titles.get(key, key.replace("_", " ")) for key in others]
    header = ["graph", *about, *first, *further]
    text = f"Graphs without a label first{', the surest first' if 'class' in columns else ''}."
    used = [remark for values in remarks.values() for remark in values]
    text += "".join(why for remark, why in _REMARKS.items() if remark in used)
    if len(lines) < len(found.is_used):
        text += f" {len(lines)} of {counted(len(found.is_used), 'graph')} are shown; "
        text += "igsd predict RUN DATA -o predictions.csv writes all."
    table = tag("div", scroll_table(header, lines, "Predictions of graphs"), class_="tall")
    return joined(tag("p", text, class_="note"), table)


def _reliability(found: Predictions, name: str) -> Html:
    """Return the reliability of predictions for labels that the model had not seen."""
    judged, is_class = found.judged(), found.is_event
    title = tag("h3", "Reliability" if is_class else "Predicted and given numbers")
    if not judged:
        text = (
            "It is not known how reliable the predictions are: this run has no predictions for "
            "labels its model had not seen. `igsd train` with --label-rate 0.8 hides a fifth of "
            "the labels"
        )
        text += ", and --calibration 3 cross-validates inside of them." if is_class else "."
        return joined(title, tag("p", text, class_="missing"))
    lines = []
    for origin, (predicted, true) in judged.items():
        figures = [f"{np.abs(predicted - true).mean():.4g}"]
        if is_class:
            right, sure = true == 1, predicted
            if not found.labels.are_classes or len(found.classes) == 2:
                right, sure = (predicted > 0.5) == right, np.maximum(predicted, 1 - predicted)
            figures = [f"{100 * right.mean():.1f}", f"{100 * sure.mean():.1f}"]
        lines.append([origin, str(len(true)), *figures])
    header = [
        "predictions of",
        "labels",
        *(["accuracy %", "mean probability %"] if is_class else ["MAE"]),
    ]
    table = scroll_table(header, lines, "How good predictions of unseen labels are")
    axes = ("predicted", f"given {found.labels.names[0]}")
    if is_class:
        axes = (f"probability of {found.event}", "share that came true")
    plot = calibration_plot(judged, *axes, are_events=is_class)
    words = " ".join(
        _WHY[origin].format(
            "Their probabilities were calibrated" if is_class else "Models were weighed"
        )
        for origin in judged
    )
    if plot is None:
        few = tag("p", "There are too few of these labels for a diagram.", class_="missing")
        return joined(title, table, tag("p", words, class_="note"), few)
    bars = " Each mark is the mean of about equally many labels; bars: one standard error."
    drawn = inline(plot, "Reliability diagram of the predictions", f"{name}-reliability")
    figure = tag("figure", drawn, class_="square")
    return joined(title, table, tag("p", words + bars, class_="note"), figure)


def _are_own(graphs: GraphSet, labels: GraphLabels) -> bool:
    """Return whether the labels are the classes of the data set itself."""
    if graphs.classes is None:
        return False
    own = [None if code < 0 else str(graphs.class_names[code]) for code in graphs.classes]
    return all(y is None or str(y) == name for y, name in zip(labels.y, own, strict=True))


def _cell(value: object) -> str:
    """Return a value as the text of a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def number_or_nan(value: object) -> float:
    """Parse a number; NaN if the value is not one."""
    try:
        return float(cast(Any, value))
    except (TypeError, ValueError):
        return math.nan
