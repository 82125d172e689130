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
    ``redirect:``.
    """

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
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) - missing_bytes])

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
