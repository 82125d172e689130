"""Self-distillation before the first label: what ``pretraining_epochs`` asks for."""

from __future__ import annotations

from igsd.config_semi import SemiConfig
from igsd.graphs.graphset import GraphSet
from igsd.model.semi import SemiModel
from igsd.training.fit import fit_self_supervised


def pretrain(network: SemiModel, graphs: GraphSet, config: SemiConfig) -> None:
    """Give student and teacher the weights that self-supervised IGSD learns on these graphs.

    Eq. InfoNCE over all graphs of the training part, labelled or not; labels are not read. Few
    labels then begin with an encoder that has seen many graphs.
    """
    changes = {"epochs": config.pretraining_epochs}
    fitted = fit_self_supervised(graphs, config.updated(changes))
    network.igsd.load_state_dict(fitted.model.state_dict())
