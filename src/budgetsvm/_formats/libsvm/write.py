"""From a model to the text that LIBSVM's programs read."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from budgetsvm._formats.libsvm.model import KERNELS, LibsvmModel


def libsvm_text(model: LibsvmModel) -> str:
    """Return the file. It has all digits, and its last feature even where that is zero everywhere."""
    name, numbers = next(
        (name, numbers) for name, (kind, numbers) in KERNELS.items() if type(model.kernel) is kind
    )
    lines = [f"svm_type {model.kind}", f"kernel_type {name}"]
    lines += [f"{one} {getattr(model.kernel, one):.17g}" for one in numbers]
    lines += [f"nr_class {len(model.coef) + 1}", f"total_sv {len(model.points)}"]
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
    shown = model.points != 0
    if len(shown):
        shown[0, -1] = True  # so that the number of features can be told
    for coef, point, which in zip(model.coef.T, model.points, shown, strict=True):
        entries = " ".join(f"{k + 1}:{point[k]:.17g}" for k in np.flatnonzero(which))
        yield f"{_numbers(coef)} {entries}".rstrip()


def _numbers(values: NDArray[np.float64] | NDArray[np.int64]) -> str:
    return " ".join(
        f"{value:.17g}" if isinstance(value, float) else f"{value}" for value in values.tolist()
    )
