"""``run_section``: a run folder as a section: curves, scores, map, neighbours, pseudo-labels."""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.batches.features import FeatureMap
from igsd.errors import IGSDError, StorageError, warn_user
from igsd.experiments.run_folder import HELD_OUT, RunFolder
from igsd.experiments.trained import pseudo_label_counts
from igsd.files.arrays import read_header
from igsd.files.columns import read_vectors
from igsd.files.models import FILE_NAME as MODEL
from igsd.files.models import RunMetrics
from igsd.graphs.datasets import shown_names
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import open_data
from igsd.report.page.charts import training_charts
from igsd.report.page.html import Html, fact_list, flat, joined, scroll_table, tag
from igsd.report.page.map import MapClasses, MapNumbers, map_section
from igsd.report.page.predictions import (
    Predictions,
    number_or_nan,
    predictions_section,
    read_predictions,
)
from igsd.report.summary import number

Histories = dict[str, list[dict[str, float]]]


@dataclass(frozen=True)
class RunData:
    """A run folder; ``missing``: why there are no ``graphs``.

    ``histories``: losses per epoch, by seed; ``pretraining``: those before the first label.
    ``pseudo_labels``: ``rounds``, ``given``, ``right`` and ``checked``, round by round.
    ``predictions``: None without labels. ``seen``: what the model sees of nodes and edges, then a
    sentence for all that it does not see; nothing for methods without a network.
    """

    path: Path
    metrics: RunMetrics
    histories: Histories
    pretraining: Histories
    vectors: np.ndarray | None
    graphs: GraphSet | None
    missing: str
    pseudo_labels: dict[str, list[int]]
    predictions: Predictions | None = None
    seen: tuple[str, ...] = ()

    @property
    def data(self) -> str:
        """The name of the data set."""
        return str(self.metrics.get("data", {}).get("name", "unknown data"))


def read_run(path: str | Path) -> RunData:
    """Return the run in a folder; raises ``StorageError`` for anything else.

    Graphs that are gone or have changed are left out, with an ``IGSDWarning``.
    """
    folder = RunFolder(path)
    metrics = folder.metrics()
    if metrics is None and not ((folder / "metrics.json").exists() and (folder / MODEL).exists()):
        raise StorageError(f"{folder.path} is not a run folder of igsd. `igsd train` makes one.")
    metrics = metrics or {}
    seeds = [folder, *(RunFolder(p) for p in sorted(folder.path.glob("seed-*")) if p.is_dir())]
    places = [metrics.get("seed", 0), *(seed.path.name.removeprefix("seed-") for seed in seeds[1:])]
    names = [f"seed {place}" for place in places]
    histories, before = (
        {name: _history(seed / file) for name, seed in zip(names, seeds, strict=True)}
        for file in ("history.csv", "pretraining.csv")
    )
    embeddings, vectors, broken = folder / "embeddings.npy", None, ""
    try:
        vectors = read_vectors(embeddings) if embeddings.exists() else None
    except StorageError as error:
        broken = f"There is no map. {error}"
    graphs, missing = _find_graphs(metrics, None if vectors is None else len(vectors))
    predictions, why = None, ""
    if graphs is not None:
        held = _rows(folder / HELD_OUT)
        found = (folder.path, metrics, graphs, str(_source(metrics)), held)
        predictions, why = read_predictions(*found)
    missing = " ".join(filter(None, [broken, missing, why]))
    unpredicted = predictions.missing if predictions is not None else ""
    for text in filter(None, [missing, unpredicted and f"There are no predictions. {unpredicted}"]):
        warn_user(f"Run {folder.path}: {text}")
    rounds = _pseudo_labels(folder / "pseudo_labels.csv")
    curves = (histories, before, vectors, graphs, missing, rounds)
    return RunData(folder.path, metrics, *curves, predictions, _seen(folder / MODEL))


def run_section(run: RunData, name: str, method: str) -> Html:
    """Return the section of a run; ``name`` is its identifier, ``method`` makes the map."""
    folder = run.path.name
    heading = f"Run {folder}" if folder == run.data else f"Run {folder}: {run.data}"
    facts = {k: v for k, v in run.metrics.items() if k not in ("kind", "table", "notes", "hidden")}
    settings = _text(run.path / "config.toml") or "Not written yet."
    curves = (run.pretraining, run.histories, {"this run": run.pseudo_labels})
    return tag(
        "section",
        tag("h2", heading),
        *(tag("p", f"Note: {note}") for note in run.metrics.get("notes") or ()),
        _carried(run.seen),
        _scores(run.metrics.get("table")),
        _hidden(run.metrics.get("hidden")),
        None if run.predictions is None else predictions_section(run.predictions, name),
        _map(run, name, method),
        training_charts(*curves, level="h3", name=name),
        tag("details", tag("summary", "About the run"), fact_list(flat(facts))),
        tag("details", tag("summary", "Settings"), tag("pre", settings)),
        id=name,
    )


def graph_labels(run: RunData) -> MapClasses | MapNumbers:
    """Return the labels that the run learned and its predictions, or the classes of its data."""
    if run.predictions is not None:
        return run.predictions.map_labels()
    graphs, is_labelled = run.graphs, "labels" in run.metrics
    if graphs is None or graphs.classes is None or is_labelled:
        return MapClasses(np.full(0 if run.vectors is None else len(run.vectors), -1), [])
    return MapClasses(graphs.classes, shown_names(graphs, "classes"))


