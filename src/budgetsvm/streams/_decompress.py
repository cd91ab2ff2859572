"""Compressed files to their last byte: all streams of a file, and nothing else behind them.

Python's own readers of bzip2, xz and Zstandard files stop without a word where something follows a stream that is none,
as in a file that was damaged, or written over in part.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PIECE = 1 << 16  # bytes that are decompressed at once
# Between the streams of an xz file, and behind them: its format has it so.
_PADDING = {"xz": b"\0"}


class Streams(io.RawIOBase):
    """What is in a file that consists of compressed streams, one after the other."""

    def __init__(self, path: Path, kind: str, make: Callable[[], Any]) -> None:
        """Open a file; `make` makes what decompresses a stream: that of bz2, lzma or zstd, which have one interface."""
        super().__init__()
        self._file, self._kind, self._make = path.open("rb"), kind, make
        self._decompressor = make()

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, in part at least; 0 at the end."""
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _read(self, size: int) -> bytes:
        while True:
            if self._decompressor.eof:
                more = self._next_stream()
                if not more:
                    return b""
            elif self._decompressor.needs_input:
                more = self._file.read(_PIECE)
                if not more:
                    raise EOFError("it ends within a stream")
            else:
                more = b""
            data: bytes = self._decompressor.decompress(more, size)
            if data:
                return data

    def _next_stream(self) -> bytes:
        """Begin a new stream where one has ended; returns its first bytes, or none at the end of the file."""
        padding = _PADDING.get(self._kind, b"")
        more: bytes = self._decompressor.unused_data
        more = more.lstrip(padding) if padding else more
        while not more:
            piece = self._file.read(_PIECE)
            if not piece:
                return b""
            more = piece.lstrip(padding) if padding else piece
        self._decompressor = self._make()
        return more

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        finally:
            super().close()
