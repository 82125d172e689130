"""LIBSVM's solver in compiled loops over whole vectors (numba, extra ``igsd[speed]``).

Every step is LIBSVM's: the same pair, the same rounding, the same end. So the multipliers and the
intercept are equal to the last bit. Only the loops differ: they have no branches, so a processor
works on eight numbers at a time.

In a binary problem, w_k = y_k * alpha_k lies between 0 and y_k * C, where y_k is 1 for the rows of
the first class and -1 for those of the second, and the sum of w is 0. The residuals are
H = y - K w. A step raises w_i, which has the largest residual, and lowers the w_j that gains most.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_TAU = 1e-12
_TOLERANCE = 1e-3
_PERIOD = 1000
_RESIDUAL, _BOUNDED, _SIGN, _DIAGONAL, _UP, _DOWN, _WEIGHT = range(7)


def _declare_maximum(typing: Any, first: Any, second: Any) -> Any:
    """Return the larger of two numbers; compilers may take a maximum of many in any order."""
    double = ir.DoubleType()

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic("llvm.maxnum", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), generate


_maximum: Any = intrinsic(_declare_maximum)


@njit(cache=True)
def pair_kernel(K: Any, rows: Any) -> Any:
    """Return the kernel [n, n] among chosen rows of K, rounded to float32 as in LIBSVM."""
    kernel = np.empty((len(rows), len(rows)), np.float32)
    for i in range(len(rows)):
        source, target = K[rows[i]], kernel[i]
        for k in range(len(rows)):
            target[k] = source[rows[k]]
    return kernel


@njit(cache=True)
def solve(kernel: Any, diagonal: Any, num_first: int, C: float, buffer: Any) -> Any:
    """Return the weights w [n], the intercept and the number of steps of a binary problem.

    kernel: float32 [n, n], the ``num_first`` rows of the first class before those of the second.
    diagonal: the diagonal of the kernel [n], not rounded.
    buffer: an array like the kernel, which is overwritten.
    """
    n = len(kernel)
    state = np.zeros((7, n))
    residual, up, down = state[_RESIDUAL], state[_UP], state[_DOWN]
    bounded, sign, weight = state[_BOUNDED], state[_SIGN], state[_WEIGHT]
    diagonals = state[_DIAGONAL]
    for k in range(n):
        sign[k] = residual[k] = 1.0 if k < num_first else -1.0
        diagonals[k] = diagonal[k]
        _mark(state, k, C)
    # The active weights come first. ``order`` has the row of the kernel of every weight.
    order, swaps, used, num_swaps = np.arange(n), np.empty((4 * n, 2), np.int64), np.full(n, -1), 0
    rows = (kernel, buffer, order, swaps, used)
    gains = np.empty(n)
    active, unshrunk, counter, steps = n, False, min(n, _PERIOD) + 1, 0
    top = _highest(residual, up, active)
    while True:
        counter -= 1
        if counter == 0:
            counter = min(n, _PERIOD)
            low = _lowest(residual, down, active)
            if not unshrunk and top - low <= 10 * _TOLERANCE:
                unshrunk = True
                _restore(rows, num_swaps, state, active)
                active = n
            if len(swaps) - num_swaps < n:
                num_swaps = 0
                used[:] = -1
            active, num_swaps = _shrink(state, order, swaps, num_swaps, active, top, low)
            top = _highest(residual, up, active)
        j = -1
        for attempt in range(2):
            if attempt == 1:
                # Optimal among the active weights: look at all of them.
                _restore(rows, num_swaps, state, active)
                active, counter = n, 1
                top = _highest(residual, up, active)
            if top == -np.inf:
                continue
            i = _position(residual, up, top, active)
            row_i = _row(rows, num_swaps, i)
            gain = _gains(residual, down, diagonals, row_i, top, diagonals[i], gains, active)
            if gain > 0:
                j = _last(gains, gain, active)
                if top - residual[j] >= _TOLERANCE:
                    break
                if top - _lowest(residual, down, active) >= _TOLERANCE:
                    break
                j = -1
        if j < 0:
            break
        steps += 1
        row_j = _row(rows, num_swaps, j)
        curvature = diagonals[i] + diagonals[j] - 2.0 * row_i[j]
        step = (residual[i] - residual[j]) / (curvature if curvature > 0 else _TAU)
        old_i, old_j = weight[i], weight[j]
        highest, lowest = C if sign[i] > 0 else 0.0, 0.0 if sign[j] > 0 else -C
        total = old_i + old_j
        weight[i] += step
        weight[j] -= step
        if total > highest + lowest:
            if weight[i] > highest:
                weight[i], weight[j] = highest, total - highest
        elif weight[j] < lowest:
            weight[i], weight[j] = total - lowest, lowest
        _mark(state, i, C)
        _mark(state, j, C)
        _bound(bounded, row_i, sign[i] * C, abs(old_i) >= C, abs(weight[i]) >= C)
        _bound(bounded, row_j, sign[j] * C, abs(old_j) >= C, abs(weight[j]) >= C)
        top = _move(residual, up, row_i, row_j, weight[i] - old_i, weight[j] - old_j, active)
    weights = np.empty(n)
    weights[order] = weight
    return weights, _intercept(residual, up, down), steps


@njit(cache=True)
def _mark(state: Any, k: int, C: float) -> None:
    """Note whether w_k can rise (``up`` is 0, else -inf) and fall (``down`` is 0, else inf)."""
    positive, w = state[_SIGN, k] > 0, state[_WEIGHT, k]
    state[_UP, k] = 0.0 if w < (C if positive else 0.0) else -np.inf
    state[_DOWN, k] = 0.0 if w > (0.0 if positive else -C) else np.inf


@njit(cache=True)
def _row(rows: Any, num_swaps: int, position: int) -> Any:
    """Return the row of the kernel of a weight, with its columns in the present order.

    Columns are swapped in a copy of the row, and only when the row is used.
    """
    kernel, buffer, order, swaps, used = rows
    number = order[position]
    row = buffer[number]
    if used[number] < 0:
        source = kernel[number]
        for k in range(len(row)):
            row[k] = source[order[k]]
    else:
        for s in range(used[number], num_swaps):
            a, b = swaps[s, 0], swaps[s, 1]
            row[a], row[b] = row[b], row[a]
    used[number] = num_swaps
    return row


@njit(cache=True)
def _highest(residual: Any, up: Any, active: int) -> float:
    """Return the largest residual of an active weight that can rise, -inf if none can."""
    best = -np.inf
    for k in range(active):
        best = _maximum(best, residual[k] + up[k])
    return best


@njit(cache=True)
def _lowest(residual: Any, down: Any, active: int) -> float:
    """Return the smallest residual of an active weight that can fall, inf if none can."""
    best = -np.inf
    for k in range(active):
        best = _maximum(best, -(residual[k] + down[k]))
    return -best


@njit(cache=True)
def _position(residual: Any, up: Any, top: float, active: int) -> int:
    """Return the last active weight that can rise and has this residual."""
    last = -1
    for k in range(active):
        last = max(last, k if residual[k] + up[k] == top else -1)
    return last


@njit(cache=True)
def _last(values: Any, value: float, active: int) -> int:
    """Return the last position of a value."""
    last = -1
    for k in range(active):
        last = max(last, k if values[k] == value else -1)
    return last


@njit(cache=True)
def _gains(
    residual: Any,
    down: Any,
    diagonals: Any,
    row: Any,
    top: float,
    diagonal: float,
    gains: Any,
    active: int,
) -> float:
    """Write twice the gain of a step with i for every j that can fall; return the largest."""
    best = 0.0
    for k in range(active):
        distance = _maximum(top - (residual[k] + down[k]), 0.0)
        curvature = diagonal + diagonals[k] - 2.0 * row[k]
        gain = distance * distance / (curvature if curvature > 0 else _TAU)
        gains[k] = gain
        best = _maximum(best, gain)
    return best


@njit(cache=True)
def _move(
    residual: Any,
    up: Any,
    row_i: Any,
    row_j: Any,
    change_i: float,
    change_j: float,
    active: int,
) -> float:
    """Update the residuals after two weights changed; return ``_highest``."""
    best = -np.inf
    for k in range(active):
        new = residual[k] - (row_i[k] * change_i + row_j[k] * change_j)
        residual[k] = new
        best = _maximum(best, new + up[k])
    return best


@njit(cache=True)
def _bound(bounded: Any, row: Any, weight: float, was: bool, now: bool) -> None:
    """Keep the part of the residuals that comes from weights at their bound."""
    if now and not was:
        for k in range(len(bounded)):
            bounded[k] -= weight * row[k]
    elif was and not now:
        for k in range(len(bounded)):
            bounded[k] += weight * row[k]


@njit(cache=True)
def _restore(rows: Any, num_swaps: int, state: Any, active: int) -> None:
    """Compute the residuals of inactive weights again, which steps did not update."""
    residual, up, down = state[_RESIDUAL], state[_UP], state[_DOWN]
    n = len(residual)
    if active == n:
        return
    for k in range(active, n):
        residual[k] = state[_BOUNDED, k] + state[_SIGN, k]
    for i in range(active):
        if up[i] == 0 and down[i] == 0:
            row, weight = _row(rows, num_swaps, i), state[_WEIGHT, i]
            for k in range(active, n):
                residual[k] -= weight * row[k]


@njit(cache=True)
def _shrink(
    state: Any, order: Any, swaps: Any, num_swaps: int, active: int, top: float, low: float
) -> Any:
    """Move weights that are likely to stay at a bound behind the active ones.

    Returns the number of active weights and of swaps.
    """
    k = 0
    while k < active:
        if _stays(state, k, top, low):
            active -= 1
            while active > k:
                if not _stays(state, active, top, low):
                    for row in range(len(state)):
                        state[row, k], state[row, active] = state[row, active], state[row, k]
                    order[k], order[active] = order[active], order[k]
                    swaps[num_swaps, 0], swaps[num_swaps, 1] = k, active
                    num_swaps += 1
                    break
                active -= 1
        k += 1
    return active, num_swaps


@njit(cache=True)
def _stays(state: Any, k: int, top: float, low: float) -> bool:
    """Return whether w_k is at a bound and its residual pushes it further."""
    residual = state[_RESIDUAL, k]
    return (state[_UP, k] < 0 and residual > top) or (state[_DOWN, k] > 0 and residual < low)


@njit(cache=True)
def _intercept(residual: Any, up: Any, down: Any) -> float:
    """Return the mean residual of the weights between their bounds, else the middle allowed."""
    total, free = 0.0, 0
    highest, lowest = -np.inf, np.inf
    for k in range(len(residual)):
        if up[k] < 0:
            lowest = min(lowest, residual[k])
        elif down[k] > 0:
            highest = max(highest, residual[k])
        else:
            total += residual[k]
            free += 1
    return total / free if free else (lowest + highest) / 2
