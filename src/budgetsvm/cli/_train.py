"""``budgetsvm train``: from a file to a model."""

from pathlib import Path
from time import perf_counter
from typing import Any

import click

from budgetsvm.cli._data import data_options, last_of, read_data, set_names
from budgetsvm.cli._files import DATA, FILE_TO_WRITE, keep_apart
from budgetsvm.cli._options.effects import warn_without_effect
from budgetsvm.cli._options.svm import SvmCommand, svm_options
from budgetsvm.cli._output import json_option, print_facts, quiet_option
from budgetsvm.cli._stand_ins import import_sklearn


@click.command("train", cls=SvmCommand, context_settings={"show_default": True})
@svm_options
@data_options
@click.option(
    "-v", "folds", type=click.IntRange(2), help="Cross-validate instead, by this many folds."
)
@click.option(
    "--checkpoint",
    type=FILE_TO_WRITE,
    metavar="FILE",
    help="Leave the state of training in FILE now and then; it is removed when the model is written.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    default=60.0,
    metavar="SECONDS",
    help="Time between two checkpoints.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on from FILE, if it is there, with the same data and options: to the same model.",
)
@quiet_option
@json_option
@click.argument("data", type=DATA)
@click.argument("model", required=False, type=FILE_TO_WRITE)
def command(data: str, model: Path | None, **options: Any) -> None:
    """Train a machine on DATA, and write it to MODEL (by default the name of DATA, with .bsvm behind).

    DATA is a LIBSVM or CSV file, plain or compressed, a Parquet file, a NumPy file (.npz with arrays X and y; .npy
    with --labels or --target), or - for standard input. Options with one letter are those of LIBSVM's svm-train; -e
    is a relative duality gap here.

    \b
      budgetsvm train -c 32 -g 2 -B 500 ijcnn1 model
      budgetsvm train --scale standard --target price -s 3 houses.csv
      budgetsvm train data.npz model
      xzcat a9a.xz | budgetsvm train -c 8 -g 0.03125 - a9a.bsvm
      budgetsvm train -B 5000 --checkpoint covtype.ckpt --resume covtype    # again, if it was killed
    """
    warn_without_effect({**options, "model": model})
    folds = options.pop("folds")
    _check_checkpoint(options, folds)
    import_sklearn()
    if folds is not None:
        from budgetsvm.cli._cv import cross_validate

        cross_validate(data, folds, options)
        return
    path = model or Path(f"{_stem(data)}.bsvm")
    labels, checkpoint = options["labels"], options["checkpoint"]
    keep_apart(path, "the model", data=data, labels=labels)
    if checkpoint is not None and checkpoint.resolve() == path.resolve():
        message = f"the model and the checkpoint must be two files, and both are {str(path)!r}"
        raise click.UsageError(message)
    _train(data, path, options)


def _stem(data: str) -> str:
    return "model" if data == "-" else Path(data).name


def _check_checkpoint(options: dict[str, Any], folds: int | None) -> None:
    """Complain about options that make no sense together."""
    file, resume = options["checkpoint"], options["resume"]
    if resume and file is None:
        raise click.UsageError("--resume needs the --checkpoint FILE to go on from")
    if file is not None and folds is not None:
        raise click.UsageError("a cross-validation (-v) leaves no checkpoints")
    if file is not None and file.exists() and not resume:
        message = (
            f"there is a checkpoint {str(file)!r} already: go on from it by --resume, or delete it"
        )
        raise click.UsageError(message)


def _train(data: str, path: Path, options: dict[str, Any]) -> None:
    from budgetsvm import save
    from budgetsvm._estimators.checkpoints.file import CheckpointFile
    from budgetsvm.cli._machine import make_machine

    file = None
    if options["checkpoint"] is not None:
        file = CheckpointFile(options["checkpoint"], options["checkpoint_every"], kept=True)
        file.check_place()
    begin = perf_counter()
    kind = options["svm_type"]
    X, y, names = read_data(data, options, need_labels=kind != "one-class", numbers=kind == "svr")
    read = perf_counter()
    machine = make_machine(options, X, y, verbose=int(not options["quiet"]))
    _fit(machine, X, y, file)
    seconds = {"reading": read - begin, "training": perf_counter() - read}
    set_names(machine, names)
    save(machine, path)
    if file is not None:  # only now: a model that could not be written is not lost
        file.remove()
    _report(machine, path, X, seconds, options)


def _fit(machine: Any, X: Any, y: Any, file: Any) -> None:
    last = getattr(machine, "steps", None)  # of a pipeline
    name = "checkpoint" if last is None else f"{last[-1][0]}__checkpoint"
    machine.fit(X, y, **({} if file is None else {name: file}))


def _report(
    machine: Any, path: Path, X: Any, seconds: dict[str, float], options: dict[str, Any]
) -> None:
    last = last_of(machine)
    facts: dict[str, Any] = {
        "model": str(path),
        "rows": X.shape[0],
        "features": X.shape[1],
        "terms": len(last.support_vectors_),
    }
    if hasattr(last, "classes_"):
        facts["classes"] = len(last.classes_)
    if hasattr(last, "duality_gap_"):
        facts |= {"duality_gap": last.duality_gap_, "objective": last.objective_[0]}
        facts["converged"] = bool(last.converged_)
    facts["seconds"] = {name: round(value, 3) for name, value in seconds.items()}
    print_facts(
        facts,
        as_json=options["as_json"],
        otherwise=lambda: None if options["quiet"] else _print(facts),
    )


def _print(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        shown = ", ".join(f"{a} {b}" for a, b in value.items()) if name == "seconds" else value
        click.echo(f"{name.replace('_', ' '):12} {shown}")
