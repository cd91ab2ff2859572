"""The memory of a worker: what there is room for, and what Dask is told that our results take.

Dask writes results to disk where they take more than 0.6 of a worker's limit together. It does not count what the process
takes before there is any: some 200 MB for Python and its libraries, which is half of a small worker. Results would fill the
rest of it, and within the tenth of a second between two looks at what the process really takes, the worker would be ended.
So bytes count for more than they are, by as much as leaves that room free.
"""

from contextlib import suppress

import psutil
from distributed import get_worker

from budgetsvm._common.memory import default_limit

# Of a worker's limit, what may be taken before kernel values are not kept any more, and where Dask writes results to disk.
_KEPT, _ON_DISK = 0.5, 0.6
_MOST = 8.0  # times what they are, that bytes count for

_before = psutil.Process().memory_info().rss  # any result of ours
_known: list[float | None] = [None]  # the limit, as the last task found it


def room(limit: float | None) -> float:
    """Return the bytes that there is room for on this worker, and by a limit of kernel values."""
    free, own = default_limit(), _limit()
    if own is not None:
        free = min(free, _KEPT * own - psutil.Process().memory_info().rss)
    if limit is not None:
        free = min(free, limit)
    return max(0.0, free)


def counted(n_bytes: float) -> int:
    """Return what Dask should count so many bytes for."""
    own = _limit()
    if own is None:
        return int(n_bytes)
    left = 1 - _before / (_ON_DISK * own)
    return int(n_bytes / max(left, 1 / _MOST))


def _limit() -> float | None:
    """Return the limit of this worker; results are also sized where no task runs, by what the last one found."""
    with suppress(ValueError, AttributeError):  # no task, or no worker at all, as in a test
        _known[0] = get_worker().memory_manager.memory_limit
    return _known[0]
