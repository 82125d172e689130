"""Short trainings of every neural method, for one process or for several that share the work."""

from __future__ import annotations

import warnings
from typing import Any

from igsd.baselines.registry import METHODS
from tests.small_graphs import make_graphs

VECTORS = ("igsd", "barlow", "byol", "graphcl", "infograph", "mvgrl", "gcc")
CLASSES = (
    "gin+self-training",
    "mean-teacher",
    "infograph",
    "infograph-star",
    "igsd-self",
    "igsd-supcon+self-training",
)
NORMS = {"synchronised": {"sync_batch_norm": True}, "without": {"encoder_batch_norm": False}}
SMALL: dict[str, Any] = {"hidden_dim": 8, "num_layers": 2, "epochs": 3, "cache_views": False}
HEADS: dict[str, Any] = {"head_hidden_dim": 16, "head_dim": 8, "head_batch_norm": False}
ROUNDS = {"self_training_start": 1, "self_training_rounds": 2, "self_training_threshold": 0.5}


def histories(devices: int) -> dict[str, list[float]]:
    """Return the loss of each epoch of every method, with BatchNorm over all graphs or without.

    A batch of 11 is shared 6 and 5: the parts of a joint batch need not be equal. An epoch is one
    step, so the first loss is that of the same weights.
    """
    graphs, found = make_graphs(11), {}
    labels = [None if i % 3 == 0 else "ab"[i % 2] for i in range(len(graphs))]
    for norm, changes in NORMS.items():
        settings = SMALL | HEADS | ROUNDS | changes | {"devices": devices, "batch_size": 11}
        if norm == "without":
            settings["head_norm"] = False
        for task, names in (("vectors", VECTORS), ("classes", CLASSES)):
            for name in names:
                estimator = METHODS[name].estimator(task)
                own = {**settings, **METHODS[name].settings, "label_batch_size": 11}
                config = estimator.config_class().updated(estimator.config_class.known(own))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of rounds that find nothing to label
                    fitted = estimator.from_config(config).fit(graphs, labels)
                found[f"{task} {name} {norm}"] = [entry["total"] for entry in fitted.history_]
    return found
