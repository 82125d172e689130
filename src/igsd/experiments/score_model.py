"""Scoring what is already there: one model, or embeddings in a file, over several fold seeds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.learned import LearnedEstimator
from igsd.baselines.load_model import load_model
from igsd.baselines.registry import name_of
from igsd.baselines.untrained import untrained_twin
from igsd.errors import DataError
from igsd.estimators import IGSD
from igsd.estimators.label_estimator import LabelEstimator
from igsd.evaluation.inputs import check_features
from igsd.evaluation.vector_file import SUFFIXES, read_vectors
from igsd.experiments.scoring import Scored, Scoring, num_scores, score_seed
from igsd.experiments.vectors import Vectors, compared_by, delivered
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar
from igsd.storage import read_header


def source_vectors(
    source: str | os.PathLike[str], graphs: GraphSet, protocol: str, *, verbose: bool = False
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors by method, notes) for MODEL or EMBEDDINGS: what ``score_seed`` takes.

    A kernel gives its matrix, or what ``protocol`` asks for. The untrained network has the settings
    and seed of the model. For models without a network, for those trained with labels, and for
    embeddings from a file, there is none: that row stays empty. Raises ``DataError`` when the
    number of rows is wrong.
    """
    histogram: dict[str, Vectors] = {"histogram": LabelDegreeHistogram().fit_transform(graphs)}
    if not _is_vectors(source):
        rows, notes = _model_vectors(load_model(source), graphs, protocol, verbose=verbose)
        return histogram | rows, notes
    vectors = read_vectors(source)
    if len(vectors) != len(graphs):
        raise DataError(
            f"{source} holds {len(vectors)} embeddings, but {graphs.name!r} has {len(graphs)} "
            "graphs. There must be one row for each graph, in the same order."
        )
    check_features(vectors, f"embeddings in {source}")
    notes = ["the untrained encoder of embeddings from a file is not known"]
    return {"igsd": vectors} | histogram, notes


def _model_vectors(
    model: Any, graphs: GraphSet, protocol: str, *, verbose: bool
) -> tuple[dict[str, Vectors], list[str]]:
    """Return (vectors, notes) of a model, and of its network before training if it has one."""
    name, notes = name_of(model) or "igsd", []  # models with labels are all IGSD's kin
    if isinstance(model, LabelEstimator):
        notes.append(
            "the model was trained with labels; of graphs whose labels it has seen this is no "
            "honest score: protocol semi gives one"
        )
    has_network = isinstance(model, IGSD | LearnedEstimator)
    if has_network:
        model.set_params(verbose=verbose)
    else:
        notes.insert(0, "there is no untrained network to compare with")
    rows = {name: compared_by(*delivered(model, graphs, protocol))}
    if has_network and name != "untrained":
        rows["untrained"] = untrained_twin(model).fit_transform(graphs)
    return rows, notes


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


def _is_vectors(source: str | os.PathLike[str]) -> bool:
    """Say whether SOURCE is a file of embeddings; a model may have any name, even theirs."""
    path = Path(source).expanduser()
    if path.is_dir() or path.suffix.lower() not in SUFFIXES:
        return False
    return read_header(path) is None
