"""What the command line can choose."""

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.problems.data_sets import SPECS
from benchmarks.problems.task_sets import TASK_SPECS


@dataclass(frozen=True)
class Options:
    """The choices of a run."""

    only: list[str]
    data: list[str] | None  #: None leaves the choice to each benchmark
    repeat: int
    seeds: int
    threads: int
    full: bool
    out: Path


def parse(arguments: Sequence[str] | None, summaries: dict[str, str]) -> Options:
    """Read the command line; `summaries` describes the benchmarks by name."""
    listing = "\n".join(f"  {name:<12}{text}" for name, text in summaries.items())
    parser = ArgumentParser(
        prog="python -m benchmarks",
        description="Measure budgetsvm on the data sets in the folder BUDGETSVM_DATA.",
        epilog=f"benchmarks:\n{listing}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    names = list(dict.fromkeys(spec.name for spec in (*SPECS, *TASK_SPECS)))
    add = parser.add_argument
    add("--only", nargs="+", choices=list(summaries), default=list(summaries), help="benchmarks")
    add("--data", nargs="+", type=str.upper, choices=names, help="data sets, instead of the usual")
    add("--repeat", type=_positive, default=5, help="runs of which the fastest counts (5)")
    add("--seeds", type=_positive, default=5, help="seeds of which the mean counts (5)")
    add("--threads", type=_positive, default=1, help="threads of plain solvers and NumPy (1)")
    add("--full", action="store_true", help="with the big data sets everywhere")
    add(
        "--out", type=Path, default=Path(__file__).parent / "results", help="folder for the results"
    )
    return Options(**vars(parser.parse_args(arguments)))


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        message = f"{text!r} is not a positive integer"
        raise ArgumentTypeError(message)
    return int(text)
