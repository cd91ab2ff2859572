"""A loader that takes too much memory is found, whoever asks for it, where malloc is counted."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from fuzz.loaders import Loader
from fuzz.memory import Meter, counted, counter
from fuzz.run import TIMES, Tally, try_file

_FILE = bytes(20_000)
_CONSTANT = 1 << 20
_LIMIT = TIMES * len(_FILE) + _CONSTANT


def _by_malloc(size: int) -> None:
    """Take memory as C and C++ do."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    libc.free(libc.malloc(ctypes.c_size_t(size)))


def _growing(size: int) -> None:
    text = bytearray()
    while len(text) < size:
        text += b"0123456789"


def _in_a_thread(size: int) -> None:
    thread = Thread(target=bytes, args=(size,))
    thread.start()
    thread.join()


def _refusing(size: int) -> None:
    held = bytes(size)
    message = f"{len(held)} bytes are too many"
    raise ValueError(message)


def _leaving(size: int) -> None:
    """Leave garbage, which is freed while the next file is read, and would hide what that takes."""
    ring = [bytearray(size)]
    ring.append(ring)  # type: ignore[arg-type]


_TAKERS: dict[str, Callable[[int], object]] = {
    "NumPy": lambda size: np.empty(size, np.uint8),
    "zeros that are never touched": lambda size: np.zeros(size, np.uint8),
    "small objects": lambda size: [bytes(467) for _ in range(size // 500)],
    "a string": lambda size: "x" * size,
    "what grows": _growing,
    "malloc": _by_malloc,
    "a thread": _in_a_thread,
    "what is refused": _refusing,
    "garbage": _leaving,
}


def _load(take: Callable[[int], object], size: int, path: Path) -> None:
    try:
        take(size)
    except ValueError as error:
        message = f"{path}: {error}"
        raise ValueError(message) from error


def _tell() -> None:
    """Print who is found with a little more than the limit, and who with less."""
    assert counter() is not None
    meter, path = Meter(), Path(sys.argv[1], "a")
    for name, take in _TAKERS.items():
        for size in (_LIMIT * 9 // 10, _LIMIT * 11 // 10) * 2:
            load = partial(_load, take, size)
            loader = Loader(load, lambda: [_FILE], constant=_CONSTANT)
            found = try_file(loader, _FILE, path, Tally(), meter) or ""
            print(name, "more" if size > _LIMIT else "less", "bytes of memory" in found, sep="|")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what is counted is the malloc of glibc")
def test_too_much_memory_is_found_by_whomever_it_is_taken(tmp_path: Path) -> None:
    environment = counted(tmp_path)
    if not environment:
        pytest.skip("there is no compiler, or no glibc")
    done = subprocess.run(
        [sys.executable, "-c", "from fuzz.test_memory import _tell; _tell()", str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
        env=os.environ | environment,
    )
    said = [line.split("|") for line in done.stdout.splitlines()]
    assert {name for name, _, _ in said} == set(_TAKERS)
    assert [
        (name, size) for name, size, found in said if (size == "more") != (found == "True")
    ] == []
