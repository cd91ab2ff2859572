"""``budgetsvm train``: from a file to a model."""

from pathlib import Path
from time import perf_counter
from typing import Any

import click

from budgetsvm.cli._data import data_options, last_of, read_data
from budgetsvm.cli._output import json_option, print_facts, quiet_option
from budgetsvm.cli._svm_options import SvmCommand, svm_options


@click.command("train", cls=SvmCommand, context_settings={"show_default": True})
@svm_options
@data_options
@click.option(
    "-v", "folds", type=click.IntRange(2), help="Cross-validate instead, by this many folds."
)
@quiet_option
@json_option
@click.argument("data")
@click.argument("model", required=False, type=click.Path(dir_okay=False, path_type=Path))
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
    """
    folds = options.pop("folds")
    if folds is not None:
        from budgetsvm.cli._cv import cross_validate

        cross_validate(data, folds, options)
        return
    path = model or Path(f"{_stem(data)}.bsvm")
    if not path.parent.is_dir():
        message = f"there is no folder {str(path.parent)!r} for the model"
        raise click.UsageError(message)
    _train(data, path, options)


def _stem(data: str) -> str:
    return "model" if data == "-" else Path(data).name


def _train(data: str, path: Path, options: dict[str, Any]) -> None:
    from budgetsvm import save
    from budgetsvm.cli._machine import make_machine

    begin = perf_counter()
    X, y = read_data(data, options, need_labels=options["svm_type"] != "one-class")
    read = perf_counter()
    machine = make_machine(options, X, y, verbose=int(not options["quiet"]))
    machine.fit(X, y)
    seconds = {"reading": read - begin, "training": perf_counter() - read}
    save(machine, path)
    _report(machine, path, X, seconds, options)


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
