"""The command line, in-process."""

import re
import struct
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from budgetsvm import cli
from budgetsvm.cli import _info

_ROWS = 4000


def _accuracies(text):
    """Return {name of the line: its last column} of the demo's table."""
    found = re.findall(r"^(\w[\w, ]*?)  +.* (\d+\.\d+)%$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def _size_of_png(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def test_info(capsys):
    assert cli.main(["info"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["budgetsvm"] == version("budgetsvm")
    assert lines["scikit-learn"] == version("scikit-learn")
    assert int(lines["threads"]) >= 1
    assert {"Python", "NumPy", "SciPy", "instructions", "BLAS"} <= set(lines)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], f"budgetsvm {version('budgetsvm')}\n"),
        (["--help"], "Commands:"),
        (["demo", "--help"], "[default: 100000"),
        (["info", "--help"], "versions"),
    ],
)
def test_options_that_only_print(arguments, expected, capsys):
    assert cli.main(arguments) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "Usage: budgetsvm"),
        (["dance"], "No such command 'dance'"),
        (["info", "--rows", "1000"], "No such option"),
        (["demo", "--rows", "10"], "x>=200"),
        (["demo", "--rows", "many"], "'many' is not a valid integer"),
        (["demo", "--budget", "0"], "x>=1"),
        (["demo", "--seed", "-1"], "x>=0"),
        (["demo", "--out", "picture.docx"], ".png"),
        (["demo", "--out", "no-such-folder/picture.png"], "no folder 'no-such-folder'"),
    ],
)
def test_wrong_usage(arguments, expected, capsys):
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert expected in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (KeyboardInterrupt(), 130, "\nbudgetsvm: interrupted\n"),
        (OSError("disk full"), 1, "budgetsvm: disk full\n"),
        (ValueError("two\nlines"), 1, "budgetsvm: two lines\n"),
        (MemoryError(), 1, "budgetsvm: MemoryError\n"),
    ],
)
def test_failure_is_one_line(error, code, expected, capsys, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr(_info, "_facts", fail)
    assert cli.main(["info"]) == code
    assert capsys.readouterr().err == expected


def test_the_package_is_the_same_program(capsys):
    """``python -m budgetsvm``, with the same output, exit code and name."""
    assert cli.main(["info"]) == 0
    for arguments, code, out in ((["info"], 0, capsys.readouterr().out), (["dance"], 2, "")):
        command = [sys.executable, "-m", "budgetsvm", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert (done.returncode, done.stdout) == (code, out)
    assert done.stderr.startswith("Usage: budgetsvm ")


def test_help_does_not_wait_for_what_it_does_not_need():
    program = "import sys, budgetsvm.cli; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "budgetsvm.cli" in loaded
    assert not {"numpy", "sklearn", "psutil", "platformdirs"} & set(loaded)


@pytest.mark.slow
def test_picture_that_cannot_be_written(tmp_path, capsys):
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert cli.main(["demo", "--rows", "200", "--out", str(folder)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("budgetsvm: ")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_demo(seed, tmp_path, capsys):
    out = tmp_path / "picture.png"
    options = ["--rows", str(_ROWS), "--budget", "80", "--out", str(out), "--seed", str(seed)]
    assert cli.main(["demo", *options]) == 0
    printed = capsys.readouterr()
    assert "100%" in printed.err
    assert str(out) in printed.out
    accuracy = _accuracies(printed.out)
    assert list(accuracy) == ["linear SVM", "exact SVM, same time", "budgeted SVM", "best possible"]
    assert 90 < accuracy["best possible"] < 99
    assert accuracy["budgeted SVM"] > accuracy["linear SVM"] + 20
    assert accuracy["budgeted SVM"] > accuracy["best possible"] - 6
    width, height = _size_of_png(out)
    assert 600 < width < 3000
    assert 600 < height < 3000


@pytest.mark.slow
def test_demo_has_aligned_table(tmp_path, capsys):
    cli.main(["demo", "--rows", "200", "--budget", "1", "--out", str(tmp_path / "picture.svg")])
    lines = capsys.readouterr().out.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    assert len({len(line) for line in lines[rule - 1 : rule + 5]}) == 1
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")


def test_demo_without_matplotlib(tmp_path, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = Path(tmp_path, "picture.png")
    assert cli.main(["demo", "--rows", "400", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert 'pip install "budgetsvm[plot]"' in printed
    assert "budgeted SVM" in printed
    assert not out.exists()
