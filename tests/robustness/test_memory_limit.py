"""How much memory may be used by default: what is free counts only where there is little."""

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from budgetsvm._common import memory as _memory

GIB = float(1 << 30)
FIGURES = ("_machine", "_control_group", "_address_space")


def limit(monkeypatch: pytest.MonkeyPatch, **figures: float) -> float:
    for name in FIGURES:
        monkeypatch.setattr(_memory, name, lambda name=name: figures.get(name, float("inf")))
    return _memory.default_limit()


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


def fake(soft: int) -> Any:
    return SimpleNamespace(RLIMIT_AS=9, RLIM_INFINITY=-1, getrlimit=lambda _: (soft, -1))


def test_address_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_address_space_used", lambda: 3 * GIB)
    for module, left in (
        (None, float("inf")),  # as on Windows
        (fake(-1), float("inf")),
        (fake(5 << 30), 2 * GIB),
        (fake(1 << 30), 0.0),
    ):
        monkeypatch.setattr(_memory, "resource", module)
        assert _memory._address_space() == left


LIMITED = """
import json, resource, sys
import numpy as np
from budgetsvm import BudgetSVC
from budgetsvm._common import memory as _memory

used = _memory._address_space_used()
room = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (int(used) + room, resource.RLIM_INFINITY))
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 5))
limit = _memory.default_limit()
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
