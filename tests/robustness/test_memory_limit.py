"""How much memory may be used by default: what is free counts only where there is little."""

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from budgetsvm._common import memory

GIB = float(1 << 30)
FIGURES = ("_machine", "_control_group", "_address_space")


def limit(monkeypatch: pytest.MonkeyPatch, **figures: float) -> float:
    for name in FIGURES:
        monkeypatch.setattr(memory, name, lambda name=name: figures.get(name, float("inf")))
    return memory.default_limit()


@pytest.mark.parametrize("free", [16, 17.3, 100, 5000, float("inf")])
def test_enough_is_enough(monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    """The same for all machines with enough, so that a seed alone reproduces a fit."""
    assert limit(monkeypatch, _machine=free * GIB) == 8 * GIB


@pytest.mark.parametrize("scarce", FIGURES)
@pytest.mark.parametrize("free", [15.9, 2.0, 0.1])
def test_half_of_what_is_scarce(monkeypatch: pytest.MonkeyPatch, scarce: str, free: float) -> None:
    figures = dict.fromkeys(FIGURES, 64 * GIB) | {scarce: free * GIB}
    assert limit(monkeypatch, **figures) == free * GIB / 2


@pytest.mark.parametrize("scarce", FIGURES)
def test_it_is_never_nothing(monkeypatch: pytest.MonkeyPatch, scarce: str) -> None:
    assert limit(monkeypatch, **{scarce: 0.0}) > 0


class FakeProcess:
    """A process that uses 3 GiB of address space, and may use `soft` bytes."""

    soft = -1

    def rlimit(self, _: int) -> tuple[int, int]:
        return self.soft, -1

    def memory_info(self) -> Any:
        return SimpleNamespace(vms=3 << 30)


def fake(soft: int, **names: int) -> Any:
    process = type("Process", (FakeProcess,), {"soft": soft})
    return SimpleNamespace(Process=process, Error=psutil.Error, RLIM_INFINITY=-1, **names)


def test_address_space(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, left in (
        (fake(1 << 30), float("inf")),  # as on Windows
        (fake(-1, RLIMIT_AS=9), float("inf")),
        (fake(5 << 30, RLIMIT_AS=9), 2 * GIB),
        (fake(1 << 30, RLIMIT_AS=9), 0.0),
    ):
        monkeypatch.setattr(memory, "psutil", module)
        assert memory._address_space() == left


LIMITED = """
import json, resource, sys
import numpy as np
import psutil
from budgetsvm import BudgetSVC
from budgetsvm._common import memory

used = psutil.Process().memory_info().vms
room = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (int(used) + room, resource.RLIM_INFINITY))
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 5))
limit = memory.default_limit()
# Its kernel values alone would take 400 MB.
model = BudgetSVC(budget=500, epochs=0.02, gamma=0.3, random_state=0, n_jobs=1, max_passes=30)
try:
    model.fit(X, X[:, 0] * X[:, 1] > 0)
    answer = "fitted"
except MemoryError:
    answer = "MemoryError"
print(json.dumps([used, limit, answer]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits that the system enforces")
@pytest.mark.filterwarnings("ignore")
def test_a_limit_of_the_system() -> None:
    """`ulimit -v` is respected: kernel values take half of what is left of it at most."""
    room = 400 << 20
    command = [sys.executable, "-W", "ignore", "-c", LIMITED, str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    used, limit, answer = json.loads(done.stdout)
    assert used > 50e6
    assert 10e6 < limit <= room / 2
    assert answer == "fitted"
