"""Options that were given and do nothing: whoever gives one is told.

LIBSVM's programs pass over theirs in silence, so that scripts may well give them all: a word on standard error is enough.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from budgetsvm.cli._options.given import was_given

Options = Mapping[str, Any]


class _Rule(NamedTuple):
    name: str  #: of the parameter
    shown: str
    has_effect: Callable[[Options], bool]
    why_not: str


def _with(name: str, *values: Any) -> Callable[[Options], bool]:
    return lambda options: options[name] in values


def _never(_: Options) -> bool:
    return False


_MACHINE = (
    _Rule("class_weight", "-w (--class-weight)", _with("svm_type", "svc"), "without -s 0"),
    _Rule("loss", "--loss", _with("svm_type", "svc"), "without -s 0"),
    _Rule("cost", "-c (--cost)", _with("svm_type", "svc", "svr"), "with -s 2, which has -n"),
    _Rule("nu", "-n (--nu)", _with("svm_type", "one-class"), "without -s 2"),
    _Rule("epsilon", "-p (--epsilon)", _with("svm_type", "svr"), "without -s 3"),
    _Rule("degree", "-d (--degree)", _with("kernel", "poly"), "without -t 1"),
    _Rule("gamma", "-g (--gamma)", _with("kernel", "poly", "rbf", "sigmoid"), "with -t 0"),
    _Rule("coef0", "-r (--coef0)", _with("kernel", "poly", "sigmoid"), "without -t 1 or 3"),
    _Rule("tol", "-e (--tol)", _with("polish", True), "with --no-polish"),
    _Rule("cache", "-m", _never, "here: memory is limited by --memory-limit"),
    _Rule("shrinking", "-h", _never, "here: there is no shrinking to switch on or off"),
)
_TRAIN = (
    *_MACHINE,
    _Rule("model", "MODEL", _with("folds", None), "with -v, which leaves no model"),
    _Rule(
        "checkpoint_every",
        "--checkpoint-every",
        lambda options: options["checkpoint"] is not None,
        "without --checkpoint",
    ),
)
_SCALE = tuple(
    _Rule(name, shown, _with("restore", None), "with -r: the file of ranges says it")
    for name, shown in (("lower", "-l"), ("upper", "-u"), ("targets", "-y"))
)


def _searched(name: str) -> Callable[[Options], bool]:
    """Whether a parameter is given, and not searched for."""
    return lambda options: not options["grid"] or options[name] == "null"


_CV = (
    *_MACHINE,
    *(
        _Rule(name, shown, _with("grid", True), "without --grid")
        for name, shown in (
            ("log2c", "--log2c"),
            ("log2g", "--log2g"),
            ("budgets", "--budgets"),
            ("halving", "--halving"),
        )
    ),
    _Rule("cost", "-c (--cost)", _searched("log2c"), "with --grid, unless with --log2c null"),
    _Rule("gamma", "-g (--gamma)", _searched("log2g"), "with --grid, unless with --log2g null"),
    _Rule(
        "budget",
        "-B (--budget)",
        lambda options: not options["grid"] or options["budgets"] is None,
        "with --budgets",
    ),
)
_RULES = {"train": _TRAIN, "cv": _CV, "scale": _SCALE}


def warn_without_effect(options: Options) -> None:
    """Name the options of the present command that were given and do nothing; --quiet wants no such words."""
    context = click.get_current_context()
    if options.get("quiet"):
        return
    for rule in _RULES[str(context.info_name)]:
        if was_given(context, rule.name) and not rule.has_effect(options):
            click.echo(f"budgetsvm: warning: {rule.shown} has no effect {rule.why_not}", err=True)


def refuse_without_effect(names: Sequence[str], reason: str) -> None:
    """Refuse options of the present command that would do nothing, for this reason, if one of them was given."""
    context = click.get_current_context()
    for name in names:
        if was_given(context, name):
            shown = f"--{name.replace('_', '-')}"
            message = f"{shown} would have no effect: {reason}"
            raise click.UsageError(message)
