"""``download``: a file over https, whole or not at all."""

import queue
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib import error, parse, request

from igsd.errors import DataError
from igsd.files.atomic import atomic_file

Progress = Callable[[int, int | None], None]
"""Called with the bytes done and the total bytes (None if the server does not say)."""

_CHUNK = 1 << 20
_LOCAL = ("127.0.0.1", "localhost", "::1")


class _OnlySafeRedirects(request.HTTPRedirectHandler):
    """Follow a redirect only to an address that is accepted by itself."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        _check_address(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def download(
    url: str,
    path: Path,
    *,
    progress: Progress | None = None,
    max_bytes: int = 2 * 1024**3,
    timeout: float = 30.0,
    max_seconds: float = 3600.0,
) -> None:
    """Download ``url`` to ``path``; on any failure nothing is left there.

    ``timeout``: seconds without a byte; ``max_seconds``: seconds in all, however steadily a server
    sends. Raises ``DataError`` for an address that is not https (plain http is accepted from this
    machine only), a server that cannot be reached or refuses, a transfer that ends early and one
    that is larger than ``max_bytes`` or takes longer than ``max_seconds``.
    """
    _check_address(url)
    deadline = time.monotonic() + max_seconds
    try:
        with _open(url, timeout, max_seconds) as answer, atomic_file(path) as file:
            declared = answer.headers.get("Content-Length")
            total = int(declared) if declared and declared.isdigit() else None
            done = 0
            while chunk := _read(answer, url):
                done += len(chunk)
                if max(done, total or 0) > max_bytes:
                    raise DataError(f"{url} is larger than {max_bytes} bytes, the limit.")
                if time.monotonic() > deadline:
                    raise DataError(_too_slow(url, max_seconds))
                file.write(chunk)
                if progress is not None:
                    progress(done, total)
            if total is not None and done != total:
                raise DataError(f"{url}: the transfer ended after {done} of {total} bytes.")
    except error.HTTPError as failure:
        raise DataError(
            f"{url} cannot be downloaded: {failure.code} {failure.reason}."
        ) from failure
    except (error.URLError, TimeoutError, HTTPException, ConnectionError) as failure:
        reason = getattr(failure, "reason", None) or failure
        raise DataError(f"{url} cannot be downloaded: {reason}.") from failure


def _open(url: str, timeout: float, max_seconds: float) -> Any:
    """Return the answer of a server once it has sent its header.

    A thread waits for it, since a server may send one byte of a header every few seconds, which no
    timeout of a socket notices.
    """
    opener = request.build_opener(_OnlySafeRedirects)
    wanted = request.Request(url, headers={"User-Agent": "igsd"})
    answers: queue.Queue[Any] = queue.Queue()

    def wait() -> None:
        try:
            answers.put(opener.open(wanted, timeout=timeout))
        except Exception as failure:
            answers.put(failure)

    threading.Thread(target=wait, daemon=True).start()
    try:
        answer = answers.get(timeout=max_seconds)
    except queue.Empty:
        raise DataError(_too_slow(url, max_seconds)) from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _too_slow(url: str, seconds: float) -> str:
    return f"{url} was not downloaded after {seconds:g} seconds, the limit. Try again later."


def _read(answer: Any, url: str) -> bytes:
    try:
        return answer.read1(_CHUNK)  # what has arrived, so that the clock is looked at
    except (OSError, HTTPException) as failure:
        raise DataError(f"{url}: the transfer was interrupted ({failure}). Try again.") from failure


def _check_address(url: str) -> None:
    parts = parse.urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOCAL):
        raise DataError(f"{url} cannot be downloaded: the address must begin with https://.")
