"""What travels: rounds, and bytes of numbers."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from budgetsvm._common.public import public_in


@public_in("budgetsvm.distributed")
@dataclass
class Traffic:
    """What a fit has asked of a cluster, as `traffic_` of a distributed estimator has it.

    Attributes
    ----------
    rounds : int
        How often all partitions, or those that had something to contribute, were asked for something.
    sent, received : int
        Bytes of numbers from the client to the workers, and back; not what Dask adds to them, nor the data themselves.

    Examples
    --------
    >>> from budgetsvm.distributed import Traffic
    >>> Traffic(rounds=2, sent=1000, received=24)
    Traffic(rounds=2, sent=1000, received=24)
    """

    rounds: int = 0
    sent: int = 0
    received: int = 0


def size_of(value: Any) -> int:
    """Return the bytes of numbers in what is sent or received; futures have none."""
    if isinstance(value, tuple | list):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    if sparse.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if is_dataclass(value) and not isinstance(value, type):
        return sum(size_of(getattr(value, field.name)) for field in fields(value))
    return int(value.nbytes) if isinstance(value, np.ndarray) else 0
