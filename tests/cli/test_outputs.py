"""What predict writes: a file that is complete or the one before, standard output, devices and pipes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from budgetsvm import BudgetSVC, cli

resource = pytest.importorskip("resource")
ROWS = 2000


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((ROWS, 2)).round(3)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    dump_svmlight_file(X, y, "data", zero_based=False)
    BudgetSVC(budget=20, random_state=0).fit(X[:300], y[:300]).save("model")


def program(words: str, **options) -> subprocess.CompletedProcess:
    command = f"{sys.executable} -m budgetsvm {words}"
    return subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=100, check=False, **options
    )


def lines(text: str) -> int:
    assert set(text.split()) <= {"1", "-1"}
    return len(text.split())


@pytest.mark.slow
def test_a_full_disk_leaves_the_file_before() -> None:
    Path("out").write_text("old\n")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    done = program("predict data model out", preexec_fn=limit)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert Path("out").read_text() == "old\n"
    assert sorted(path.name for path in Path().iterdir()) == ["data", "model", "out"]
    done = program("predict data model new", preexec_fn=limit)
    assert done.returncode == 1
    assert sorted(path.name for path in Path().iterdir()) == ["data", "model", "out"]


def test_a_file_keeps_its_rights_and_a_link_its_place() -> None:
    Path("out").write_text("old\n")
    Path("out").chmod(0o640)
    Path("link").symlink_to("out")
    assert cli.main(["predict", "-q", "data", "model", "link"]) == 0
    assert Path("link").is_symlink()
    assert Path("out").stat().st_mode & 0o777 == 0o640
    assert lines(Path("out").read_text()) == ROWS


@pytest.mark.sampled(2)
@pytest.mark.parametrize("out", ["-", "/dev/stdout", "/dev/fd/1", ""])
def test_standard_output(out: str) -> None:
    if out and out != "-" and not Path(out).exists():
        pytest.skip("the system has no such file")
    done = program(f"predict data model {out}")
    assert done.returncode == 0
    assert lines(done.stdout) == ROWS
    assert "Accuracy" in done.stderr
    done = program(f"predict data model {out} > all; wc -l < all")
    assert int(done.stdout) == ROWS


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system has no such files")
def test_devices_and_what_is_open_are_written_in_place() -> None:
    done = program("predict data model /dev/null")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Accuracy" in done.stdout
    assert Path("/dev/null").is_char_device()
    done = program("predict -q data model /dev/fd/3 3> three")
    assert done.returncode == 0
    assert lines(Path("three").read_text()) == ROWS
    os.mkfifo("pipe")
    done = program("predict -q data model pipe & cat pipe > piped; wait")
    assert lines(Path("piped").read_text()) == ROWS
    assert not Path("pipe").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ["train", "data", "none/model"],
        ["train", "--checkpoint", "none/run.ckpt", "data"],
        ["predict", "data", "model", "none/out"],
        ["convert", "--budget", "2", "model", "none/small.model"],
        ["report", "model", "data", "none/report.html"],
        ["scale", "-s", "none/ranges", "data"],
    ],
)
def test_there_is_a_folder_for_the_output_before_any_work_is_done(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("data").write_text("no data")  # who reads this first complains about it
    assert cli.main(words) == 1
    assert "there is no folder 'none' for " in capsys.readouterr().err
