"""``kept_memory``: freed buffers stay with the process while it trains."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

# Numbers of glibc's malloc.h; its default for the first is 128 KiB, and the largest that it takes
# for the second is 32 MiB.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_DEFAULT, _LARGEST, _NEVER = 128 * 2**10, 32 * 2**20, 2**31 - 1


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed buffers for reuse inside the block, and give them back to the system after it.

    Every step of training needs buffers of the same few megabytes. By default the C library
    returns each of them at once and the system must clear new pages for the next, thousands a step.
    Where the C library is not glibc, nothing happens. No result depends on this.
    """
    library = _glibc()
    if library is None:
        yield
        return
    library.mallopt(_MMAP_THRESHOLD, _LARGEST)
    library.mallopt(_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        library.mallopt(_TRIM_THRESHOLD, _DEFAULT)
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library of this process if it is glibc."""
    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
    except (OSError, TypeError):
        return None
