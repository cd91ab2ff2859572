"""Every piece of code on the site and in the README runs, and says what it shows."""

import doctest
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from docs import pages
from docs.folder import prepare

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SLOW = (
    *("index", "practice/advice", "practice/dask", "recipe", "tour", "guide/tuning"),
    *("practice/command-line", "practice/deployment", "coming-from/libsvm", "guide/budget"),
)
NAMES = [name for name in pages.names() if any(b.language in pages.RUN for b in pages.blocks(name))]
# Programs that not every machine has.
PROGRAMS = ("svm-train", "svm-predict", "svm-scale", "curl")


def run_python(block: pages.Block, name: str, space: dict[str, Any]) -> None:
    """Run a program, or a session with what it is to print."""
    if ">>> " not in block.code:
        exec(compile(block.code, f"{name}.md, line {block.line}", "exec"), space)  # noqa: S102
        return
    test = doctest.DocTestParser().get_doctest(block.code, space, name, name, block.line)
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False)
    space.update(test.globs)
    assert result.failed == 0


def run_shell(block: pages.Block, name: str, _space: Any) -> None:
    """Run commands, with this environment's programs before all others."""
    lacking = [p for p in PROGRAMS if p in block.code and shutil.which(p) is None]
    if lacking:
        pytest.skip(f"{name}: {lacking[0]} is not installed")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-e", "-o", "pipefail", "-c", block.code]
    with tempfile.TemporaryFile(
        "w+"
    ) as said:  # no pipe, which what was left running would hold open
        started = subprocess.Popen(
            command,
            env={**os.environ, "PATH": path},
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = started.wait()
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        said.seek(0)
        assert code == 0, block.code + said.read()


def run_c(block: pages.Block, _name: str, _space: Any) -> None:
    """Compile it, the first lines outside and the rest inside of a function."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("there is no C compiler")
    lines = block.code.splitlines()
    outside = [line for line in lines if line.startswith("#")]
    inside = [line for line in lines if not line.startswith("#")]
    program = "\n".join([*outside, "int main(void) {", *inside, "return label < 0;", "}"])
    Path("page.c").write_text(program, "utf-8")
    subprocess.run([compiler, "-std=c99", "page.c", "-o", "page", "-lm"], check=True)


RUNNERS: dict[str, Callable[..., None]] = {"python": run_python, "sh": run_shell, "c": run_c}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in NAMES]
)
def test_code_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    prepare(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in pages.blocks(name):
        if "sklearn.callback" in block.code and find_spec("sklearn.callback") is None:
            return  # scikit-learn is older than 1.9; so is what follows on that page
        if block.language in RUNNERS:
            RUNNERS[block.language](block, name, space)


def test_there_is_code() -> None:
    assert {"README", "tour", "recipe", "guide/tuning", "practice/deployment"} <= {*NAMES}


@pytest.mark.parametrize("name", pages.names())
def test_all_fences_say_what_they_are(name: str) -> None:
    if name not in pages.WITHOUT_CODE:
        assert {block.language for block in pages.blocks(name)} <= {*pages.RUN, *pages.SHOWN}
