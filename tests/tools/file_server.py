"""A small HTTP server on this machine, as good or as bad as a test wants it."""

import socket
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
    says_length: bool = True
    cuts: list[int] = field(default_factory=list)  #: send so many bytes only, one per request
    status: int = 200  #: any other one is all that is sent
    requests: list[str] = field(default_factory=list)  #: their paths

    def answer(self, request: "_Handler") -> None:
        self.requests.append(request.path)
        body = self.files.get(request.path)
        if self.status != 200 or body is None:
            request.send_error(self.status if body is not None else 404)
            return
        request.send_response(200)
        if self.says_length:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)


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


def closed_port() -> str:
    """The address of a server that is not there."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"
