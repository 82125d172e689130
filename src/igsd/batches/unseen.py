"""Warnings of what graphs carry that a model does not see."""

import numpy as np

from igsd.batches.features import CHEMISTRY, NOT_USED, FeatureMap
from igsd.batches.links import alike_both_ways, coordinates
from igsd.errors import counted, enumerated, warn_user
from igsd.graphs.build import DIRECTED, WEIGHT
from igsd.graphs.chemistry import ELEMENTS, has_bonds
from igsd.graphs.datasets import find_entry
from igsd.graphs.graphset import GraphSet
from igsd.graphs.summary import edge_attribute_names

_MOST_NAMES = 8


def warn_of_unused(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn of what the graphs carry that the model does not see, and of how they were read.

    For molecules and known data sets there is no warning of bonds, which the default encoder does
    not see, nor of what their recipes leave out; the reader of a table says how it was read.
    """
    if not _is_familiar(graphs):
        _say(
            graphs, [*features.unused, *(note for note in _reading(graphs) if NOT_USED not in note)]
        )
    elif coordinates(graphs) is None:
        news = [text for text in features.unused if NOT_USED in text]
        _say(graphs, [text for text in news if not text.startswith("edge label")])


def warn_of_reading(graphs: GraphSet) -> None:
    """Warn of how graphs were read, and of what no method uses."""
    if not _is_familiar(graphs):
        _say(graphs, _reading(graphs))


def _reading(graphs: GraphSet) -> list[str]:
    """Return the notes of a set except the one on directions, which methods handle themselves."""
    return [note for note in graphs.notes if not note.startswith(DIRECTED)]


def _say(graphs: GraphSet, texts: list[str]) -> None:
    for text in texts[:_MOST_NAMES]:
        warn_user(f"{graphs.name!r}: {text}.")
    if more := len(texts) - min(len(texts), _MOST_NAMES):
        warn_user(f"{graphs.name!r}: and {counted(more, 'more line')}; `igsd data show` has all.")


def warn_of_unseen(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn of what new graphs carry that the training graphs did not."""
    if CHEMISTRY in features.parts:
        _warn_of_elements(graphs)
    else:
        _warn_of_new_parts(features, graphs)
        _warn_of_missing_weights(features, graphs)
        _warn_of_new_values(features, graphs)
        warn_of_unseen_labels(features, graphs)


def _warn_of_new_parts(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn of attributes, weights, labels and directions that the training graphs did not have."""
    if features.parts == ("constant",):  # a method with node features of its own, or none wanted
        return
    links = features.links
    seen = {features.edge_weight, *(() if links is None else (part.name for part in links.parts))}
    known = {*features.attribute_names, *(name for name, _ in features.categories)}
    carried = [
        f"edge attribute {name!r}"
        for place, name in enumerate(edge_attribute_names(graphs))
        if name not in seen
        and not (name == WEIGHT and (np.asarray(graphs.edge_attributes)[:, place] == 1).all())
    ]
    if features.attribute_names or not features.attribute_mean:  # otherwise columns have no names
        names = graphs.node_attribute_names
        carried += [f"node attribute {name!r}" for name in names if name not in known]
    if graphs.directions is not None and not (links is not None and links.directed):
        carried.append("edge direction")
    if graphs.edge_labels is not None and links is None and not _is_familiar(graphs):
        carried.append("edge label")
    if graphs.node_labels is not None and "label" not in features.parts:
        carried.append("node labels")
    new = [part for part in carried if not any(part in text for text in features.unused)]
    if new:
        warn_user(
            f"The graphs of {graphs.name!r} carry what those of the training did not, and the "
            f"model does not see it: {enumerated(new, _MOST_NAMES)}. Train on graphs that carry it."
        )


def _warn_of_missing_weights(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn if no edge has the weight that the edges of the training graphs had."""
    name = features.edge_weight
    if name and graphs.num_edges and name not in graphs.edge_attribute_names:
        warn_user(
            f"The edges of {graphs.name!r} have no {name!r}, by which those of the training were "
            "weighted: each counts as 1. Give them weights, or train with edge_weight=None."
        )


def _warn_of_new_values(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn of texts and booleans of nodes and edges that the training graphs did not have."""
    links = features.links
    known = {("node", name): values for name, values in features.categories}
    if links is not None:
        graphs = alike_both_ways(graphs) if links.either_way else graphs
        known |= {("edge", part.name): part.names for part in links.parts if part.names}
    for (kind, name), values in known.items():
        names = getattr(graphs, f"{kind}_attribute_names")
        kinds = getattr(graphs, f"{kind}_category_names")
        if name not in names or not kinds:
            continue  # an error, which is raised where the attribute is needed
        place = names.index(name)
        codes = np.unique(getattr(graphs, f"{kind}_attributes")[:, place]).astype(np.int64)
        found = [kinds[place][code] for code in codes if code >= 0] if kinds[place] else []
        if new := [value for value in found if value not in values]:
            warn_user(
                f"The {kind} attribute {name!r} has values in {graphs.name!r} that the model has "
                f"not seen ({enumerated(new, _MOST_NAMES)}): they all count as one unknown value."
            )


def _warn_of_elements(graphs: GraphSet) -> None:
    """Warn of atoms whose element has no column of its own: the model cannot tell them apart."""
    if graphs.node_labels is None:
        return
    elements = [str(name).partition("|")[0] for name in graphs.node_label_names]
    other = np.array([name not in ELEMENTS for name in elements] + [False])[graphs.node_labels]
    if other.any():
        found = sorted({elements[code] for code in np.unique(graphs.node_labels[other])})
        count = len(np.unique(graphs.graph_of_node()[other]))
        warn_user(
            f"{counted(count, 'molecule')} of {graphs.name!r} {'has' if count == 1 else 'have'} "
            f"elements that the model does not distinguish ({enumerated(found, _MOST_NAMES)}): "
            "these atoms look alike to it, apart from their bonds."
        )


def _is_familiar(graphs: GraphSet) -> bool:
    return find_entry(graphs.name) is not None or has_bonds(graphs)


def warn_of_unseen_labels(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn if nodes of ``graphs`` have labels that were not seen in training."""
    if graphs.node_labels is None or "label" not in features.parts:
        return
    known = set(features.label_names)
    unknown = [code for code, name in enumerate(graphs.node_label_names) if name not in known]
    labels = graphs.node_labels[graphs.node_labels >= 0]
    counts = np.bincount(labels, minlength=len(graphs.node_label_names))
    names = [graphs.node_label_names[code] for code in unknown if counts[code]]
    unseen, labelled = int(counts[unknown].sum()), int(counts.sum())
    if not unseen:
        return
    if unseen < labelled:
        warn_user(
            f"{unseen} of {counted(graphs.num_nodes, 'node')} of {graphs.name!r} have labels that "
            f"the model has not seen ({enumerated(names, _MOST_NAMES)}): they count as no label."
        )
    else:
        own, others = list(map(str, names)), list(map(str, features.label_names))
        if set(own) & set(others):  # the number 1 is not the text "1"
            own, others = list(map(repr, names)), list(map(repr, features.label_names))
        warn_user(
            f"Not one node label of {graphs.name!r} was seen in training: it has "
            f"{enumerated(own, _MOST_NAMES)}, the model knows "
            f"{enumerated(others, _MOST_NAMES)}. All nodes count as without a label, "
            "so the vectors are hardly useful. Are the labels spelled differently?"
        )
