"""Views of graphs, which student and teacher compare with the graph itself.

``diffusion.py`` holds Eq. diffusion in the paper's letters; ``cache.py`` applies it to a whole set,
exactly (``exact.py``) or by a series (``series.py``), and keeps the result on disk. ``random.py``
holds the views that are drawn again for every step, ``walks.py`` random walks. ``source.py`` turns
graphs and views into batches.
"""
