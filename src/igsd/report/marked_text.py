"""``replace_between``: the part of a page that a command renders, between two markers."""

from __future__ import annotations

from igsd.errors import StorageError


def replace_between(text: str, begin: str, end: str, body: str) -> str:
    """Return ``text`` with ``body`` between the markers; raises ``StorageError`` without them.

    >>> replace_between("a <b> old </b> c", "<b>", "</b>", "new").splitlines()
    ['a <b>', 'new', '</b> c']
    """
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end or begin in rest or end in before + after:
        raise StorageError(f"The text must hold the lines {begin} and {end}, in this order, once.")
    return f"{before}{begin}\n{body}\n{end}{after}"
