"""What the command does."""

import re
from pathlib import Path
from typing import Any

import click

from budgetsvm.cli._data import DATA_OPTIONS, data_options, load_for, names_of, set_names
from budgetsvm.cli._files import DATA, FILE_TO_READ, FILE_TO_WRITE
from budgetsvm.cli._options.effects import refuse_without_effect
from budgetsvm.cli._output import quiet_option
from budgetsvm.cli._stand_ins import import_sklearn

_SUFFIXES = {
    ".bsvm": "native",
    ".model": "libsvm",
    ".libsvm": "libsvm",
    ".onnx": "onnx",
    ".h": "c",
}


@click.command("convert", context_settings={"show_default": True})
@click.option(
    "--to",
    type=click.Choice(["native", "libsvm", "onnx", "c"]),
    help="The format of OUT.  [default: by its suffix .bsvm, .model, .libsvm, .onnx or .h]",
)
@click.option("-B", "--budget", type=click.IntRange(1), help="Reduce the model to so many terms.")
@click.option(
    "--data",
    type=DATA,
    metavar="FILE",
    help="With --budget: rows on which the smaller model is to agree with MODEL; labels do not matter.",
)
@data_options
@click.option("--name", help="C: what names in the header begin with.  [default: the name of OUT]")
@click.option(
    "--storage",
    type=click.Choice(["float32", "float16", "int8"]),
    default="float32",
    help="C: the points of the terms.",
)
@click.option("--double", is_flag=True, help="ONNX: for rows of float64, not of float32.")
@quiet_option
@click.argument("model", type=FILE_TO_READ)
@click.argument("out", type=FILE_TO_WRITE)
def command(model: Path, out: Path, to: str | None, **options: Any) -> None:
    """Write MODEL, of budgetsvm or LIBSVM, to OUT: for LIBSVM, ONNX runtimes, as C, or for budgetsvm itself.

    With --budget, terms are merged or chosen until there are no more than that, and their coefficients fitted to MODEL; what
    this has lost is printed.

    \b
      budgetsvm convert ijcnn1.bsvm ijcnn1.model
      budgetsvm convert --budget 200 big.model small.model
      budgetsvm convert --storage int8 small.bsvm small.h
    """
    import_sklearn()
    from budgetsvm import load

    kind = to or _SUFFIXES.get(out.suffix)
    if kind is None:
        message = f"the suffix of {str(out)!r} does not say which format is meant: say --to"
        raise click.UsageError(message)
    budget, data = options.pop("budget"), options.pop("data")
    if data is not None and budget is None:
        raise click.UsageError("--data is for --budget: without that, nothing is fitted")
    _check_effects(kind, data)
    if data is None:
        machine, X = load(model), None
    else:
        machine, X, _ = load_for(model, data, options, need_labels=False)
    names = names_of(machine)
    set_names(machine, None)
    lines: list[str] = []
    if budget is not None:
        machine, lines = _compressed(machine, budget, X, verbose=not options["quiet"])
    if kind == "native":
        set_names(machine, names)
    lines += _write(machine, kind, out, options)
    if not options["quiet"]:
        click.echo("\n".join([*lines, f"{out}: {out.stat().st_size:,} bytes"]), err=True)


def _check_effects(kind: str, data: str | None) -> None:
    """Refuse options that this conversion does not have."""
    if kind != "c":
        refuse_without_effect(("name", "storage"), f"it is for C, and not for {kind}")
    if kind != "onnx":
        refuse_without_effect(("double",), f"it is for ONNX, and not for {kind}")
    if data is None:
        refuse_without_effect(DATA_OPTIONS, "it says how to read --data")


def _compressed(machine: Any, budget: int, X: Any, *, verbose: bool) -> tuple[Any, list[str]]:
    """Return a smaller machine, and what there is to say about it."""
    from budgetsvm import compress

    found = compress(machine, budget, X, verbose=verbose)
    lines = [f"terms: {found.n_terms[0]}, now {found.n_terms[1]}"]
    lines.append(f"relative difference of the functions: {found.distance:.3g}")
    where = "on data" if X is not None else "at the terms of the larger model"
    if found.difference is not None:
        lines.append(f"difference of values {where} (root mean square): {found.difference:.3g}")
    if found.agreement is not None:
        lines.append(f"same labels {where}: {100 * found.agreement:.5g}%")
    return found.estimator, lines


def _identifier(name: str) -> str:
    """Return a name as C can have it."""
    word = re.sub(r"[^0-9A-Za-z_]", "_", name)
    return word if word[:1].isalpha() else f"model_{word}"


def _write(machine: Any, kind: str, out: Path, options: dict[str, Any]) -> list[str]:
    """Write the file, and return what there is to say about it."""
    import budgetsvm
    from budgetsvm._common.files.complete import replacing

    lines = []
    if kind == "native":
        budgetsvm.save(machine, out)
        return []
    if kind == "libsvm":
        content = budgetsvm.to_libsvm(machine).encode()
    elif kind == "onnx":
        import numpy as np

        dtype = np.float64 if options["double"] else np.float32
        example = np.zeros((1, machine.n_features_in_), dtype)
        content = budgetsvm.to_onnx(machine, example).SerializeToString()
    else:
        name = options["name"] or _identifier(out.stem)
        header = budgetsvm.to_c(machine, name=name, storage=options["storage"])
        content = header.text.encode()
        storage, lost, off = (
            options["storage"],
            f"{header.distance:.3g}",
            f"{header.difference:.2g}",
        )
        lines = [
            f"tables of {header.n_bytes:,} bytes",
            f"relative difference of the functions, by the points in {storage} alone: {lost}",
            f"largest difference of values at terms, with all rounding of C: {off} of their standard deviation",
        ]
    with replacing(out, durable=True) as file:
        file.write(content)
    return lines
