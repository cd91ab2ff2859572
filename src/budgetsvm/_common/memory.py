"""How much memory may be used."""

from pathlib import Path

import psutil

_UNKNOWN = float(2 << 30)
_LEAST = float(1 << 20)

#: Bytes that kernel values may take where nobody says otherwise. How a problem is solved depends on it, and with
#: that the last digits of the result: so it is the same on all machines.
LARGEST_LIMIT = float(8 << 30)


def default_limit() -> float:
    """Return the bytes that there is room for: all that may be used, or half of what is free if that is less."""
    return max(_LEAST, min(LARGEST_LIMIT, 0.5 * free()))


def free() -> float:
    """Return the bytes that may still be used."""
    return min(_machine(), _control_group(), _address_space())


def _machine() -> float:
    try:
        return float(psutil.virtual_memory().available)
    except (OSError, RuntimeError):  # as where /proc is hidden
        return _UNKNOWN


def _control_group() -> float:
    """Return what a container may still use, which psutil does not tell; infinity where nothing limits it."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = (folder / "memory.current").read_text(encoding="ascii").strip()
        return max(0.0, float(limit) - float(used)) if limit != "max" else float("inf")
    except (OSError, ValueError):
        return float("inf")


def _address_space() -> float:
    """Return what is left of the address space (``ulimit -v``); infinity where nothing limits it."""
    if not hasattr(psutil, "RLIMIT_AS"):  # the system does not enforce it
        return float("inf")
    try:
        process = psutil.Process()
        limit = process.rlimit(psutil.RLIMIT_AS)[0]
        if limit == psutil.RLIM_INFINITY:
            return float("inf")
        return max(0.0, float(limit - process.memory_info().vms))
    except (OSError, psutil.Error):
        return float("inf")
