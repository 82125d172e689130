"""Stand-in for ``torch_scatter``: its ``scatter`` is PyTorch Geometric's own."""

from __future__ import annotations

from torch_geometric.utils import scatter

__all__ = ["scatter"]