def graph_texts(run: RunData, labels: MapClasses | MapNumbers, count: int) -> list[str]:
    """Return the title of each graph: number, line, id, class or number learned, and size."""
    graphs, texts = run.graphs, []
    for index in range(count):
        parts = [f"graph {index}"]
        if graphs is not None and graphs.lines is not None:
            parts.append(f"line {int(graphs.lines[index])}")
        if graphs is not None and graphs.ids is not None:
            parts.append(str(graphs.ids[index]))
        parts += [labels.text(index), run.predictions.text(index) if run.predictions else ""]
        if graphs is not None:
            parts.append(f"{int(graphs.node_ptr[index + 1] - graphs.node_ptr[index])} nodes")
        texts.append(", ".join(filter(None, parts)))
    return texts


def _map(run: RunData, name: str, method: str) -> Html:
    if run.vectors is None:
        text = run.missing or "The run has no embeddings yet: it is not finished."
        return tag("p", text, class_="missing")
    labels = graph_labels(run)
    texts = graph_texts(run, labels, len(run.vectors))
    shown = map_section(name, run.vectors, labels, texts, run.graphs, method)
    why = tag("p", run.missing, class_="missing") if run.missing else None
    return joined(tag("h3", "Map of the embedding"), why, shown)


def _seen(path: Path) -> tuple[str, ...]:
    """Return the notes of a model file on the features that it was trained on."""
    header = read_header(path) if path.exists() else None
    try:
        features = FeatureMap.from_json((header or {})["features"])
        return (features.used, *features.unused)
    except (LookupError, TypeError, ValueError, AttributeError):  # none, or a damaged file
        return ()


def _carried(seen: tuple[str, ...]) -> Html | None:
    """Return what the model sees of the graphs and what it does not, each with its reason."""
    if not seen:
        return None
    used, *unused = seen
    rest = tag("ul", *(tag("li", text) for text in unused)) if unused else None
    return joined(
        tag("h3", "What the model sees of the graphs"),
        tag("p", f"It sees {used}." + " Besides, the graphs carry:" * bool(unused)),
        rest,
    )


def _scores(table: Mapping[str, Any] | None) -> Html | None:
    """Return the table that ``igsd evaluate`` left in the run folder."""
    if not table:
        return None
    title, lines = f"Scores, protocol {table['protocol']}", []
    for row in table["rows"]:
        shares = [row.get(key) for key in ("mean", "std_over_seeds", "std_over_folds")]
        texts = [number(None if share is None else 100 * share, ".1f") for share in shares]
        lines.append([row["method"], *texts, str(len(row["seeds"]))])
    header = ["method", "accuracy %", "std over seeds", "std over folds", "seeds"]
    return joined(tag("h3", title), scroll_table(header, lines, title))


def _hidden(hidden: Mapping[str, Any] | None) -> Html | None:
    """Return the score on hidden labels."""
    if not hidden or "graphs" not in hidden:
        return None
    result = "mean absolute error " + ", ".join(f"{v:.4g}" for v in hidden.get("mae", ()))
    if "accuracy" in hidden:
        result = f"{100 * hidden['accuracy']:.1f} % predicted correctly"
    return tag("p", f"Of the {hidden['graphs']} graphs with hidden labels: {result}.")


def _source(metrics: RunMetrics) -> str | None:
    data = metrics.get("data", {})
    source = data.get("source") or data.get("name")
    return None if source is None else str(source)


def _find_graphs(metrics: RunMetrics, count: int | None) -> tuple[GraphSet | None, str]:
    """Return (graphs, "") or (None, why not)."""
    data = metrics.get("data", {})
    source, checksum = _source(metrics), data.get("checksum")
    reading: Any = {"smiles_column": data.get("smiles_column")}
    reading["standardise"] = data.get("standardised", "")
    if source is None:
        return None, "The run folder does not say what it was trained on."
    try:
        graphs = open_data(source, **reading)
    except (IGSDError, OSError) as error:
        return None, f"The graphs are not shown: {error}"
    if checksum not in (None, graphs.checksum) or count not in (None, len(graphs)):
        return None, f"The graphs are not shown: {source} has changed since the run."
    return graphs, ""


def _history(path: Path) -> list[dict[str, float]]:
    """Return the values per epoch; what is not a number is left out."""
    rows = [{key: number_or_nan(text) for key, text in row.items()} for row in _rows(path)]
    return [{key: value for key, value in row.items() if math.isfinite(value)} for row in rows]


def _pseudo_labels(path: Path) -> dict[str, list[int]]:
    """Return the counts of the pseudo-labels in a table, see ``pseudo_label_counts``."""
    places = [(number_or_nan(row.get("round")), row) for row in _rows(path)]
    rows = [(int(place), row) for place, row in places if math.isfinite(place)]
    right = [row["true"] == row.get("class") if row.get("true") else None for _, row in rows]
    return pseudo_label_counts([number for number, _ in rows], right)


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table by column; warns about a file that is not one."""
    try:
        return list(csv.DictReader(io.StringIO(_text(path), newline=""), restkey=""))
    except csv.Error as error:
        warn_user(f"{path} is not shown: {error}.")
        return []


def _text(path: Path) -> str:
    """Return the text of a file, empty without one; warns about bytes that are not UTF-8."""
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it has bytes that are not UTF-8"
        warn_user(f"{path} is not shown: {reason}.")
        return ""
