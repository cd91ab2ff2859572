"""Settings for all tests: modules beside the tests can be imported, Hypothesis is deterministic, Ctrl-C counts; --fast."""

import signal
import sys
from collections import Counter
from pathlib import Path
from zlib import crc32

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


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow of tests that are sampled; leave the first case of every test only, if so told."""
    # Two processes that share the tests must call them by the same names.
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        message = f"names of tests with an address in memory: {unstable}; give ids to their cases"
        raise pytest.UsageError(message)
    cases: Counter[str] = Counter()
    chosen, others = [], []
    for item in items:
        name = item.nodeid.partition("[")[0]
        (others if cases[name] else chosen).append(item)
        sampled = item.get_closest_marker("sampled")
        # Not every n-th: cases of several parameters come in an order, and it might always be the same kernel.
        if sampled and cases[name] and crc32(item.nodeid.encode()) % sampled.args[0]:
            item.add_marker("slow")
        cases[name] += 1
    if not config.getoption("fast"):
        return
    config.hook.pytest_deselected(items=others)
    items[:] = chosen
