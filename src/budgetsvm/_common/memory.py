"""How much memory may be used."""

import os
from contextlib import suppress
from pathlib import Path
from types import ModuleType

resource: ModuleType | None = None
with suppress(ImportError):  # not on Windows
    import resource

_UNKNOWN = float(2 << 30)
_LEAST = float(1 << 20)

#: Bytes that kernel values may take where nobody says otherwise. How a problem is solved depends on it, and with
#: that the last digits of the result: so it is the same on all machines.
LARGEST_LIMIT = float(8 << 30)


def default_limit() -> float:
    """Return the bytes that there is room for: all that may be used, or half of what is free if that is less."""
    free = min(_machine(), _control_group(), _address_space())
    return max(_LEAST, min(LARGEST_LIMIT, 0.5 * free))


def _machine() -> float:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * float(line.split()[1])
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return _UNKNOWN


def _control_group() -> float:
    """Return what a container may still use; infinity where nothing limits it."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = (folder / "memory.current").read_text(encoding="ascii").strip()
        return max(0.0, float(limit) - float(used)) if limit != "max" else float("inf")
    except (OSError, ValueError):
        return float("inf")


def _address_space() -> float:
    """Return what is left of the address space (``ulimit -v``); infinity where nothing limits it."""
    if resource is None:
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return max(0.0, float(limit) - _address_space_used())


def _address_space_used() -> float:
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        return float(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
