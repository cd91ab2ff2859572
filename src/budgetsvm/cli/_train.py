"""``budgetsvm train``: from a file to a model."""

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from budgetsvm.cli._data import data_options, last_of, read_data
from budgetsvm.cli._svm_options import SvmCommand, svm_options


@click.command("train", cls=SvmCommand, context_settings={"show_default": True})
@svm_options
@data_options
@click.option(
    "-v", "folds", type=click.IntRange(2), help="Cross-validate instead, by this many folds."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress, no messages.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as one line of JSON.")
@click.argument("data")
@click.argument("model", required=False, type=click.Path(dir_okay=False, path_type=Path))
def command(data: str, model: Path | None, **options: Any) -> None:
    """Train a machine on DATA, and write it to MODEL (by default the name of DATA, with .bsvm behind).

    DATA is a LIBSVM, CSV or Parquet file, plain or compressed, or - for standard input. Options with one letter are
    those of LIBSVM's svm-train; -e is a relative duality gap here.

    \b
      budgetsvm train -c 32 -g 2 -B 500 ijcnn1 model
      budgetsvm train --scale standard --target price -s 3 houses.csv
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
    X, y = read_data(data, options)
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
    if options["as_json"]:
        click.echo(json.dumps(facts))
    elif not options["quiet"]:
        for name, value in facts.items():
            shown = ", ".join(f"{a} {b}" for a, b in value.items()) if name == "seconds" else value
            click.echo(f"{name.replace('_', ' '):12} {shown}")
