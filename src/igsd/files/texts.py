"""``Texts``: many texts as one array of bytes and where each begins, as igsd files hold them."""

import contextlib
import itertools
from collections.abc import Iterable, Sequence
from typing import Self, overload

import numpy as np


class Texts(Sequence[str]):
    """Many texts as their bytes, one after the other; one is decoded when it is asked for.

    ``data`` uint8, ``bounds`` [n + 1] int64: text i is ``data[bounds[i]:bounds[i + 1]]``.

    >>> Texts.of(["C", "CCO", ""])[1]
    'CCO'
    """

    def __init__(self, data: np.ndarray, bounds: np.ndarray) -> None:
        self.data, self.bounds = data, bounds

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return texts as bytes; a lone surrogate, which has none, becomes its escape."""
        encoded = [text.encode(errors="backslashreplace") for text in texts]
        lengths = np.array([0, *(len(text) for text in encoded)], np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return self.data[self.bounds[place] : self.bounds[place + 1]].tobytes().decode()

    @property
    def is_utf8(self) -> bool:
        """Whether each text is UTF-8: all bytes together, and none begins inside a character."""
        starts = self.bounds[:-1][np.diff(self.bounds) > 0]
        first = self.data[starts[(starts >= 0) & (starts < len(self.data))]]
        with contextlib.suppress(UnicodeDecodeError):
            self.data.tobytes().decode()
            return not ((first & 0xC0) == 0x80).any()
        return False

    def __contains__(self, value: object) -> bool:
        with contextlib.suppress(ValueError):
            return isinstance(value, str) and self.index(value) >= 0
        return False

    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        """Return the first place of a text; raises ``ValueError`` if it is not there."""
        wanted = np.frombuffer(value.encode(errors="backslashreplace"), np.uint8)
        places = np.arange(*slice(start, stop).indices(len(self)))
        places = places[np.diff(self.bounds)[places] == len(wanted)]
        for column, byte in enumerate(wanted):
            places = places[self.data[self.bounds[places] + column] == byte]
        if not len(places):
            raise ValueError(f"{value!r} is not among the texts")
        return int(places[0])

    def decoded(self) -> tuple[str, ...]:
        """Return all texts."""
        raw, bounds = self.data.tobytes(), self.bounds.tolist()
        return tuple(raw[a:b].decode() for a, b in itertools.pairwise(bounds))
