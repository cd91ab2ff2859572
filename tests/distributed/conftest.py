"""A cluster in this process, for all tests of this folder."""

from collections.abc import Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")


def small_cluster(n_workers: int, **options: Any) -> Any:
    """Return a client of workers with one thread each, on this machine alone."""
    return distributed.Client(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any port: that of the dashboard may be taken
        **{"processes": False, **options},
    )


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    with small_cluster(2) as client:
        yield client


@pytest.fixture
def make_client() -> Any:
    return small_cluster


@pytest.fixture(autouse=True, scope="session")
def _partitions_stay_apart() -> Iterator[None]:
    """Small partitions are joined, and these are small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("budgetsvm.distributed._input._CELL_VALUES", 0.0)
        yield
