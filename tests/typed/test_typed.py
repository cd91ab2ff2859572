"""The types that users see: what a type checker believes is so, and it is told of everything."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import budgetsvm
from budgetsvm import _core

PROGRAM = Path(__file__).with_name("program.py")
PACKAGE = Path(budgetsvm.__file__).parent


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_the_program_of_a_user_runs(tmp_path: Path) -> None:
    runpy.run_path(str(PROGRAM))["main"](tmp_path)
    assert (tmp_path / "model.bsvm").exists()


@pytest.mark.slow
def test_a_type_checker_finds_the_mistakes_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    # As if installed: what is wrong in the package itself is none of the user's business.
    words = ["--strict", "--config-file=", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    installed = (
        PACKAGE.parent.name == "site-packages"
    )  # where mypy looks by itself, and nobody may name it
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *words, PROGRAM],
        env=os.environ | ({} if installed else {"MYPYPATH": str(PACKAGE.parent)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_stub_of_the_core_has_all_its_names() -> None:
    stub = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    told = {node.name for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    told |= {
        node.target.id
        for node in stub.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    there = {name for name in dir(_core) if not name.startswith("_")}
    assert {name for name in told if not name.startswith("_")} == there
