"""The peak of this process's memory, from a moment on; and memory that is not given back."""

import ctypes
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_FORGET = Path("/proc/self/clear_refs")
_TRIM_THRESHOLD, _MOST_MAPPED = -1, -4  # of mallopt


def keep_memory() -> bool:
    """Let this process keep the memory that it has had; returns whether that is possible, as with the GNU library.

    Where a virtual machine has to find memory anew, that takes seconds for each gigabyte, and as many as it likes.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return set_option is not None and all(
        set_option(name, value) for name, value in ((_MOST_MAPPED, 0), (_TRIM_THRESHOLD, 2**31 - 1))
    )


class PeakMemory:
    """Counts from its creation. Meant for a fresh process: memory that was freed may be used again."""

    def __init__(self) -> None:
        _forget_peak()
        self._before = _resident()

    def bytes(self) -> int | None:
        """Return by how much the largest use exceeded the first one; None where nobody knows."""
        after = _peak()
        return None if self._before is None or after is None else max(0, after - self._before)


def _resident() -> int | None:
    """Return the present use; without /proc the peak so far stands in for it."""
    return _field("VmRSS") if _STATUS.exists() else _peak()


def _peak() -> int | None:
    """Return the largest use.

    Not from getrusage on Linux: there, a process begins with the peak of the one that started it.
    """
    if _STATUS.exists():
        return _field("VmHWM")
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _forget_peak() -> None:
    """Let the peak begin anew, where the system can: reading the data may have had a higher one."""
    try:
        _FORGET.write_text("5", encoding="ascii")
    except OSError:
        return


def _field(name: str) -> int | None:
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    return None
