"""Options that do nothing say so; those that do something say nothing."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from budgetsvm import cli

TRAIN = ("train", "-B", "20", "data", "model")


@pytest.fixture(autouse=True)
def _rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 2))
    dump_svmlight_file(X, np.where(X[:, 0] > 0, 1, -1), "data", zero_based=False)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("-s 3 -w1 5", "-w (--class-weight) has no effect without -s 0"),
        ("-s 2 -w1 5", "-w (--class-weight) has no effect"),
        ("-s 3 --loss logistic", "--loss has no effect without -s 0"),
        ("-s 2 -c 3", "-c (--cost) has no effect with -s 2, which has -n"),
        ("-n 0.3", "-n (--nu) has no effect without -s 2"),
        ("-s 3 --nu 0.3", "-n (--nu) has no effect"),
        ("-p 0.2", "-p (--epsilon) has no effect without -s 3"),
        ("-d 2", "-d (--degree) has no effect without -t 1"),
        ("-t 3 -g 0.01 -d 2", "-d (--degree) has no effect"),
        ("-t 0 -g 2", "-g (--gamma) has no effect with -t 0"),
        ("-r 1", "-r (--coef0) has no effect without -t 1 or 3"),
        ("--no-polish -e 0.1", "-e (--tol) has no effect with --no-polish"),
        ("-m 100", "-m has no effect here: memory is limited by --memory-limit"),
        ("-h 0", "-h has no effect here"),
        ("-v 2", "MODEL has no effect with -v"),
        ("--checkpoint-every 3", "--checkpoint-every has no effect without --checkpoint"),
    ],
)
def test_train_says_which(options: str, complaint: str, capsys) -> None:
    assert cli.main([*TRAIN[:3], *options.split(), *TRAIN[3:]]) == 0
    said = capsys.readouterr().err
    assert said.count("has no effect") == 1
    assert f"budgetsvm: warning: {complaint}" in said
    assert cli.main([*TRAIN[:3], "-q", *options.split(), *TRAIN[3:]]) == 0
    assert "has no effect" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        "-s 0 -t 2 -g 2 -c 3 -e 0.05 -w1 5 -w-1 2 --loss squared_hinge",
        "-s 3 -t 1 -g 0.1 -d 2 -r 1 -p 0.2 -c 3",
        "-s 2 -t 3 -g 0.01 -r 0.1 -n 0.3",
        "-b 1 --no-polish --seed 3 --jobs 1 --scale standard",
        "--checkpoint run --checkpoint-every 100",
    ],
)
def test_train_says_nothing_of_others(options: str, capsys) -> None:
    assert cli.main([*TRAIN[:3], *options.split(), *TRAIN[3:]]) == 0
    assert "has no effect" not in capsys.readouterr().err


def test_cv_and_scale(capsys) -> None:
    assert cli.main(["cv", "-v", "2", "-B", "5", "-p", "1", "data"]) == 0
    assert "-p (--epsilon) has no effect" in capsys.readouterr().err
    assert cli.main(["scale", "-l", "0", "-u", "2", "-s", "ranges", "data"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(["scale", "-l", "0", "-y", "0", "1", "-r", "ranges", "data"]) == 0
    assert [line.split(" has")[0] for line in capsys.readouterr().err.splitlines()] == [
        "budgetsvm: warning: -l",
        "budgetsvm: warning: -y",
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--storage int8 model out.onnx", "--storage would have no effect: it is for C"),
        ("--storage float32 model out.bsvm", "--storage would have no effect"),
        ("--name svm model out.model", "--name would have no effect"),
        ("--double model out.h", "--double would have no effect: it is for ONNX"),
        ("--target 0 model out.model", "--target would have no effect: it says how to read --data"),
        ("--zero-based -B 5 model out.model", "--zero-based would have no effect"),
    ],
)
def test_convert_refuses_them(words: str, complaint: str, capsys) -> None:
    assert cli.main(["train", "-q", *TRAIN[1:]]) == 0
    assert cli.main(["convert", *words.split()]) == 2
    assert complaint in capsys.readouterr().err
    assert not Path(words.rsplit(maxsplit=1)[-1]).exists()
    assert cli.main(["convert", "-q", "--storage", "int8", "--name", "a", "model", "out.h"]) == 0
