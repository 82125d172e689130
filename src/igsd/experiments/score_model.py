"""Scoring what is already there: one model, or embeddings in a file, over several fold seeds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.load_model import load_model
from igsd.baselines.registry import name_of, svm_kernel
from igsd.baselines.untrained import untrained_encoder
from igsd.errors import DataError
from igsd.estimators import IGSD
from igsd.estimators.label_estimator import LabelEstimator
from igsd.evaluation.inputs import check_features
from igsd.evaluation.vector_file import SUFFIXES, read_vectors
from igsd.experiments.scoring import Scored, Scoring, Vectors, compared_by, num_scores, score_seed
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar
from igsd.storage import read_header


def source_vectors(
    source: str | os.PathLike[str], graphs: GraphSet, protocol: str, *, verbose: bool = False
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors by method, notes) for MODEL or EMBEDDINGS: what ``score_seed`` takes.

    A kernel gives its matrix, or what ``protocol`` asks for. The untrained encoder has the settings
    and seed of an ``IGSD`` model. For other models, and for embeddings from a file, there is none:
    that row stays empty. Raises ``DataError`` when the number of rows is wrong.
    """
    histogram = LabelDegreeHistogram().fit_transform(graphs)
    if _is_vectors(source):
        vectors = read_vectors(source)
        if len(vectors) != len(graphs):
            raise DataError(
                f"{source} holds {len(vectors)} embeddings, but {graphs.name!r} has {len(graphs)} "
                "graphs. There must be one row for each graph, in the same order."
            )
        check_features(vectors, f"embeddings in {source}")
        notes = ["the untrained encoder of embeddings from a file is not known"]
        return {"igsd": vectors, "histogram": histogram}, notes
    model = load_model(source)
    if not isinstance(model, IGSD):
        notes = [f"{type(model).__name__} has no untrained encoder"]
        if isinstance(model, LabelEstimator):
            notes.append(
                "the model was trained with labels; of graphs whose labels it has seen this is no "
                "honest score: protocol semi gives one"
            )
        return {"histogram": histogram} | {
            _row_name(model): _vectors(model, graphs, protocol)
        }, notes
    model.verbose = verbose
    untrained = untrained_encoder(model.config()).fit_transform(graphs)
    return {"igsd": model.transform(graphs), "untrained": untrained, "histogram": histogram}, []


def score_seeds(
    vectors: dict[str, Vectors],
    graphs: GraphSet,
    scoring: Scoring,
    num_seeds: int,
    *,
    verbose: bool = False,
) -> list[list[Scored]]:
    """Return the rows of each fold seed 0..N-1."""
    total = num_seeds * num_scores(tuple(vectors), scoring)
    with progress_bar("scoring", total, shown=verbose) as advance:
        return [score_seed(vectors, graphs, scoring, seed, advance) for seed in range(num_seeds)]


def _row_name(model: Any) -> str:
    """Return what the row of a model is called; models with labels are all IGSD's kin."""
    return name_of(model) or "igsd"


def _vectors(model: Any, graphs: GraphSet, protocol: str) -> Vectors:
    kernel = svm_kernel(model, protocol)
    is_matrix = kernel == "precomputed"
    return compared_by(model.kernel(graphs) if is_matrix else model.transform(graphs), kernel)


def _is_vectors(source: str | os.PathLike[str]) -> bool:
    """Say whether SOURCE is a file of embeddings; a model may have any name, even theirs."""
    path = Path(source).expanduser()
    if path.is_dir() or path.suffix.lower() not in SUFFIXES:
        return False
    return read_header(path) is None
