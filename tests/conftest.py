"""Settings for all tests: modules beside the tests can be imported, Hypothesis is deterministic, Ctrl-C counts; --fast."""

import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")

# A shell starts what it runs in the background without SIGINT: tests that interrupt themselves would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="only one case of every test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave one case of every test with parameters, if so told: the first."""
    # Two processes that share the tests must call them by the same names.
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        message = f"names of tests with an address in memory: {unstable}; give ids to their cases"
        raise pytest.UsageError(message)
    if not config.getoption("fast"):
        return
    seen: set[str] = set()
    chosen, others = [], []
    for item in items:
        name = item.nodeid.partition("[")[0]
        (others if name in seen else chosen).append(item)
        seen.add(name)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen
