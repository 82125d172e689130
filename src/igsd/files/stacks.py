"""``Stack`` and ``TextStack``: one column whose rows lie in several files, read when needed."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from igsd.files.arrays import Stacked


class Stack(np.lib.mixins.NDArrayOperatorsMixin):
    """The rows of several arrays, one after the other, like one array that is read-only.

    Some rows (``stack[rows]``, ``stack[3:9]``) are copied from the arrays that hold them. For
    everything else, such as ``stack.max()`` or ``stack + 1``, the whole column is read into memory
    and freed again.

    ``lengths``: rows of each part. ``read(part)``: its array, which may be longer. ``shifts``:
    added to the numbers of each part, as pointers need it.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        width: tuple[int, ...],
        lengths: Sequence[int],
        read: Callable[[int], np.ndarray],
        shifts: Sequence[int] | None = None,
    ) -> None:
        self.dtype, self._read, self._shifts = dtype, read, shifts
        self._starts = np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))])
        self.shape = (int(self._starts[-1]), *width)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, *others = key
            is_one = not isinstance(rows, slice) and np.ndim(rows) == 0
            return self[rows][tuple(others) if is_one else (slice(None), *others)]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self._span(start, stop) if step == 1 else self[np.arange(start, stop, step)]
        index = np.asarray(key)
        if index.dtype == bool:
            index = np.flatnonzero(index)
        index = np.where(index < 0, index + len(self), index)
        if index.size and (index.min() < 0 or index.max() >= len(self)):
            raise IndexError(f"a row is out of range: there are {len(self)}")
        return self._rows(index.reshape(-1)).reshape((*index.shape, *self.shape[1:]))[()]

    def _rows(self, index: np.ndarray) -> np.ndarray:
        part = np.searchsorted(self._starts, index, side="right") - 1
        # Many parts may be empty of rows that are asked for; most often all rows lie in a few.
        used = np.flatnonzero(np.bincount(part)).tolist() if len(part) else []
        taken = np.empty((len(index), *self.shape[1:]), self.dtype)
        for number in used:
            here = slice(None) if len(used) == 1 else part == number
            taken[here] = self._read(number)[index[here] - self._starts[number]]
            if self._shifts is not None:
                taken[here] += self._shifts[number]
        return taken

    def _span(self, start: int, stop: int) -> np.ndarray:
        found = []
        for number in range(len(self._starts) - 1):
            low, high = self._starts[number], self._starts[number + 1]
            if low < stop and high > start:
                found.append(self._part(number, max(start - low, 0), min(stop, high) - low))
        if not found:
            return np.empty((0, *self.shape[1:]), self.dtype)
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _part(self, number: int, start: int, stop: int) -> np.ndarray:
        rows = self._read(number)[start:stop]
        return rows if self._shifts is None else rows + self._shifts[number]

    def parts(self) -> Iterator[np.ndarray]:
        """Yield the rows of one part after the other."""
        for number, length in enumerate(np.diff(self._starts).tolist()):
            yield self._part(number, 0, length)

    def stacked(self) -> Stacked:
        """Return what ``write_arrays`` writes part by part."""
        return Stacked(self.dtype, self.shape, self.parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        whole = np.concatenate(list(self.parts()))
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(value) if isinstance(value, Stack) else value for value in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


class TextStack(Sequence[str]):
    """The texts of several files, one after the other; one is read when it is asked for.

    ``lengths``: texts of each part. ``read(part)``: its texts. ``repr`` is that of a tuple.
    """

    def __init__(self, lengths: Sequence[int], read: Callable[[int], Sequence[str]]) -> None:
        self._starts, self._read = [0, *np.cumsum(lengths).tolist()], read

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        place = range(len(self))[place]
        part = bisect_right(self._starts, place) - 1
        return self._read(part)[place - self._starts[part]]

    def __iter__(self) -> Iterator[str]:
        for part in range(len(self._starts) - 1):
            yield from self._read(part)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))
