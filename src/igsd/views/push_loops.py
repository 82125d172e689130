"""The pushes of ``igsd.views.push`` in compiled loops (numba, extra ``igsd[speed]``).

They add and compare the same numbers in the same order as NumPy does there, so the result is equal
to the last bit.
"""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pushed_rows(
    row_ptr: Any, col: Any, weight: Any, sources: Any, first: Any, limit: Any
) -> tuple[Any, Any, Any, Any]:
    """Return what the pushes from each source leave where something was pushed.

    ``row_ptr``, ``col``, ``weight``: what a node's residual spreads to. ``first``, ``limit`` [B]:
    a source's own residual, and the one up to which nothing is pushed. Returns the number of nodes
    of each source [B], and one after the other the nodes, what was pushed and what was not.
    """
    n = len(row_ptr) - 1
    residual, pushed = np.zeros(n, np.float32), np.zeros(n, np.float32)
    is_touched = np.zeros(n, np.bool_)
    touched, found = np.empty(n, np.int32), np.empty(n, np.int32)
    entries, above = np.empty(n, np.int32), np.empty(n, np.int32)
    values, sums = np.empty(n, np.float32), np.empty(n, np.float32)
    counts, total = np.zeros(len(sources), np.int64), 0
    nodes, given, kept = np.empty(n, np.int32), np.empty(n, np.float32), np.empty(n, np.float32)
    for place in range(len(sources)):
        entries[0], values[0] = sources[place], first[place]
        num_entries, num_found, num_touched = 1, 0, 0
        while num_entries:
            for i in range(num_entries):
                u, value = entries[i], values[i]
                if pushed[u] == 0.0:
                    found[num_found] = u
                    num_found += 1
                pushed[u] += value
                for e in range(row_ptr[u], row_ptr[u + 1]):
                    target = col[e]
                    residual[target] += weight[e] * value
                    if not is_touched[target]:
                        is_touched[target] = True
                        touched[num_touched] = target
                        num_touched += 1
            # Backwards: an entry that several pushes have reached takes the place of the last.
            num_above = 0
            for i in range(num_entries - 1, -1, -1):
                u = entries[i]
                for e in range(row_ptr[u + 1] - 1, row_ptr[u] - 1, -1):
                    target = col[e]
                    if residual[target] > limit[place]:
                        above[num_above], sums[num_above] = target, residual[target]
                        residual[target] = 0.0
                        num_above += 1
            for i in range(num_above):
                entries[i], values[i] = above[num_above - 1 - i], sums[num_above - 1 - i]
            num_entries = num_above
        if total + num_found > len(nodes):  # at most n more, and there are n
            nodes = np.append(nodes, np.empty(len(nodes), np.int32))
            given = np.append(given, np.empty(len(given), np.float32))
            kept = np.append(kept, np.empty(len(kept), np.float32))
        for i in range(num_found):
            u = found[i]
            nodes[total], given[total], kept[total] = u, pushed[u], residual[u]
            total += 1
            pushed[u] = 0.0
        counts[place] = num_found
        for i in range(num_touched):
            residual[touched[i]], is_touched[touched[i]] = 0.0, False
    return counts, nodes[:total], given[:total], kept[:total]
