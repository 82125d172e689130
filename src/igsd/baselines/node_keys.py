"""What a pattern is made of: a 64-bit key for every node, from its label or its degree.

Keys are hashes of the label's name, so that two sets with other codes for the same names agree, and
a label that was not there at ``fit`` is simply another key.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from igsd.errors import DataError, IGSDWarning, warn_user
from igsd.graphs.graphset import GraphSet, Name
from igsd.hashing import splitmix64

Keys = NDArray[np.uint64]

_DEGREE_SALT = np.uint64(0x64656772)


class DegreeFallbackWarning(IGSDWarning):
    """A method that reads node labels was given graphs without them and took degrees instead."""


def key_source(graphs: GraphSet) -> tuple[str, tuple[str, ...]]:
    """Return ("label" or "degree", notes): where keys come from for a model of these graphs.

    Graphs without labels get degrees, with a ``DegreeFallbackWarning`` and the same sentence as a
    note.
    """
    if graphs.node_labels is not None:
        return "label", ()
    note = f"{graphs.name!r} has no node labels: the degree of each node stands in for its label."
    warn_user(note, DegreeFallbackWarning)
    return "degree", (note,)


def node_keys(graphs: GraphSet, source: str) -> Keys:
    """Return the key of every node, [N] uint64; raises ``DataError`` where labels are missing."""
    if source == "degree":
        return splitmix64(graphs.adjacency.degrees().astype(np.uint64) ^ _DEGREE_SALT)
    if graphs.node_labels is None:
        raise DataError(
            f"The model was fitted on graphs with node labels, but {graphs.name!r} has none. "
            "Give the nodes the same kind of label, or fit on graphs without labels."
        )
    # One slot more at the end: a missing label (-1) reads it and has a key of its own.
    table = [_name_key(name) for name in graphs.node_label_names] + [_name_key(None)]
    return np.array(table, dtype=np.uint64)[graphs.node_labels]


def _name_key(name: Name | None) -> int:
    """Return 64 bits of a name, the same in every process and on every machine."""
    digest = hashlib.blake2b(repr(name).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
