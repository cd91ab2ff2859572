"""From text to a model: reading against scikit-learn, the command line against other programs, and its start."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from benchmarks.measuring.timing import alternate, clock, load_average
from benchmarks.options import Options
from benchmarks.problems.data_sets import (
    SPECS,
    Problem,
    Spec,
    data_folder,
    find_file,
    missing_files,
    read_text,
)
from benchmarks.report.record import Column, Record, status
from budgetsvm.streams import read_blocks
from budgetsvm.streams._libsvm import blocks as libsvm_blocks
from budgetsvm.streams._text import read_pieces

TITLE = "Files"
_DATA, _TRAINED = ("IJCNN", "COVTYPE"), "IJCNN"
_FASTER, _SHARE, _START = 8.0, 0.1, 0.15
_BUDGET = 500
_LPD = "LPD_SVM"  # names a program; it is a peer on a budget, too, in C++
_READING = (
    Column("data", "data", width=8, left=True),
    Column("MB", "megabytes", ".1f"),
    Column("1 thread s", "one", ".3f"),
    Column("2 threads s", "two", ".3f"),
    Column("scikit-learn s", "theirs", ".2f"),
    Column("times as fast", "ratio", ".1f"),
    Column("at least", "target", ".0f"),
    Column("", "verdict", width=6, left=True),
    Column("2 threads", "ratio_of_two", ".1f"),
    Column("load", "load", ".1f", width=4),
)
_READING_NOTE = (
    "A file of LIBSVM text, plain, into an array: read_blocks(path).whole(), dense where that takes less memory, and "
    "load_svmlight_file(path). Runs in turn; the fastest counts."
)
_PROCESSES = (
    Column("process", "process", width=34, left=True),
    Column("seconds", "seconds", ".2f"),
    Column("at most", "target", ".2f"),
    Column("", "verdict", width=6, left=True),
    Column("test accuracy", "accuracy", ".2%"),
    Column("load", "load", ".1f", width=4),
)
_PROCESS_NOTE = (
    "Whole processes, from the file to the model's file, on all threads that each program uses by itself (svm-train: "
    f"one). svm-train is that of the PATH; LPD-SVM the program that the environment variable {_LPD} names, if it does, "
    "in turn with ours."
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is loaded for it: none is, since text is what it reads."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Write plain text files, and measure what reads them."""
    folder = data_folder()
    with TemporaryDirectory() as scratch:
        texts = dict(_written(record, folder, Path(scratch), options))
        table = record.table(f"{TITLE}: reading", _READING, _READING_NOTE)
        for name, path in texts.items():
            table.add(_reading(record, name, path, options.repeat))
        table = record.table(f"{TITLE}: processes", _PROCESSES, _PROCESS_NOTE)
        table.add(_start(record, options.repeat))
        if _TRAINED in texts:
            for row in _training(record, texts[_TRAINED], options):
                table.add(row)


def _written(
    record: Record, folder: Path, scratch: Path, options: Options
) -> Iterator[tuple[str, Path]]:
    """Yield data sets as plain text files."""
    for spec in SPECS:
        if spec.name not in (options.data or _DATA) or spec.variant:
            continue
        if missing_files(folder, spec):
            record.missing.append(f"{spec.name}, the text of its training rows")
            continue
        path = scratch / spec.name
        path.write_bytes(read_text(folder, spec))
        yield spec.name, path


# ---- reading ----


def _reading(record: Record, name: str, path: Path, repeat: int) -> dict[str, Any]:
    ours, theirs = read_blocks(path).whole(), load_svmlight_file(str(path))
    same = np.array_equal(ours[1], theirs[1])
    same = same and abs(sparse.csr_array(ours[0]) - theirs[0]).max() == 0
    record.check(bool(same), f"{name}: scikit-learn reads other numbers")
    actions = {
        "one": partial(clock, partial(_read, path, 1)),
        "two": partial(clock, partial(_read, path, 2)),
        "theirs": partial(clock, partial(load_svmlight_file, str(path))),
    }
    times = {key: one.best for key, one in alternate(actions, repeat, name).items()}
    ratio = times["theirs"] / times["one"]
    return {
        "data": name,
        "megabytes": path.stat().st_size / 1e6,
        **times,
        "ratio": ratio,
        "ratio_of_two": times["theirs"] / times["two"],
        "target": _FASTER,
        "verdict": record.target(
            ratio >= _FASTER,
            f"{name}: read {ratio:.1f} times as fast as by scikit-learn, at least {_FASTER:g}",
        ),
        "load": load_average(),
    }


def _read(path: Path, threads: int) -> None:
    usual = libsvm_blocks.THREADS
    libsvm_blocks.THREADS = threads
    try:
        read_blocks(path).whole()
    finally:
        libsvm_blocks.THREADS = usual


