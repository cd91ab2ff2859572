"""A small HTTP server on this machine, as good or as bad as a test wants it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class FileServer:
    """Files by their path, and what is wrong with the server."""

    files: dict[str, bytes]
    url: str = ""
    knows_ranges: bool = True
    says_length: bool = True
    cuts: list[int] = field(default_factory=list)  #: send so many bytes only, one per request
    wrong_start: int = 0  #: added to the start of the part that is sent
    status: int = 200  #: any other one is all that is sent
    requests: list[tuple[str, str | None]] = field(default_factory=list)  #: path and range

    def answer(self, request: "_Handler") -> None:
        wanted = request.headers.get("Range")
        self.requests.append((request.path, wanted))
        body = self.files.get(request.path)
        if self.status != 200 or body is None:
            request.send_error(self.status if body is not None else 404)
            return
        start = 0
        if wanted is not None and self.knows_ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) + self.wrong_start
            if start >= len(body):
                request.send_response(416)
                request.send_header("Content-Range", f"bytes */{len(body)}")
                request.send_header("Content-Length", "0")
                request.end_headers()
                return
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            request.send_response(200)
        if self.says_length:
            request.send_header("Content-Length", str(len(body) - start))
        request.end_headers()
        rest = body[start:]
        request.wfile.write(rest[: self.cuts.pop(0)] if self.cuts else rest)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.behaviour.answer(self)  # type: ignore[attr-defined]

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


@contextmanager
def serve(files: dict[str, bytes]) -> Iterator[FileServer]:
    """Run a server on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    behaviour = FileServer(files, f"http://127.0.0.1:{server.server_port}")
    server.behaviour = behaviour  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield behaviour
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
