"""Headers of C, compiled and run by the C compiler of the system."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_SOURCE = """
#include "model.h"
void run_values(const float *x, float *values) { model_values(x, values); }
"""
_PREDICT = "int run_predict(const float *x) { return model_predict(x); }\n"
_SHARES = "void run_probabilities(const float *x, float *p) { model_probabilities(x, p); }\n"


class Compiled:
    """The functions of a header."""

    def __init__(self, folder: Path, header: str) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("there is no C compiler")
        (folder / "model.h").write_text(header)
        source = _SOURCE + _PREDICT * ("model_predict" in header)
        (folder / "model.c").write_text(source + _SHARES * ("model_probabilities" in header))
        strict = [
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-O1",
            "-shared",
            "-fPIC",
        ]
        built = [compiler, *strict, "model.c", "-o", "model.so", "-lm"]
        subprocess.run(built, cwd=folder, check=True, capture_output=True)
        self._library = ctypes.CDLL(str(folder / "model.so"))

    def values(self, X: Any, width: int, name: str = "run_values") -> np.ndarray:
        """Return what a function writes for every row."""
        found, function = np.zeros((len(X), width), np.float32), getattr(self._library, name)
        for row, out in zip(np.ascontiguousarray(X, np.float32), found, strict=True):
            function(*(ctypes.c_void_p(one.ctypes.data) for one in (row, out)))
        return found

    def predict(self, X: Any) -> np.ndarray:
        """Return what is predicted for every row."""
        rows = np.ascontiguousarray(X, np.float32)
        run = self._library.run_predict
        return np.array([run(ctypes.c_void_p(row.ctypes.data)) for row in rows])
