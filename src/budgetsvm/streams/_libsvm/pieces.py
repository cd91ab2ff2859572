"""A LIBSVM file, parsed piece by piece; what is wrong with it is told with its line and column."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from budgetsvm.streams._libsvm.flaws import find_flaw
from budgetsvm.streams._libsvm.parse import Parsed, parse
from budgetsvm.streams._text import read_pieces


@dataclass(frozen=True, eq=False)
class Piece:
    """Whole lines of a file, parsed."""

    path: Path
    text: bytes
    line: int  #: number of the first
    rows: Parsed
    first: int
    n_features: int

    @property
    def size(self) -> int:
        """How long the text is."""
        return len(self.text)

    def check(self) -> None:
        """Raise a ValueError that says where the first fault is, and what, if there is one."""
        at = self.rows.fault
        if at is None:
            return
        start = self.text.rfind(b"\n", 0, at) + 1
        end = self.text.find(b"\n", at)
        line = self.text[start : end if end >= 0 else None]
        flaw = find_flaw(line, self.first, self.n_features) or "this is no row"
        number = self.line + self.text.count(b"\n", 0, at)
        message = f"{self.path}, line {number}, column {at - start + 1}: {flaw}"
        raise ValueError(message)


def parsed_pieces(
    path: Path,
    first: int,
    n_features: int,
    size: int,
    *,
    n_threads: int = 1,
) -> Iterator[Piece]:
    """Yield all pieces of a file in their order, parsed by threads."""
    waiting: deque[tuple[bytes, int, Future[Parsed] | Parsed]] = deque()

    def finished() -> Piece:
        text, line, rows = waiting.popleft()
        rows = rows.result() if isinstance(rows, Future) else rows
        return Piece(path, text, line, rows, first, n_features)

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(n_threads)) if n_threads > 1 else None
        for line, text in read_pieces(path, size):
            if pool is None:
                rows: Future[Parsed] | Parsed = parse(text, first, n_features)
            else:
                rows = pool.submit(parse, text, first, n_features)
            waiting.append((text, line, rows))
            if len(waiting) >= n_threads:
                yield finished()
        while waiting:
            yield finished()
