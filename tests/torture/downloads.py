"""Downloads from a local server that misbehaves: a sentence in time, and nothing kept."""

from __future__ import annotations

import contextlib
import os
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

from tests.torture.attack import Attack, Batch, Row, fault_of
from tests.torture.materials import write_materials

_SLOW = 12.0


class _Server(BaseHTTPRequestHandler):
    """Answers as the first part of the path says."""

    toy = b""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        with contextlib.suppress(OSError):
            getattr(self, f"do_{self.path.split('/')[1]}")()
        self.close_connection = True

    def log_message(self, *args: Any) -> None:
        pass

    def _start(self, code: int = 200, length: object = None, **headers: str) -> None:
        self.send_response(code)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()

    def _send(self, body: bytes, code: int = 200, length: object = None) -> None:
        self._start(code, len(body) if length is None else length)
        self.wfile.write(body)

    def do_missing(self) -> None:
        self._send(b"", 404)

    def do_broken(self) -> None:
        self._send(b"", 500)

    def do_empty(self) -> None:
        self._send(b"")

    def do_page(self) -> None:
        self._send(b"<html>Please log in</html>")

    def do_other(self) -> None:
        self._send(self.toy)

    def do_short(self) -> None:
        self._send(self.toy[:-50], length=len(self.toy))

    def do_cut(self) -> None:
        self._send(self.toy[:-50])

    def do_long(self) -> None:
        self._send(self.toy + b"x" * 1000, length=len(self.toy))

    def do_negative(self) -> None:
        self._send(self.toy, length=-5)

    def do_huge(self) -> None:
        self._send(b"x", length=10**15)

    def do_odd_length(self) -> None:
        self._send(b"x", length="many")

    def do_endless(self) -> None:
        self._start()
        while True:
            self.wfile.write(bytes(1 << 20))

    def do_slow(self) -> None:
        self._start(length=10**6)
        for _ in range(10**4):
            self.wfile.write(b"x")
            time.sleep(0.5)

    def do_silent(self) -> None:
        time.sleep(90)

    def do_loop(self) -> None:
        self._start(302, 0, Location=self.path)

    def do_file(self) -> None:
        self._start(302, 0, Location="file:///etc/passwd")

    def do_plain(self) -> None:
        self._start(302, 0, Location="http://example.org/x.zip")

    def do_nowhere(self) -> None:
        self._start(302, 0, Location="")

    def do_headers(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n")

    def do_line(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10**6)

    def do_noise(self) -> None:
        self.wfile.write(os.urandom(4096))

    def do_chunks(self) -> None:
        self._start(**{"Transfer-Encoding": "chunked"})
        self.wfile.write(b"zz\r\nnot a length\r\n")

    def do_reset(self) -> None:
        self._start(length=10**6)
        self.wfile.write(b"x" * 1000)
        self.connection.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SO_LINGER: a reset
        self.connection.close()


BEHAVIOURS = sorted(name.removeprefix("do_") for name in vars(_Server) if name.startswith("do_"))
BEHAVIOURS.remove("GET")


@contextlib.contextmanager
def server(toy: bytes) -> Iterator[str]:
    """Serve on this machine and yield the address."""
    _Server.toy = toy
    socketserver.TCPServer.allow_reuse_address = True
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as running:
        running.daemon_threads, running.block_on_close = True, False
        threading.Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}"
        finally:
            running.shutdown()


def fetch(site: str, behaviour: str, folder: Path) -> str | None:
    """Return the fault of using a data set that is downloaded; runs in a batch.

    The limits on size and time are made small, so that the attack does not last as long as they.
    """
    from igsd.graphs import datasets, download

    os.environ["IGSD_CACHE"] = str(folder)
    small = {"max_bytes": 50 * 2**20, "timeout": 3.0, "max_seconds": _SLOW}
    known = download.download.__kwdefaults__ or {}
    limits = {key: value for key, value in small.items() if key in known}
    with (
        mock.patch.object(datasets, "TU_SITE", f"{site}/{behaviour}"),
        mock.patch.dict(known, limits),
    ):
        fault = fault_of(["data", "show", "NCI1"], codes=(2,))
    kept = [path.name for path in folder.rglob("*") if path.is_file()]
    return fault or (f"kept: {kept}" if kept else None)


def rows(attack: Attack) -> Iterator[Row]:
    """Yield one row for every behaviour of the server."""
    materials, folder = write_materials(attack), attack.place("downloads")
    row = Row("downloads from a misbehaving server")
    uses: Callable[..., str | None] = fetch
    with server((materials / "TOY.zip").read_bytes()) as site, Batch(folder, patience=60) as batch:
        for behaviour in BEHAVIOURS:
            row.count(batch.run(uses, site, behaviour, folder / behaviour), behaviour)
    yield row
