"""How much memory may be used."""

import os
from pathlib import Path

_UNKNOWN = float(2 << 30)


def default_limit() -> float:
    """Return half of the memory that the machine, or our control group, has free, in bytes."""
    return 0.5 * min(_machine(), _control_group())


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
