"""From a model to the text that LIBSVM's programs read."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from budgetsvm._formats.libsvm.model import KERNELS, LibsvmModel
from budgetsvm._problem.points import sparse_rows


def libsvm_text(model: LibsvmModel) -> str:
    """Return the file. It has all digits, and its last feature even where that is zero everywhere."""
    name, numbers = next(
        (name, numbers) for name, (kind, numbers) in KERNELS.items() if type(model.kernel) is kind
    )
    lines = [f"svm_type {model.kind}", f"kernel_type {name}"]
    lines += [f"{one} {getattr(model.kernel, one):.17g}" for one in numbers]
    lines += [f"nr_class {len(model.coef) + 1}", f"total_sv {model.points.shape[0]}"]
    for field, values in (
        ("rho", model.rho),
        ("label", model.labels),
        ("probA", model.slopes),
        ("probB", model.shifts),
        ("nr_sv", model.counts),
    ):
        if values is not None:
            lines.append(f"{field} {_numbers(values)}")
    lines.append("SV")
    lines += _vectors(model)
    return "\n".join(lines) + "\n"


def _vectors(model: LibsvmModel) -> Iterable[str]:
    points = sparse_rows(model.points)
    last = points.shape[1] - 1
    for row, coef in enumerate(model.coef.T):
        some = slice(points.indptr[row], points.indptr[row + 1])
        entries = dict(zip(points.indices[some].tolist(), points.data[some].tolist(), strict=True))
        entries = {k: value for k, value in entries.items() if value != 0}
        if row == 0:
            entries.setdefault(last, 0.0)  # so that the number of features can be told
        text = " ".join(f"{k + 1}:{value:.17g}" for k, value in sorted(entries.items()))
        yield f"{_numbers(coef)} {text}".rstrip()


def _numbers(values: NDArray[np.float64] | NDArray[np.int64]) -> str:
    return " ".join(
        f"{value:.17g}" if isinstance(value, float) else f"{value}" for value in values.tolist()
    )