# ---- processes ----


def _process(*command: str) -> str:
    """Run a program, and return what it says."""
    unlimited = {key: value for key, value in os.environ.items() if "_NUM_THREADS" not in key}
    done = subprocess.run(command, env=unlimited, capture_output=True, text=True, check=True)
    return done.stdout


def _best(commands: dict[str, tuple[str, ...]], repeat: int) -> dict[str, float]:
    actions: dict[str, Callable[[], float]] = {
        name: partial(clock, partial(_process, *command)) for name, command in commands.items()
    }
    return {name: times.best for name, times in alternate(actions, repeat, TITLE).items()}


def _start(record: Record, repeat: int) -> dict[str, Any]:
    seconds = _best({"help": (sys.executable, "-m", "budgetsvm", "--help")}, 3 * repeat)["help"]
    return {
        "process": "budgetsvm --help",
        "seconds": seconds,
        "target": _START,
        "verdict": record.target(
            seconds <= _START, f"budgetsvm --help takes {seconds:.2f} s, at most {_START}"
        ),
        "load": load_average(),
    }


def _training(record: Record, path: Path, options: Options) -> Iterator[dict[str, Any]]:
    """Train by all programs, and compare what their models say of test rows."""
    spec = next(spec for spec in SPECS if spec.name == _TRAINED)
    numbers = ("-c", f"{spec.C:g}", "-g", f"{spec.gamma:g}")
    assert spec.entry.test is not None
    test = find_file(data_folder(), spec.entry.test.name)
    own = (sys.executable, "-m", "budgetsvm")
    model, exact = str(path.with_suffix(".bsvm")), str(path.with_suffix(".model"))
    ours = (*own, "train", "-q", *numbers, "-B", str(_BUDGET), str(path), model)
    commands = {"ours": ours} | _lpd(record, spec, path)
    times = _best(commands, options.repeat)
    seconds = times["ours"]
    right = _accuracy(_process(*own, "predict", str(test), model, os.devnull))
    row = {"process": f"budgetsvm train -B {_BUDGET} {_TRAINED}", "seconds": seconds}
    row |= {"accuracy": right, "load": load_average()}
    if "LPD" in times:
        yield _beside_lpd(record, seconds, times["LPD"], commands["LPD"], test)
    program = shutil.which("svm-train")
    if program is None:
        record.missing.append("svm-train of LIBSVM, in the PATH")
        yield row
        return
    status("svm-train")
    theirs = clock(partial(_process, program, "-q", *numbers, str(path), exact))
    exactly = _accuracy(_process(*own, "predict", str(test), exact, os.devnull))
    record.check(
        right > exactly - 0.01, f"{_TRAINED}: {right:.2%}, and svm-train has {exactly:.2%}"
    )
    row["target"] = _SHARE * theirs
    row["verdict"] = record.target(
        seconds <= _SHARE * theirs,
        f"{_TRAINED}: {seconds / theirs:.2f} of the time of svm-train, at most {_SHARE}",
    )
    yield row
    other = {"process": f"svm-train {_TRAINED}", "seconds": theirs, "accuracy": exactly}
    yield {**other, "load": load_average()}


def _lpd(record: Record, spec: Spec, path: Path) -> dict[str, tuple[str, ...]]:
    """Return how LPD-SVM is called, if it is at hand."""
    program = os.environ.get(_LPD, "")
    if not (program and shutil.which(program)):
        record.missing.append(f"LPD-SVM, a program named by {_LPD}")
        return {}
    model, gamma = str(path.with_suffix(".lpd")), f"{spec.gamma:g}"
    kernel = (f"{spec.C:g}", "Gaussian", "-gamma", gamma, "-budget", str(_BUDGET))
    return {"LPD": (program, "train", str(path), model, *kernel)}


def _beside_lpd(
    record: Record, ours: float, theirs: float, command: tuple[str, ...], test: Path
) -> dict[str, Any]:
    program, _, path, model, *_ = command
    text = Path(path).with_suffix(".t")
    text.write_bytes(b"".join(piece for _, piece in read_pieces(test)))
    found = re.search(r"error rate: ([\d.]+)%", _process(program, "test", str(text), model))
    return {
        "process": f"LPD-SVM train -budget {_BUDGET} {_TRAINED}",
        "seconds": theirs,
        "accuracy": None if found is None else 1 - float(found[1]) / 100,
        "verdict": record.target(
            ours < theirs, f"{_TRAINED}: {ours / theirs:.2f} of the time of LPD-SVM, at most 1"
        ),
        "load": load_average(),
    }


def _accuracy(said: str) -> float:
    found = re.search(r"Accuracy = [^(]*\((\d+)/(\d+)\)", said)
    assert found is not None, said
    return int(found[1]) / int(found[2])
