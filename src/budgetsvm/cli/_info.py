"""``budgetsvm info``: on what it runs."""

from argparse import ArgumentParser, Namespace

# The levels of x86-64 by what they are known for; the baseline of other processors is their own.
_INSTRUCTIONS = {"v4": "AVX-512", "v3": "AVX2 and FMA"}
_BASELINE = {"x86_64": "SSE2", "amd64": "SSE2", "aarch64": "NEON", "arm64": "NEON"}

SUMMARY = "print versions, instruction set, threads and BLAS, e.g. for a bug report"


def add_options(parser: ArgumentParser) -> None:
    """Declare nothing: there is nothing to choose."""


def run(arguments: Namespace) -> None:  # noqa: ARG001
    """Print a table of facts."""
    import platform
    from importlib.metadata import version

    from budgetsvm import __version__, _core
    from budgetsvm._common.threads import count_threads

    facts = {
        "budgetsvm": __version__,
        "Python": f"{platform.python_version()} on {platform.platform()}",
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
        "instructions": _instructions(_core.level(), platform.machine()),
        "threads": str(count_threads(None)),
        "BLAS": _blas(),
    }
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")


def _instructions(level: str, processor: str) -> str:
    """Return the instruction set in use, and how the core calls it (as the variable BUDGETSVM_ISA does)."""
    known = _INSTRUCTIONS.get(level) or _BASELINE.get(processor.lower(), processor)
    return f"{known} ({level})"


def _blas() -> str:
    """Describe the BLAS libraries that NumPy and SciPy have loaded."""
    import numpy as np  # noqa: F401  # threadpoolctl sees loaded libraries only
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    # NumPy and SciPy often bring a copy each, of the same library: say it once.
    found = {
        f"{library['internal_api']} {library['version'] or '(version unknown)'}"
        f" with {library['num_threads']} threads"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "none that threadpoolctl knows"
