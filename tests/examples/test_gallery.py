"""The examples of the gallery run, on few rows; each explains itself, and leaves a picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from docs.folder import quick
from docs.pages import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
# What runs besides the example: pictures are counted, and the process ends with their number.
COUNTED = "\nimport sys\nimport matplotlib.pyplot\nsys.exit(0 if matplotlib.pyplot.get_fignums() else 3)\n"


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    program = tmp_path / path.name
    program.write_text(quick(path) + COUNTED, "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:__main__", program],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short_and_have_a_title(path: Path) -> None:
    text = path.read_text("utf-8")
    title, rule = text.splitlines()[1:3]
    assert {*rule} == {"="}
    assert len(rule) == len(title)
    assert text.count("\n") <= 80
    assert "# %%" in text
