"""Calls in a fresh process: honest memory figures, and nothing that ran before interferes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_POOLS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMEXPR")


class FreshProcessError(RuntimeError):
    """The process failed."""


class OutOfPatienceError(FreshProcessError):
    """The process took too long."""


def call(
    function: Callable[..., Any],
    *,
    threads: int,
    patience: float,
    variables: Mapping[str, str] | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Return what a function returns for `threads` and the arguments; all must be fit for JSON.

    `variables` are some of the process' environment.
    """
    pools = {f"{pool}_NUM_THREADS": str(threads) for pool in _POOLS}
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.fresh.worker",
                function.__module__,
                function.__name__,
            ],
            input=json.dumps({"threads": threads, **arguments}),
            cwd=Path(__file__).parents[2],
            env={**os.environ, **pools, **(variables or {})},
            capture_output=True,
            text=True,
            timeout=patience,
            check=True,
        )
    except subprocess.TimeoutExpired:
        message = f"not done after {patience:.0f} s"
        raise OutOfPatienceError(message) from None
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or [f"ended with code {error.returncode}"]
        raise FreshProcessError(lines[-1]) from None
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
