"""The architecture: imports go one way, and files stay small."""

import ast
from pathlib import Path

import pytest

import budgetsvm

ROOT = Path(__file__).parent.parent
PACKAGE = Path(budgetsvm.__file__).parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))

# A module may import those of the layers above it in this list, and no others.
LAYERS = [
    {"_core", "_validation", "_data", "_memory", "_blocks", "_columns", "_text_file", "_callbacks"},
    {"_atomic"},
    {"_catalogue", "_preparation", "_user_cache"},
    {
        "kernels",
        "losses",
        "_rows",
        "_progress",
        "_threads",
        "_reservoir",
        "_target_scale",
        "solvers",
    },
    {"_csv_line", "_data_files", "_text_blocks", "_download"},
    {"maintenance", "_targets", "_terms", "_landmarks"},
    {"_libsvm_file", "_csv_file", "_parquet_file"},
    {"streams", "_libsvm_table"},
    {"_table_cache"},
    {"_dataset_files"},
    {"datasets"},
    {"_origin", "_precision", "_limits"},
    {"_expansion", "_basis"},
    {"_polished"},
    {"_convergence"},
    {"_monitor"},
    {"_watching", "_objectives"},
    {"_trace"},
    {"_trace_plot"},
    {"monitoring"},
    {"_training", "_features", "_density"},
    {
        "_watched_fit",
        "_parameters",
        "_early_stopping",
        "_joint",
        "_reduction",
        "_span",
        "_hessian",
        "_class_pairs",
        "_left_out",
        "_audit",
        "_second_best",
    },
    {"_learning", "_ascent", "_smooth", "_weston_watkins"},
    {"_newton"},
    {"_turns"},
    {"_many_outputs"},
    {"_polish"},
    {"_phase_two", "_share", "_fitted"},
    {"_machine"},
    {"_streaming", "_class_prediction"},
    {"_detector"},
    {"_svc", "_svr", "_one_class_svm"},
    {"_feature_map", "_polish_alone"},
    {"__init__"},
    {"_demo"},
    {"cli", "__main__"},
]
ESTIMATORS = {"_parameters", "_svc", "_svr", "_one_class_svm", "_feature_map"}
MAY_IMPORT_CORE = {"__init__", "_terms", "_expansion", "_training", "_joint", "_demo", "cli"}
MAY_IMPORT_CORE |= {"_reduction"}
MAY_IMPORT_CORE |= {"_basis", "_features", "_ascent", "_class_pairs"}  # phase 2


def tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def imports(module: str) -> set[str]:
    """Absolute names of everything that a module imports, wherever in the file."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}.py: relative import in line {node.lineno}"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def internal(module: str) -> set[str]:
    """Modules of this package that a module imports; "__init__" for names of the package itself."""
    found = set()
    for name in imports(module):
        first, *rest = name.split(".")
        if first == "budgetsvm":
            part = rest[0] if rest else "__init__"
            found.add(part if part in (*MODULES, "_core") else "__init__")
    return found


def layer(module: str) -> int:
    for number, members in enumerate(LAYERS):
        if module in members:
            return number
    raise AssertionError(f"{module}.py has no layer: give it one in {Path(__file__).name}")


def test_the_parser_sees_imports() -> None:
    """The tests below cannot pass by seeing nothing."""
    assert internal("_machine") >= {"_training", "_learning", "_phase_two", "kernels"}
    assert "sklearn.base.BaseEstimator" in imports("_parameters")
    assert "_core" in internal("_terms")


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    upwards = {other for other in internal(module) if layer(other) >= layer(module)}
    assert not upwards


@pytest.mark.parametrize("module", sorted(set(MODULES) - MAY_IMPORT_CORE))
def test_only_the_inner_modules_know_the_core(module: str) -> None:
    assert "_core" not in internal(module)


@pytest.mark.parametrize("module", sorted(set(MODULES) - ESTIMATORS))
def test_only_the_estimators_know_scikit_learns_base_classes(module: str) -> None:
    assert not {name for name in imports(module) if name.startswith("sklearn.base")}


def test_only_the_bindings_know_python() -> None:
    core = ROOT / "src" / "core"
    words = ("nanobind", "Python.h", "arguments.hpp")
    including = {
        path.name
        for path in core.iterdir()
        if any(word in path.read_text(encoding="utf-8") for word in words)
    }
    arguments = {"arguments.hpp", "learning_arguments.hpp"}
    assert including == {"bindings.cpp", "bind_learning.cpp"} | arguments


def test_files_stay_small() -> None:
    files = [
        path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".pyi", ".hpp", ".cpp"}
    ]
    assert len(files) > 20
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: n for name, n in lengths.items() if n >= 350} == {}
