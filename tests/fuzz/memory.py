"""The most memory that a call has held: exactly, and at hardly any cost, where malloc is counted; else by tracemalloc.

``counted`` gives the environment of a process in which a library of ours counts what malloc gives, to C++ as well as to
Python and NumPy; Python's own allocator, which keeps free memory to itself, is left out there. Not counted is what a
program maps by itself: stacks of threads, files.
"""

import ctypes
import gc
import os
import subprocess
import sys
import tracemalloc
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).with_name("counted_malloc.cpp")
_OPTIONS = ["-std=c++17", "-O2", "-shared", "-fPIC"]
_OPTIONS += ["-Wl,-z,defs"]  # fails where libc is not glibc


def counted(folder: Path) -> dict[str, str]:
    """Return the environment of a process that counts; without a compiler, or another libc than glibc, there is none."""
    library, compiler = folder / "counted_malloc.so", os.environ.get("CXX", "c++")
    command = [compiler, *_OPTIONS, str(_SOURCE), "-o", str(library)]
    if sys.platform == "linux":
        with suppress(OSError, subprocess.CalledProcessError):
            subprocess.run(command, check=True, capture_output=True)
            return {"LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc"}
    return {}


@cache
def counter() -> Any:
    """Return the library that counts in this process, or None."""
    try:
        library: Any = ctypes.CDLL(None)
        library.counted_malloc_begin.restype = library.counted_malloc_most.restype = ctypes.c_int64
    except (AttributeError, OSError, TypeError):  # the last of these on Windows
        return None
    return library


class Meter:
    """Measures one call at a time, again and again."""

    def __init__(self) -> None:
        """Take what there is by now for granted: to look for garbage among it would take long."""
        self._library, self._before = counter(), 0
        if self._library is not None:
            gc.collect()
            gc.freeze()

    def begin(self) -> None:
        """Measure from here on."""
        if self._library is None:
            tracemalloc.start()
            return
        gc.collect()  # what is freed later on would hide as much that is taken
        self._before = self._library.counted_malloc_begin()

    def end(self) -> int:
        """Return the most bytes since then, beyond what there was."""
        if self._library is not None:
            return int(self._library.counted_malloc_most() - self._before)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most
