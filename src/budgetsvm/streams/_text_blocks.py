"""Lines of several text files, gathered into blocks that remember where they come from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from budgetsvm.streams import _blocks


@dataclass
class Piece:
    """Consecutive lines of one file, the first of which has the number `start`."""

    path: Path
    start: int
    lines: list[bytes] = field(default_factory=list)


TextBlock: TypeAlias = list[Piece]


def text_blocks(
    files: Iterable[tuple[Path, int, Iterator[bytes]]], rows: int, is_row: Callable[[bytes], bool]
) -> Iterator[TextBlock]:
    """Yield blocks of at most `rows` rows, and of bounded length; blocks run on over files.

    A file is its path, the number of its first line, and its lines. Lines that are no rows stay in
    the blocks, so that lines can be counted.
    """
    block: TextBlock = []
    n_rows = n_bytes = 0
    for path, start, lines in files:
        piece = Piece(path, start)
        block.append(piece)
        for number, line in enumerate(lines, start):
            piece.lines.append(line)
            n_bytes += len(line)
            n_rows += is_row(line)
            if n_rows == rows or n_bytes >= _blocks.BLOCK_BYTES:
                if n_rows > 0:
                    yield block
                piece = Piece(path, number + 1)
                block = [piece]
                n_rows = n_bytes = 0
    if n_rows > 0:
        yield block


def numbered(block: TextBlock) -> Iterator[tuple[str, bytes]]:
    """Yield every line of a block after words that say where it stands."""
    for piece in block:
        for number, line in enumerate(piece.lines, piece.start):
            yield f"{piece.path}, line {number}", line


def extent(block: TextBlock) -> str:
    """Say where a block stands."""
    pieces = [piece for piece in block if piece.lines]
    first, last = pieces[0], pieces[-1]
    end = last.start + len(last.lines) - 1
    if first is last:
        return f"{first.path}, lines {first.start} to {end}"
    return f"{first.path}, line {first.start} to {last.path}, line {end}"
