"""Jobs for tests of the runner: functions that other processes can import."""

import os
import signal
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from experiments.running.jobs import Result


def count(folder: str, value: Any) -> Result:
    """Leave a trace, and return the value and how many threads BLAS may use."""
    with (Path(folder) / "calls").open("a", encoding="utf-8") as file:
        file.write("call\n")
    return {"value": value, "threads": os.environ["OPENBLAS_NUM_THREADS"]}


def fail(text: str) -> Result:
    """Raise an error."""
    raise ValueError(text)


def vanish() -> Result:
    """End the process, as the system does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def not_json() -> Result:
    """Return what JSON cannot hold."""
    return {"value": float("nan")}


def sleep(folder: str, number: int, seconds: float) -> Result:
    """Tell who we are, and take our time."""
    (Path(folder) / f"pid-{os.getpid()}").touch()
    time.sleep(seconds)
    return {"number": number}


def hold_semaphore() -> Result:
    """Keep a semaphore of the system for as long as the process lives, as joblib does."""
    _held.append(get_context("spawn").Lock())
    return {}


_held: list[Any] = []
