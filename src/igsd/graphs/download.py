"""``download``: one file over https into one file on disk, whole or not at all."""

from __future__ import annotations

import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import IO, Any

from igsd.atomic_file import atomic_file
from igsd.errors import DataError

Progress = Callable[[int, int | None], None]
"""Called with the bytes done and the bytes in all (None where the server does not say)."""

MAX_BYTES = 2 * 1024**3
"""Largest download, in bytes."""

_TIMEOUT = 30.0
_PIECE = 1 << 20
_LOCAL = ("127.0.0.1", "localhost", "::1")


class _OnlySafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follow a redirect only to a place that could have been asked in the first place."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str,
    path: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    max_bytes: int = MAX_BYTES,
    timeout: float = _TIMEOUT,
) -> None:
    """Write what stands at ``url`` to ``path``; on any failure nothing is left there.

    Raises ``DataError`` for an address that is not https (plain http is accepted from this machine
    only), a server that cannot be reached or refuses, a transfer that ends early and one that is
    larger than ``max_bytes``.
    """
    _check_address(url)
    opener = urllib.request.build_opener(_OnlySafeRedirects)
    request = urllib.request.Request(url, headers={"User-Agent": "igsd"})
    try:
        with opener.open(request, timeout=timeout) as answer, atomic_file(path) as file:
            _copy(answer, file, url, progress, max_bytes)
    except urllib.error.HTTPError as error:
        raise DataError(f"{url} cannot be downloaded: {error.code} {error.reason}.") from error
    except (urllib.error.URLError, TimeoutError, HTTPException, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{url} cannot be downloaded: {reason}.") from error


def _copy(
    answer: Any, file: IO[bytes], url: str, progress: Progress | None, max_bytes: int
) -> None:
    """Copy the answer piece by piece, watching its size."""
    declared = answer.headers.get("Content-Length")
    total = int(declared) if declared and declared.isdigit() else None
    done = 0
    while piece := _read(answer, url):
        done += len(piece)
        if max(done, total or 0) > max_bytes:
            raise DataError(f"{url} is larger than {max_bytes} bytes, the limit for a download.")
        file.write(piece)
        if progress is not None:
            progress(done, total)
    if total is not None and done != total:
        raise DataError(f"{url}: the transfer ended after {done} of {total} bytes. Try again.")


def _read(answer: Any, url: str) -> bytes:
    """Return the next piece; a network failure is told apart from one of the disk."""
    try:
        return answer.read(_PIECE)
    except (OSError, HTTPException) as error:
        raise DataError(f"{url}: the transfer was broken off ({error}). Try again.") from error


def _check_address(url: str) -> None:
    """Raise ``DataError`` unless the address is https, or http on this machine."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOCAL):
        raise DataError(f"{url} cannot be downloaded: the address must begin with https://.")
