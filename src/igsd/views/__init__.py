"""Views of graphs: the same nodes under other edges, for a student and a teacher to compare.

Eq. diffusion stands in ``diffusion.py`` in the paper's letters; ``view.py`` applies it to a whole
set, exactly (``batched.py``) or by a series (``series.py``), and keeps the entries that
``sparsify.py`` chooses. ``edge_drop.py`` is random edge removal. ``cache.py`` remembers.
"""
