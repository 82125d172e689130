"""Stand-in for ``dgl``: PyGCL names its graph class in a signature and needs nothing else."""

from __future__ import annotations


class DGLGraph:
    """A name for a type annotation."""
