"""Memory: how much may be used by default, and that a fit keeps to its limit."""

import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from oracles.problems import noisy_xor
from scipy import sparse
from tools.machines import make

from budgetsvm._common import memory

# ---- the default: what is free counts only where there is little ----


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


SYSTEM_LIMIT_SCRIPT = """
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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs limits that the system enforces")
@pytest.mark.filterwarnings("ignore")
def test_a_limit_of_the_system() -> None:
    """`ulimit -v` is respected: kernel values take half of what is left of it at most."""
    room = 400 << 20
    command = [sys.executable, "-W", "ignore", "-c", SYSTEM_LIMIT_SCRIPT, str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    used, limit, answer = json.loads(done.stdout)
    assert used > 50e6
    assert 10e6 < limit <= room / 2
    assert answer == "fitted"


DEFAULT_LIMIT_SCRIPT = """
import resource
import numpy as np
from sklearn.datasets import make_moons
from budgetsvm import BudgetSVC
X, y = make_moons(60_000, noise=0.2, random_state=0)
model = BudgetSVC(gamma=100.0, budget=500, epochs=0.2, random_state=0, n_jobs=1)
model.set_params(budget=20).fit(X, y).set_params(budget=500)  # all libraries are there now
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)
print(model.fit(X, y).score(X, y) > 0.9)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")
def test_the_default_limit_respects_that_of_the_process() -> None:
    assert hasattr(pytest.importorskip("resource"), "RLIMIT_AS")
    done = subprocess.run(
        [sys.executable, "-c", DEFAULT_LIMIT_SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "True", done.stderr[-2000:]


# ---- of a fit ----


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("limit", [1.0, 3e4, 1e6])
def test_little_memory_gives_the_same_objective(limit: float, form: str) -> None:
    X, y = noisy_xor(6000, 14)
    data = sparse.csr_array(X) if form == "csr" else X
    options: dict[str, Any] = {"basis": X[:40], "budget": 40, "tol": 1e-3}
    held = make(memory_limit=1e9, **options).fit(data, y)
    little = make(memory_limit=limit, **options).fit(data, y)
    assert little.converged_
    assert little.objective_[0] == pytest.approx(held.objective_[0], rel=1e-3)


MEMORY_SCRIPT = """
import json, re, sys
from pathlib import Path
import numpy as np
from budgetsvm import BudgetSVC
limit = float(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 5)).astype(np.float32)
y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(len(X)) > 0, 1, 0)
def peak():  # not ru_maxrss, which a new process has from its parent
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])
model = BudgetSVC(gamma=0.3, budget=200, basis="random", random_state=0, memory_limit=limit)
model.set_params(tol=0.05, n_jobs=2)
model.fit(X[:3000], y[:3000])  # libraries, threads, heaps
before = peak()
model.fit(X, y)
print(json.dumps([before, peak(), model.objective_[0], model.converged_]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_within_the_limit() -> None:
    """Kernel values would take 160 MB. Vectors of n numbers, and work space, come on top."""

    def fit(limit: float) -> tuple[float, float]:
        done = subprocess.run(
            [sys.executable, "-c", MEMORY_SCRIPT, str(limit)],
            capture_output=True,
            text=True,
            check=True,
        )
        before, after, primal, converged = json.loads(done.stdout)
        assert converged
        return after - before, primal

    (little, a), (much, b) = fit(20e6), fit(220e6)
    assert a == pytest.approx(b, rel=0.05)
    vectors = 30 * 8 * 200_000
    assert little < 20e6 + vectors + 24e6
    assert 150e6 < much < 220e6 + vectors + 24e6


PROCESS_LIMIT_SCRIPT = """
import re, resource, sys
from pathlib import Path
import numpy as np
from budgetsvm import BudgetSVC
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 5)).astype(np.float32)
y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(len(X)) > 0, 1, 0)
model = BudgetSVC(gamma=0.3, budget=200, basis="random", random_state=0, tol=0.05, n_jobs=1)
model.set_params(memory_limit=float(sys.argv[1])).fit(X[:3000], y[:3000])
status = Path("/proc/self/status").read_text()
size = 1024 * int(re.search(r"VmSize:\\s*(\\d+) kB", status)[1])
resource.setrlimit(resource.RLIMIT_AS, (size + 130_000_000, size + 130_000_000))
print("converged" if model.fit(X, y).converged_ else "not converged")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("limit", "outcome"), [(20e6, "converged"), (1e9, "MemoryError")])
def test_memory_under_a_process_limit(limit: float, outcome: str) -> None:
    """130 MB more than before are too few to hold 160 MB of kernel values, and enough not to."""
    script = [sys.executable, "-c", PROCESS_LIMIT_SCRIPT, str(limit)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert outcome in done.stdout + done.stderr
