"""What is said where a library of an extra is missing: what it is needed for, and a command that works in any shell."""

import subprocess
import sys

import pytest

from budgetsvm._common.extras import extra


def test_the_message_names_the_extra() -> None:
    expected = r'pictures need matplotlib: pip install "budgetsvm\[plot\]"'
    with (
        pytest.raises(ImportError, match=expected) as raised,
        extra("plot", "pictures need matplotlib"),
    ):
        raise ModuleNotFoundError("No module named 'matplotlib'")
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("library", "name", "code"),
    [
        ("distributed", "dask", "import budgetsvm.distributed"),
        ("skl2onnx", "onnx", "import budgetsvm; budgetsvm.to_onnx(None, None)"),
        ("matplotlib", "plot", "import budgetsvm; budgetsvm.report(None, None, None, 'page.html')"),
        ("pyarrow", "arrow", "from budgetsvm.streams._parquet import _arrow; _arrow()"),
    ],
)
def test_every_extra_is_named(library: str, name: str, code: str) -> None:
    missing = f"import sys; sys.modules[{library!r}] = None; "
    done = subprocess.run(
        [sys.executable, "-c", missing + code], capture_output=True, text=True, check=False
    )
    assert f'pip install "budgetsvm[{name}]"' in done.stderr.splitlines()[-1]
