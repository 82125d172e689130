"""IGSD as scikit-learn estimators: vectors without labels, classes and numbers with few."""

from igsd.estimators.base import settings_as_parameters
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.estimators.neural import NeuralEstimator
from igsd.model.igsd import IGSDModel, SemiModel
from igsd.settings.igsd import Config, SemiConfig, SemiRegressionConfig


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


@settings_as_parameters(SemiConfig)
class IGSDClassifier(GraphClassifier):
    """Predicts the class of a graph by semi-supervised IGSD, from few labels and many graphs.

    ``fit`` takes a ``GraphSet``, or a list of NetworkX graphs, PyTorch Geometric ``Data`` objects
    or SMILES strings, and ``y``: one class per graph, text or whole numbers, None or NaN if there
    is none (-1 also means none if all other labels are whole numbers >= 0). It can then
    ``predict`` graphs that it has never seen.

    Learned: ``classes_``, ``pseudo_labels_`` (graph, class, confidence and round of each),
    ``history_``, ``pretraining_history_``, ``network_``, ``features_``, ``config_``.

    >>> from igsd import IGSDClassifier, load_dataset
    >>> graphs = load_dataset("MUTAG")
    >>> y = [c if i % 10 == 0 else None for i, c in enumerate(graphs.classes)]
    >>> model = IGSDClassifier(epochs=5, self_training=False).fit(graphs, y)
    >>> model.predict(graphs).shape
    (188,)
    """

    network_class = SemiModel


@settings_as_parameters(SemiRegressionConfig)
class IGSDRegressor(GraphRegressor):
    """Predicts numbers for a graph by semi-supervised IGSD, from few labels and many graphs.

    ``fit`` takes graphs as ``igsd.IGSD`` does, and ``y``: one or several numbers per graph, NaN or
    None if unknown. There are no classes, so neither Eq. supcon nor self-training.

    Learned: ``scale_``, ``history_``, ``pretraining_history_``, ``network_``, ``features_``,
    ``config_``.
    """

    network_class = SemiModel
