"""The options that say which machine to train: LIBSVM's, with their meaning there, and our own."""

import math
import re
from collections.abc import Callable
from typing import Any

import click

TYPES = {"0": "svc", "2": "one-class", "3": "svr"}
KERNELS = {"0": "linear", "1": "poly", "2": "rbf", "3": "sigmoid"}
_INSTEAD = {
    "1": "nu-SVC is not offered: use -s 0, and choose C by budgetsvm cv",
    "4": "nu-SVR is not offered: use -s 3, and choose epsilon by budgetsvm cv",
    "kernel 4": "precomputed kernels are not read from files: use the Python interface",
}
BALANCED = "balanced", math.nan
_WEIGHT = re.compile(r"-w([-+.\w]+)$")


class SvmCommand(click.Command):
    """A command that takes LIBSVM's ``-wi weight``, where i is a label."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Turn ``-w-1 5`` into ``--class-weight -1=5``."""
        found: list[str] = []
        rest = iter(args)
        for word in rest:
            match = _WEIGHT.match(word)
            if match is None:
                found.append(word)
                if word == "--":
                    found.extend(rest)
                continue
            weight = next(rest, None)
            if weight is None:
                message = f"Option {word!r} requires an argument."
                raise click.UsageError(message, ctx)
            found.append(f"--class-weight={match[1]}={weight}")
        return super().parse_args(ctx, found)


class _Named(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    """A name, or the number that LIBSVM has for it."""

    def __init__(self, names: dict[str, str], instead: str = "") -> None:
        self.name = "|".join(names.values())
        self._names, self._instead = names, instead

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the name."""
        text = str(value)
        if text in self._names or text in self._names.values():
            return self._names.get(text, text)
        known = ", ".join(f"{number} or {name}" for number, name in self._names.items())
        hint = _INSTEAD.get(f"{self._instead}{text}", f"there are {known}")
        return self.fail(f"{text!r}: {hint}", param, ctx)


_TUNE = "is found by budgetsvm cv --grid, which ends with the options for train"


class _Cost(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    name = "float"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number."""
        if value == "tune":
            self.fail(f"C {_TUNE}", param, ctx)
        return click.FLOAT.convert(value, param, ctx)


class _GammaType(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    name = "number|scale|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number or a name."""
        if value in ("scale", "auto"):
            return value
        if value == "tune":
            self.fail(f"gamma {_TUNE}", param, ctx)
        return click.FLOAT.convert(value, param, ctx)


class _BudgetType(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    name = "number|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a number, or the name of what the data decide."""
        return value if value == "auto" else click.IntRange(1).convert(value, param, ctx)


class _Weight(click.ParamType):  # type: ignore[type-arg]  # which older ones do not take
    name = "label=weight"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[Any, float]:
        """Return a label, a number if it looks like one, and its weight; of "balanced", there is none."""
        if value == BALANCED[0]:
            return BALANCED
        label, found, weight = str(value).rpartition("=")
        if not found:
            self.fail(f"{value!r} is not label=weight, nor 'balanced'", param, ctx)
        number: float = click.FLOAT.convert(weight, param, ctx)  # type: ignore[arg-type]
        try:
            return float(label), number
        except ValueError:
            return label, number


def _option(*names: str, **settings: Any) -> Callable[..., Any]:
    return click.option(*names, **settings)


# What is given is in the units of the targets, as in LIBSVM; what is not must do for targets of any size.
_RELATIVE = "; of svr, for targets of standard deviation 1"
_OPTIONS = (
    _option("-s", "--svm-type", type=_Named(TYPES), default="svc", help="0, 2 or 3 in LIBSVM."),
    _option("-t", "--kernel", type=_Named(KERNELS, "kernel "), default="rbf", help="0 to 3."),
    _option("-d", "--degree", type=click.IntRange(1), default=3, help="Of poly."),
    _option("-g", "--gamma", type=_GammaType(), default="auto", help="auto: 1 / features."),
    _option("-r", "--coef0", type=float, default=0.0, help="Of poly and sigmoid."),
    _option(
        "-c",
        "--cost",
        type=_Cost(),
        help=f"C, the weight of training errors.  [default: 1{_RELATIVE}]",
    ),
    _option("-n", "--nu", type=float, default=0.5, help="Share of outliers, of one-class."),
    _option(
        "-p",
        "--epsilon",
        type=float,
        help=f"Errors up to this are free, of svr.  [default: 0.1{_RELATIVE}]",
    ),
    _option("-B", "--budget", type=_BudgetType(), default="auto", help="Most terms of a model."),
    _option("-e", "--tol", type=float, default=0.01, help="Wanted duality gap, relative."),
    _option(
        "-b",
        "--probability",
        type=click.Choice(["0", "1"]),
        default="0",
        help="1: train for probabilities, by the logistic loss.",
    ),
    _option(
        "--class-weight",
        type=_Weight(),
        multiple=True,
        help="C of a class is multiplied by it; also -wLABEL WEIGHT. balanced: rare classes weigh more, each as much as any.",
    ),
    _option("-m", "cache", type=float, hidden=True),
    _option("-h", "shrinking", type=int, hidden=True),
    _option("--loss", type=click.Choice(["hinge", "squared_hinge", "logistic"]), help="Of svc."),
    _option("--solver", type=click.Choice(["bsca", "bsgd"]), default="bsca", help="Of phase 1."),
    _option("--maintenance", default="auto", help="merge, multimerge, project or remove."),
    _option(
        "--polish/--no-polish", default=True, help="Whether to solve in the span of the terms."
    ),
    _option(
        "--scale",
        type=click.Choice(["none", "standard", "range", "relevance"]),
        default="none",
        help="Features; relevance: standard, and those that matter to the labels are stretched.",
    ),
    _option(
        "--precision",
        type=click.Choice(["auto", "single", "double"]),
        default="auto",
        help="Of kernel values. With double, predictions have all digits of other programs'.",
    ),
    _option("--time-limit", type=float, help="Seconds."),
    _option("--memory-limit", type=float, help="Bytes for kernel values."),
    _option("--jobs", type=int, help="Threads.  [default: all]"),
    _option("--seed", type=click.IntRange(0), default=0, help="Of all random numbers."),
)


def svm_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the options of a command that say which machine to train; see `make_machine`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
