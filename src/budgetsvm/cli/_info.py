"""``budgetsvm info``: on what it runs, or what is in a model."""

from pathlib import Path
from typing import Any

import click

from budgetsvm.cli._data import last_of
from budgetsvm.cli._files import FILE_TO_READ
from budgetsvm.cli._output import json_option, print_facts
from budgetsvm.cli._stand_ins import import_sklearn

# The levels of x86-64 by what they are known for; the baseline of other processors is their own.
_INSTRUCTIONS = {"v4": "AVX-512", "v3": "AVX2 and FMA"}
_BASELINE = {"x86_64": "SSE2", "amd64": "SSE2", "aarch64": "NEON", "arm64": "NEON"}


@click.command("info")
@click.argument("model", required=False, type=FILE_TO_READ)
@json_option
def command(model: Path | None, as_json: bool) -> None:
    """Describe MODEL; or, without one, print versions, instruction set, threads and BLAS, e.g. for a bug report."""
    facts = _facts() if model is None else _model_facts(model)
    width = max(map(len, facts))
    lines = (f"{name:<{width}}  {value}" for name, value in facts.items())
    plain = {name: value if isinstance(value, int) else str(value) for name, value in facts.items()}
    print_facts(plain, as_json=as_json, otherwise=lambda: click.echo("\n".join(lines)))


def _facts() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    from budgetsvm import __version__, _core
    from budgetsvm._common.threads import count_threads

    return {
        "budgetsvm": __version__,
        "Python": f"{platform.python_version()} on {platform.platform()}",
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
        "instructions": _instructions(_core.level(), platform.machine()),
        "threads": str(count_threads(None)),
        "BLAS": _blas(),
    }


def _model_facts(path: Path) -> dict[str, Any]:
    """Return what a model is, how it was trained, and how well."""
    import_sklearn()
    from budgetsvm import load

    machine = load(path)
    facts: dict[str, Any] = {"file": f"{path}, {path.stat().st_size:,} bytes"}
    if hasattr(machine, "steps"):
        facts["scaling"] = type(machine[0]).__name__
    machine = last_of(machine)
    facts |= {"estimator": type(machine).__name__, "features": machine.n_features_in_}
    if hasattr(machine, "classes_"):
        facts["classes"] = ", ".join(map(str, machine.classes_[:10])) + ", ..." * (
            len(machine.classes_) > 10
        )
    facts |= {
        "terms": f"{len(machine._expansion)} of at most {machine.budget_}",
        "kernel": machine.kernel_,
    }
    if hasattr(machine, "duality_gap_"):
        facts["duality gap"] = f"{machine.duality_gap_:.3g} of the {machine.certifies_}"
        facts["objective"] = f"{machine.objective_[0]:.6g}"
    changed = {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if value is not None and repr(value) != repr(type(machine)().get_params()[name])
    }
    facts["parameters"] = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return facts


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
