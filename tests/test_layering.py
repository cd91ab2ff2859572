"""The architecture: folders import one way, the top folder is public, folders and files stay small."""

import ast
import re
from pathlib import Path

import pytest

import budgetsvm

ROOT = Path(__file__).parent.parent
PACKAGE = Path(budgetsvm.__file__).parent
CORE = ROOT / "src" / "core"
FILES = sorted(PACKAGE.rglob("*.py"))

OPTIONS = {"kernels", "losses", "maintenance", "solvers"}
LEARNING = {"monitoring", "_model", "_problem", *OPTIONS, "_common", "_core"}
# What the files of a room, a folder or an option, may import besides each other.
MAY_IMPORT = {
    "_common": set(),
    **{option: {"_common"} for option in OPTIONS},
    "maintenance": {"kernels", "_common"},
    "_problem": {*OPTIONS, "_common"},
    "_model": {"_problem", *OPTIONS, "_common", "_core"},
    "monitoring": {"_model", "_problem", *OPTIONS, "_common"},
    "_learn": LEARNING,
    "_polish": LEARNING,
    "_exact": {"_polish", *LEARNING},
    "_estimators": {"budgetsvm", "_learn", "_polish", "_exact", *LEARNING} - {"_core"},
    "_formats": {"_estimators", "_model", "_problem", *OPTIONS, "_common"},
    "streams": {"_common", "_core"},
    "datasets": {"streams", "_common"},
    "distributed": {"_estimators", "streams", "_learn", "_polish", *LEARNING} - {"_core"},
    "model_selection": {"budgetsvm", "_estimators", *OPTIONS, "_common"},
    "plots": {"_common"},
    "conformal": {"_common"},
    "_diagnosis": {"_estimators", "_model", "_problem", *OPTIONS, "_common"},
    "_report": {"_diagnosis", "plots", "monitoring", "_problem", "_common"},
    "cli": {
        "_formats",
        "_estimators",
        "_report",
        "budgetsvm",
        "datasets",
        "model_selection",
        "streams",
        *LEARNING,
    },
    "__main__": {"cli"},
    "budgetsvm": {
        "_diagnosis",
        "_formats",
        "_estimators",
        "_report",
        "conformal",
        "datasets",
        "streams",
        "monitoring",
        "model_selection",
        "plots",
        *OPTIONS,
        "_core",
    },
}
# The same for C++.
MAY_INCLUDE = {
    "leaf": set(),
    "model": {"leaf"},
    "evaluate": {"model", "leaf"},
    "maintenance": {"evaluate", "model", "leaf"},
    "learn": {"maintenance", "evaluate", "model", "leaf"},
    "polish": {"maintenance", "evaluate", "model", "leaf"},
    "read": set(),
    "bindings": {"read", "learn", "polish", "maintenance", "evaluate", "model", "leaf"},
}
MOST_FILES, MOST_LINES = 12, 320


def room(path: Path) -> str:
    """Return the folder or module of the package that a file belongs to."""
    first = path.relative_to(PACKAGE).parts[0]
    return "budgetsvm" if first == "__init__.py" else first.removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Absolute names of everything that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import in line {node.lineno}"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def rooms(path: Path) -> set[str]:
    """Rooms of the package that a file imports from; "budgetsvm" for names of the package itself."""
    found = set()
    for name in imports(path):
        first, *rest = name.split(".")
        if first == "budgetsvm":
            found.add(rest[0] if rest and rest[0] in {*MAY_IMPORT, "_core"} else "budgetsvm")
    return found - {room(path)}


def test_the_parser_sees_imports() -> None:
    """The tests below cannot pass by seeing nothing."""
    assert rooms(PACKAGE / "_estimators" / "fitting" / "two_phases.py") >= {
        "_learn",
        "_polish",
        "monitoring",
    }
    assert "sklearn.base.BaseEstimator" in imports(PACKAGE / "_estimators" / "user_input.py")
    assert "_core" in rooms(PACKAGE / "_model" / "term_store.py")
    assert {room(path) for path in FILES} == set(MAY_IMPORT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    assert rooms(path) <= MAY_IMPORT[room(path)]


def test_the_phases_have_one_door_each() -> None:
    """Who trains a machine sees of a phase its door, and the words that are exchanged there."""
    words = {
        "_learn": {"learn", "settings", "early_stopping", "given_terms", "keeper"},
        "_polish": {"polish", "result", "convergence", "share", "basis", "path"},
        "_exact": {"exact", "budget", "kept"},
    }
    for folder, known in words.items():
        for path in (PACKAGE / "_estimators").rglob("*.py"):
            parts = {name.split(".")[2] for name in imports(path) if f".{folder}." in name}
            assert parts <= known, path


def test_only_the_estimators_know_scikit_learns_base_classes() -> None:
    knowing = {room(path) for path in FILES if any("sklearn.base" in n for n in imports(path))}
    assert knowing == {"_estimators", "model_selection"}


def test_the_top_folder_is_public() -> None:
    private = {path.stem for path in PACKAGE.glob("_*.py*") if not path.stem.startswith("__")}
    assert private <= {"_core"}


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.?pp")), ids=lambda path: path.name)
def test_includes_go_one_way(path: Path) -> None:
    text, own = path.read_text(encoding="utf-8"), path.parent.name
    folders = {name.split("/")[0] for name in re.findall(r'#include "(.+?)"', text)} - {own}
    assert folders <= MAY_INCLUDE[own]
    assert own == "bindings" or not re.search("nanobind|Python.h", text)


@pytest.mark.parametrize("top", ["src", "tests"])
def test_folders_and_files_stay_small(top: str) -> None:
    kinds = {".py", ".pyi", ".hpp", ".cpp"}
    files = [path for path in (ROOT / top).rglob("*") if path.suffix in kinds]
    assert len(files) > 80
    most = MOST_LINES if top == "src" else 400
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {str(path): n for path, n in lengths.items() if n > most} == {}
    folders = {path.parent for path in files}
    counts = {folder: sum(path.parent == folder for path in files) for folder in folders}
    assert {str(folder): n for folder, n in counts.items() if n > MOST_FILES} == {}
