"""What a process of the command line has loaded at its end: modules are counted, not seconds."""

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
from sklearn.datasets import dump_svmlight_file, make_moons
from sklearn.utils.fixes import parse_version

from budgetsvm import cli

# Older ones call at once what others stand in for: with them it takes a second longer to start, and that is all.
of_newer_versions = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="scikit-learn is older"
)

# What scikit-learn and SciPy would load, and commands never call; some may not be installed.
NOT_NEEDED = {
    *(
        "scipy.stats",
        "scipy.ndimage",
        "scipy.optimize",
        "scipy.interpolate",
        "scipy.integrate",
    ),
    *("scipy.fft", "numpy.testing", "numpy.f2py", "unittest"),
    *("pandas", "pyarrow", "matplotlib", "onnx", "skl2onnx", "tqdm", "filelock"),
    *("sklearn.pipeline", "sklearn.preprocessing", "sklearn.metrics", "sklearn.model_selection"),
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    X, y = make_moons(400, noise=0.2, random_state=0)
    data, model = str(tmp_path / "moons"), str(tmp_path / "moons.bsvm")
    dump_svmlight_file(X, y, data, zero_based=False)
    assert cli.main(["train", "-q", "-B", "20", data, model]) == 0
    return data, model


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a program has loaded when it ends."""
    program = (
        "import sys; from budgetsvm.cli import main; code = main(sys.argv[1:]);"
        "print('\\nLOADED', *sys.modules); sys.exit(code)"
    )
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    return set(done.stdout.rpartition("\nLOADED")[2].split())


@pytest.mark.slow
@of_newer_versions
def test_train_and_predict_load_only_what_they_need(files: tuple[str, str]) -> None:
    data, model = files
    for arguments in (
        ["train", "-q", "-c", "32", "-g", "2", "-B", "50", data, model],
        ["train", "-q", "-s", "3", data, model + "r"],
        ["train", "-q", "-s", "2", data, model + "o"],
        ["predict", data, model],
        ["info", model],
    ):
        loaded = loaded_by(*arguments)
        assert {"sklearn.base", "scipy.linalg", "budgetsvm._core"} <= loaded
        assert NOT_NEEDED & loaded == set(), arguments[0]
        if arguments[0] != "train":  # to which it is a matter of the data
            assert not {"scipy.special", "scipy.spatial"} & loaded


@pytest.mark.slow
@of_newer_versions
def test_other_commands_load_what_they_need_and_no_tables(files: tuple[str, str]) -> None:
    data, model = files
    assert not {"sklearn", "scipy.linalg", "pandas"} & loaded_by("scale", data)
    for arguments in (
        ["train", "-q", "--scale", "standard", data, model],
        ["predict", data, model],  # of that pipeline
        ["evaluate", data, model],
        ["cv", "-B", "20", data],
    ):
        loaded = loaded_by(*arguments)
        assert "budgetsvm._core" in loaded
        assert not {"pandas", "pyarrow", "matplotlib", "onnx"} & loaded


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@of_newer_versions
def test_what_stood_in_is_the_real_thing_when_it_is_used() -> None:
    pytest.importorskip("pandas")
    run("""
import sys
from budgetsvm.cli._stand_ins import import_sklearn
import_sklearn()
import sklearn.utils.fixes as fixes
import scipy
assert not {"pandas", "scipy.stats"} & set(sys.modules)
assert fixes.scipy.stats.norm.cdf(0) == 0.5  # by scikit-learn
import scipy.stats
assert scipy.stats is sys.modules["scipy.stats"]
import pandas as pd
from sklearn.preprocessing import StandardScaler
from budgetsvm import BudgetSVC
held = getattr(fixes, "pd", pd)
table = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]})
assert isinstance(table, held.DataFrame) and held.DataFrame is pd.DataFrame
model = BudgetSVC().fit(table, [0, 0, 1, 1])
assert list(model.feature_names_in_) == ["a", "b"]
assert list(StandardScaler().set_output(transform="pandas").fit_transform(table).columns) == ["a", "b"]
import numpy, numpy.testing
numpy.testing.assert_allclose(1, 1)
""")


def test_what_is_used_while_others_stand_in() -> None:
    run("""
import sys
from budgetsvm.cli._stand_ins import standing_in
with standing_in("json", "json.decoder", "xml.dom", "no_such_module"):
    import json
    import xml.dom
    assert type(json).__name__ == type(xml.dom).__name__ == "_StandIn"
    import json  # a second time
    import json.decoder as decoder  # needs the package itself
    assert json.loads("[1]") == [1] and decoder is sys.modules["json.decoder"]
    try:
        import no_such_module
        raise AssertionError("it is there")
    except ModuleNotFoundError:
        pass
import xml
assert type(sys.modules["json"]).__name__ == "module"
assert "xml.dom" not in sys.modules and not hasattr(xml, "dom")
import xml.dom as real
assert real.Node.ELEMENT_NODE == 1 and type(real).__name__ == "module"
assert not any(type(finder).__name__ == "_StandIns" for finder in sys.meta_path)
""")
