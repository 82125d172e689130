"""``IGSD``: the method as a scikit-learn transformer, from graphs to vectors."""

from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.model.igsd import IGSDModel
from igsd.settings.igsd import Config


@settings_as_parameters(Config)
class IGSD(NeuralEstimator):
    """Learns a vector for each graph from graphs alone, by Iterative Graph Self-Distillation.

    ``fit`` and ``transform`` take a ``GraphSet``, or a list of NetworkX graphs, PyTorch Geometric
    ``Data`` objects or SMILES strings. A string that is not a molecule raises ``DataError`` with
    its index, since leaving it out would shift all rows after it. Labels are never read.

    ``encoder`` may be your own ``nn.Module``: it takes a ``Batch``, returns one row per graph and
    has an integer attribute ``out_dim``.

    Learned: ``network_`` (also called ``model_``), ``features_``, ``history_`` (mean losses per
    epoch), ``config_`` (the settings of the fit), ``own_encoder_`` (the class of your own encoder,
    or None) and ``n_features_out_``. Of settings changed after ``fit``, only ``mix_weight`` and
    ``embed_views`` take effect without fitting again.

    >>> from igsd import IGSD, load_dataset
    >>> vectors = IGSD(epochs=1).fit_transform(load_dataset("MUTAG"))
    >>> vectors.shape
    (188, 256)
    """

    network_class = IGSDModel

    @property
    def model_(self) -> IGSDModel:
        """The trained student and teacher."""
        return self.network_
