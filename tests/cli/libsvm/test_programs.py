"""LIBSVM's own programs on the other side: svm-train, svm-predict and svm-scale, where they are installed."""

import contextlib
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file
from tools.peers.libsvm import KERNELS, classes, two_classes

from budgetsvm import cli

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("svm-train", "svm-predict", "svm-scale")),
    reason="LIBSVM's programs are not installed (Debian: libsvm-tools)",
)
RNG = np.random.default_rng(0)


def run(*words: Any) -> str:
    """Run a program to its good end; returns what it printed."""
    done = subprocess.run(list(map(str, words)), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ours(*words: Any) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.main(list(map(str, words))) == 0
    return out.getvalue()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Files of rows, by what is to be learned from them, each with the option that says so."""
    monkeypatch.chdir(tmp_path)
    for name, (X, y) in {"two": two_classes(), "six": classes(6)}.items():
        dump_svmlight_file(X, y, name, zero_based=False)
    X, _ = two_classes()
    dump_svmlight_file(X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2, "curve", zero_based=False)
    return {"two": "-s 0", "six": "-s 0", "curve": "-s 3", "one": "-s 2"}


def compare(model_of_ours: str, model_of_theirs: str, name: str) -> None:
    """See that both programs say the same of all rows, in a file and in words."""
    words = ours("predict", name, model_of_ours, "a")
    theirs = run("svm-predict", name, model_of_theirs, "b")
    if name == "curve":
        assert_allclose(np.loadtxt("a"), np.loadtxt("b"), rtol=0, atol=1e-5)
    else:
        assert_array_equal(np.loadtxt("a"), np.loadtxt("b"))
        assert theirs.strip() in words


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["two", "six", "curve", "one"])
def test_a_model_of_svm_train_predicts_the_same(
    data: dict[str, str], name: str, kernel: str
) -> None:
    file = "two" if name == "one" else name
    run("svm-train", "-q", *data[name].split(), *KERNELS[kernel].split(), file, "model")
    compare("model", "model", file)


@pytest.mark.filterwarnings(
    "ignore:the kernel is not positive semi-definite"
)  # of sigmoid, nothing may be left
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["two", "six", "curve", "one"])
def test_svm_predict_reads_what_is_exported(data: dict[str, str], name: str, kernel: str) -> None:
    file, options = "two" if name == "one" else name, KERNELS[kernel].split()
    words = ["-q", *data[name].split(), *options, "-B", "40", "--seed", "0"]
    ours("train", *words, file, "model.bsvm")
    ours("convert", "model.bsvm", "out.model")
    compare("model.bsvm", "out.model", file)


def test_scaled_rows_and_ranges_are_the_same(data: dict[str, str]) -> None:
    X = np.column_stack([RNG.standard_normal((40, 3)) * [1, 100, 1e-3], np.ones(40)])
    dump_svmlight_file(X, np.arange(40.0), "wide", zero_based=False)
    for options in ("", "-l 0 -u 1", "-l -3 -u 2.5"):
        words = options.split()
        theirs, own = (
            run("svm-scale", *words, "-s", "r", "wide"),
            ours("scale", *words, "-s", "s", "wide"),
        )
        for one, other in (
            (theirs, own),
            (run("svm-scale", "-r", "s", "two"), ours("scale", "-r", "r", "two")),
        ):
            assert_allclose(_numbers(one), _numbers(other), rtol=1e-5, atol=1e-12)


def _numbers(text: str) -> Any:
    """Return rows as numbers; those of files of LIBSVM have six digits."""
    rows = np.zeros((text.count("\n"), 6))
    for row, line in zip(rows, text.splitlines(), strict=True):
        label, *entries = line.split()
        row[0] = float(label)
        for entry in entries:
            index, value = entry.split(":")
            row[int(index)] = float(value)
    return rows


def test_cross_validation_says_what_svm_train_says(data: dict[str, str]) -> None:
    for name, word in (("two", "Cross Validation Accuracy"), ("curve", "Mean squared error")):
        words = [*data[name].split(), "-v", "5", "-q", name]
        assert any(
            word in line and word in run("svm-train", *words)
            for line in ours("train", *words).splitlines()
        )
