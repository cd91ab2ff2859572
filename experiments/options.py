"""What the command line can choose."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib

from experiments.problems import MADE, SPECS
from experiments.scope import Scope

_RESULTS = Path(__file__).parent / "results"
_SEEDS, _QUICK_SEEDS = 5, 2


@dataclass(frozen=True)
class Options:
    """The choices of a run."""

    only: list[str]
    data: Path | None
    out: Path
    quick: bool
    seeds: int
    workers: int

    def scope(self) -> Scope:
        """Return what the experiments need to know."""
        if self.quick:
            return Scope((MADE,), None, True, self.seeds)
        return Scope(SPECS, str(self.data), False, self.seeds)


def parse(
    arguments: Sequence[str] | None, summaries: Mapping[str, str], long: Sequence[str] = ()
) -> Options:
    """Read the command line; `summaries` describes the experiments by name, `long` are those that take an hour by themselves."""
    chosen = _parser(summaries).parse_args(arguments)
    thorough = vars(chosen).pop("thorough")
    if chosen.only is None:  # who names one means it; a quick run takes minutes
        left_out = () if thorough or chosen.quick else long
        chosen.only = [name for name in summaries if name not in left_out]
    if chosen.out is None:
        # What took a night must not be replaced by what took a minute.
        chosen.out = _RESULTS / "quick" if chosen.quick else _RESULTS
    if chosen.seeds is None:
        chosen.seeds = _QUICK_SEEDS if chosen.quick else _SEEDS
    chosen.data = None if chosen.quick else _data_folder(chosen.data)
    return Options(**vars(chosen))


def _parser(summaries: Mapping[str, str]) -> ArgumentParser:
    listing = "\n".join(f"  {name:<14}{text}" for name, text in summaries.items())
    parser = ArgumentParser(
        prog="python -m experiments",
        description="Make the tables and figures of the paper anew, and write a report. A run that was "
        "broken off goes on\nwhere it was: results are kept in the folder of the report.",
        epilog=f"experiments:\n{listing}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    add, names, cores = parser.add_argument, list(summaries), int(joblib.cpu_count())
    add("--data", type=Path, metavar="DIR", help="folder with the data sets ($BUDGETSVM_DATA)")
    add("--out", type=Path, metavar="DIR", help="folder of the report (experiments/results)")
    add("--quick", action="store_true", help="a small problem that needs no data, in minutes")
    add(
        "--only",
        nargs="+",
        metavar="NAME",
        type=lambda name: name.replace("_", "-"),
        choices=names,
        help="experiments, instead of all",
    )
    add(
        "--thorough",
        action="store_true",
        help="also lemma 2 on all rows, which takes nearly two hours",
    )
    add("--workers", type=_positive, default=cores, help=f"processes ({cores})")
    add("--seeds", type=_positive, help=f"runs of whatever is random ({_SEEDS})")
    return parser


def _data_folder(name: Path | None) -> Path:
    """Return the folder with the data sets, or exit with an explanation."""
    folder = name or Path(os.environ.get("BUDGETSVM_DATA", ""))
    if folder == Path() or not folder.is_dir():
        where = "Where are the data sets?" if folder == Path() else f"There is no folder {folder}."
        sys.exit(
            f"{where} Name their folder by --data or BUDGETSVM_DATA, or use --quick, which needs no data."
        )
    return folder.resolve()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        message = f"{text!r} is not a positive integer"
        raise ArgumentTypeError(message)
    return int(text)
