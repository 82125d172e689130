"""Embed NetworkX graphs without any label, then find the graphs most like one of them."""

from __future__ import annotations

import networkx as nx

from igsd import IGSD
from igsd.evaluation.neighbors import nearest_graphs


def main(epochs: int = 5) -> list[str]:
    """Print the three graphs nearest to a tree, and return their names."""
    families = {
        "tree": lambda n: nx.random_labeled_tree(n, seed=n),
        "small world": lambda n: nx.watts_strogatz_graph(n, 4, 0.1, seed=n),
        "scale free": lambda n: nx.barabasi_albert_graph(n, 3, seed=n),
    }
    names = [f"{family}, {n} nodes" for family in families for n in range(12, 24)]
    graphs = [make(n) for make in families.values() for n in range(12, 24)]

    # The mean over nodes compares shapes; a sum would compare sizes as well.
    model = IGSD(epochs=epochs, readout="mean", batch_size=16, random_state=0).fit(graphs)
    vectors = model.transform(graphs)  # [36, 256]; graphs that were never seen are welcome too

    query = names.index("tree, 15 nodes")
    indices, distances = nearest_graphs(vectors, query, k=3)
    print(f"nearest to {names[query]}:")
    for index, distance in zip(indices, distances, strict=True):
        print(f"  {names[index]:22} at distance {distance:.2f}")
    return [names[index] for index in indices]


if __name__ == "__main__":
    main()
