"""A web server on this machine, for tests of downloads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def serving(pages: dict[str, bytes], *, missing_bytes: int = 0) -> Iterator[str]:
    """Yield the address of a server that has these pages.

    It breaks off ``missing_bytes`` before the end, and redirects a page whose content begins with
    ``redirect:``. The header of a page called ``/drips-header`` and the content of one called
    ``/drips`` are sent byte by byte, ten a second.
    """
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = pages.get(self.path)
            if content is None:
                self.send_error(404)
                return
            if content.startswith(b"redirect:"):
                self.send_response(302)
                self.send_header("Location", content.removeprefix(b"redirect:").decode())
                self.end_headers()
                return
            if self.path == "/drips-header":
                self.drip(b"HTTP/1.0 200 " + b"OK" * 1000)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.path == "/drips":
                self.drip(content)
            self.wfile.write(content[: len(content) - missing_bytes])

        def drip(self, content: bytes) -> None:
            with contextlib.suppress(OSError):
                for byte in content:
                    if stopped.wait(0.1):
                        return
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
