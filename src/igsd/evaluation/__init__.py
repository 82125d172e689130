"""Scores of embeddings by protocols with honest folds, their neighbours, and twins."""

PROTOCOLS = ("nested", "paper", "gckn")
"""The protocols that score vectors or a kernel; ``semi`` and ``qm9`` train inside their splits."""


def shown_with(protocol: str) -> tuple[str, ...]:
    """Return the protocols that are scored and shown together when this one is asked for.

    ``paper`` is optimistic and never shown alone: ``nested`` scores the same vectors.
    """
    return ("nested", "paper") if protocol == "paper" else (protocol,)


HOLDOUTS = ("random", "scaffold")
"""The protocols that hold out a test part of the labelled graphs, see ``evaluation.holdout``."""

CLASS_METRICS = ("roc_auc", "auprc", "accuracy", "balanced_accuracy", "ece", "log_loss")
NUMBER_METRICS = ("mae", "rmse")
"""What predictions are scored by, the main metric first; ``evaluation.metrics`` computes them."""
