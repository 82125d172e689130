"""Before the first label: self-distillation, where ``pretraining_epochs`` asks for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch import nn

from igsd.config_semi import SemiConfig
from igsd.graphs.graphset import GraphSet
from igsd.model.semi import SemiModel
from igsd.training.fit import fit_self_supervised


def pretrain(
    network: SemiModel,
    graphs: GraphSet,
    config: SemiConfig,
    *,
    encoder: nn.Module | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> list[dict[str, float]]:
    """Return the losses by epoch of self-supervised IGSD; student and teacher get its weights.

    Eq. InfoNCE over all graphs of the training part, labelled or not; labels are not read. Few
    labels then begin with an encoder that has seen many graphs. With ``checkpoint``, where the
    training after it is saved, this part saves itself beside it and goes on after a stop too.
    """
    if not config.pretraining_epochs:
        return []
    own = None if checkpoint is None else Path(f"{os.fspath(checkpoint)}.pretraining")
    fitted = fit_self_supervised(
        graphs,
        config.updated({"epochs": config.pretraining_epochs}),
        encoder=encoder,
        checkpoint=own,
        verbose=verbose,
        title="pretraining",
    )
    network.igsd.load_state_dict(fitted.model.state_dict())
    return fitted.history


def forget_pretraining(checkpoint: str | os.PathLike[str] | None) -> None:
    """Remove what ``pretrain`` saved beside a checkpoint, once the training after it is done."""
    if checkpoint is not None:
        Path(f"{os.fspath(checkpoint)}.pretraining").unlink(missing_ok=True)


def nothing_before(
    network: Any, graphs: GraphSet, config: Any, **run: Any
) -> list[dict[str, float]]:
    """Return no losses: the method begins with its labels."""
    return []
