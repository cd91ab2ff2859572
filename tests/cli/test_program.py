"""The program itself, as a shell runs it: pipes, interruption, a full disk, completion."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons

PROGRAM = Path(sys.executable).with_name("budgetsvm")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here")


@pytest.fixture
def train(tmp_path: Path) -> Path:
    X, y = make_moons(300, noise=0.15, random_state=0)
    dump_svmlight_file(
        X.round(3), np.where(y == 1, 1, -1), str(tmp_path / "train"), zero_based=False
    )
    return tmp_path / "train"


def run(*words: object, **settings) -> subprocess.CompletedProcess[str]:
    command = [str(PROGRAM), *map(str, words)]
    given = {"capture_output": True, "text": True, "timeout": 120} | settings
    return subprocess.run(command, check=False, **given)


@pytest.mark.slow
def test_pipes(train: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    done = run("train", "-g", 2, "-", model, input=train.read_text())
    assert done.returncode == 0
    assert "\r" not in done.stderr  # plain lines where nobody looks on
    done = run("predict", "-", model, input=train.read_text())
    assert len(done.stdout.split()) == 300
    assert done.stderr.startswith("Accuracy = ")
    piped = f"{PROGRAM} predict {train} {model} | head -n 1"
    done = subprocess.run(piped, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout in {"1\n", "-1\n"}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_is_no_accident(unbuffered: str) -> None:
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    piped = f"{PROGRAM} info | true"
    done = subprocess.run(
        piped, shell=True, capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""


@pytest.mark.slow
def test_info_for_programs(train: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert run("train", "-q", "-g", 2, "-B", 20, train, model).returncode == 0
    facts = json.loads(run("info", "--json", model).stdout)
    assert facts["estimator"] == "BudgetSVC"
    assert facts["features"] == 2
    assert "scikit-learn" in json.loads(run("info", "--json").stdout)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("predict", "-q"), ("predict", "-q", "--decision"), ("scale",)])
def test_output_that_does_not_fit_is_an_error(
    words: tuple[str, ...], unbuffered: str, train: Path, tmp_path: Path
) -> None:
    """Whatever is not written whole is told, also where Python itself writes without a buffer and does not look."""
    model, out, size = tmp_path / "model", tmp_path / "out", 512
    assert run("train", "-q", "-g", 2, train, model).returncode == 0
    files = (train, model) if words[0] == "predict" else (train,)
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with out.open("wb") as stream:
        done = run(
            *words,
            *files,
            capture_output=False,
            stdout=stream,
            stderr=subprocess.PIPE,
            env=environment,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        )
    assert out.stat().st_size <= size
    assert done.returncode == 1
    assert done.stderr.startswith("budgetsvm: ")
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_pipe_with_a_name_is_read_as_standard_input_is(train: Path, tmp_path: Path) -> None:
    model, pipe = tmp_path / "model", tmp_path / "pipe"
    os.mkfifo(pipe)
    for command in (("train", "-q", "-g", 2, pipe, model), ("evaluate", pipe, model)):
        with subprocess.Popen(f"cat {train} > {pipe}", shell=True):
            done = run(*command)
        assert done.returncode == 0, done.stderr
    with subprocess.Popen(f"echo '1 x:y' > {pipe}", shell=True):
        done = run("evaluate", pipe, model)
    assert done.returncode == 1
    assert str(pipe) in done.stderr
    assert "stdin-" not in done.stderr


@pytest.mark.slow
def test_interruption_leaves_nothing(train: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10)).round(2)
    dump_svmlight_file(X, np.sign(X[:, 0] * X[:, 1] + rng.normal(size=20_000)), str(train))
    command = [
        str(PROGRAM),
        "train",
        "-c",
        "10000",
        "-B",
        "4000",
        "-e",
        "1e-9",  # on no machine in three seconds
        str(train),
        str(tmp_path / "model"),
    ]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    time.sleep(3)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    assert program.returncode == 130
    assert said.endswith("budgetsvm: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train"]


def test_a_full_disk(train: Path, tmp_path: Path) -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    model = tmp_path / "model"
    model.write_bytes(b"as before")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = run("train", "-q", train, model, preexec_fn=small_files, env=environment)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert model.read_bytes() == b"as before"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    done = run(env={**os.environ, "_BUDGETSVM_COMPLETE": f"{shell}_source"})
    assert "budgetsvm" in done.stdout


def test_completion_knows_commands_and_options() -> None:
    words = {"_BUDGETSVM_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    done = run(env={**os.environ, **words, "COMP_WORDS": "budgetsvm train --mem"})
    assert "--memory-limit" in done.stdout
    done = run(env={**os.environ, **words, "COMP_WORDS": "budgetsvm pre", "COMP_CWORD": "1"})
    assert "predict" in done.stdout


@pytest.mark.parametrize(
    "command", ["train", "predict", "evaluate", "cv", "scale", "report", "convert", "info"]
)
def test_completion_of_files(command: str) -> None:
    words = {"_BUDGETSVM_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    done = run(env={**os.environ, **words, "COMP_WORDS": f"budgetsvm {command} a"})
    assert done.stdout.startswith("file,")
