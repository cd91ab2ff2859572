"""From the text of a model of LIBSVM to what is in it. Nothing in a file is believed."""

import re
import warnings
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from budgetsvm._formats.libsvm.model import CLASSIFIERS, KERNELS, TYPES, LibsvmModel
from budgetsvm._formats.libsvm.support_vectors import SupportVectors, read_support_vectors
from budgetsvm._problem.points import Points, sparse_pays
from budgetsvm.kernels import Kernel

_WORDS = ("svm_type", "kernel_type")
_WHOLE = ("degree", "nr_class", "total_sv")  # one integer each
_REAL = ("gamma", "coef0")
_LISTS = ("rho", "label", "probA", "probB", "prob_density_marks", "nr_sv")
FIELDS = (*_WORDS, *_WHOLE, *_REAL, *_LISTS)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
# What a broken file asks for is no more than this many times its size, or than this many bytes.
_TIMES, SMALL = 10, 1 << 26


def is_libsvm(text: bytes) -> bool:
    """Whether a file begins as LIBSVM's models do."""
    first = text[:100].split(maxsplit=1)
    return bool(first) and first[0].decode(errors="replace") in FIELDS


@dataclass
class _Header:
    where: str
    found: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    end: int = 0  #: where the support vectors begin
    line: int = 1  #: the number of their first line

    def fail(self, name: str, problem: str) -> NoReturn:
        line = self.lines.get(name)
        message = f"{self.where}{'' if line is None else f', line {line}'}: {name} {problem}"
        raise ValueError(message)

    def word(self, name: str, choices: Any) -> str:
        words = self._words(name)
        if len(words) != 1 or words[0] not in choices:
            self.fail(name, f"must be one of {', '.join(choices)}, not {' '.join(words)[:40]!r}")
        return words[0]

    def numbers(self, name: str, count: int, *, whole: bool = False) -> NDArray[Any]:
        words = self._words(name)
        if len(words) != count:
            self.fail(name, f"must have {count} numbers, and has {len(words)}")
        wrong = [word for word in words if not (_INTEGER if whole else _NUMBER).fullmatch(word)]
        if wrong:
            self.fail(name, f"has {wrong[0][:40]!r} in it, which is no {'integer' * whole}number")
        values = np.array(
            [int(w) if whole else float(w) for w in words], np.int64 if whole else float
        )
        if not np.isfinite(values).all():
            self.fail(name, "has a number too large for double precision")
        return values

    def count(self, name: str, least: int) -> int:
        value = int(self.numbers(name, 1, whole=True)[0])
        if value < least:
            self.fail(name, f"must be at least {least}, not {value}")
        return value

    def _words(self, name: str) -> list[str]:
        if name not in self.found:
            self.fail(name, "is missing: this is no model of LIBSVM, or a part of one")
        return self.found[name]


def read_libsvm(text: bytes, where: str, n_features: int | None = None) -> LibsvmModel:
    """Return the model of a text. Raises a ValueError that names the line."""
    header = _read_header(text, where)
    kind = header.word("svm_type", TYPES)
    kernel = _read_kernel(header)
    n_classes, total = header.count("nr_class", 1), header.count("total_sv", 0)
    is_classifier = kind in CLASSIFIERS
    if is_classifier and n_classes < 2:
        header.fail("nr_class", "is 1: a classifier of a single class has nothing to tell")
    if not is_classifier and n_classes != 2:
        header.fail("nr_class", f"must be 2 for {kind}, not {n_classes}")
    rho = header.numbers("rho", n_classes * (n_classes - 1) // 2)
    labels = counts = slopes = shifts = None
    if is_classifier:
        labels = header.numbers("label", n_classes, whole=True)
        counts = header.numbers("nr_sv", n_classes, whole=True)
        if len(np.unique(labels)) < n_classes:
            header.fail("label", "has a label twice")
        if (counts < 0).any() or sum(counts.tolist()) != total:
            header.fail("nr_sv", f"must be numbers of support vectors that sum up to {total}")
        if "probA" in header.found:
            slopes, shifts = (header.numbers(name, len(rho)) for name in ("probA", "probB"))
    elif {"probA", "probB", "prob_density_marks"} & header.found.keys():
        warn_of_probabilities(where)
    vectors = read_support_vectors(
        text, header.end, line=header.line, n_coef=n_classes - 1, count=total, where=where
    )
    points = _points(vectors, kernel, n_features, size=len(text), n_outputs=len(rho), where=where)
    return LibsvmModel(kind, kernel, vectors.coef, points, rho, labels, counts, slopes, shifts)


def warn_of_probabilities(where: str) -> None:
    """Say that probabilities of a file are not used."""
    warnings.warn(
        f"{where}: what the model says of probabilities is left out; its values and labels are as before",
        UserWarning,
        stacklevel=2,
    )


def _read_header(text: bytes, where: str) -> _Header:
    """Read all lines up to the support vectors."""
    header, at, number = _Header(where), 0, 0
    while at < len(text):
        number += 1
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        words = text[at:end].decode("ascii", errors="replace").split()
        at = end + 1
        name = words[0] if words else ""
        if name == "SV":
            header.end, header.line = min(at, len(text)), number + 1
            return header
        header.lines.setdefault(name, number)
        if name in header.found or name not in FIELDS:
            problem = "stands there twice" if name in header.found else "is not known to LIBSVM"
            message = f"{where}, line {number}: {name[:40]!r} {problem}"
            raise ValueError(message)
        header.found[name] = words[1:]
    message = f"{where}: the file ends in line {number}, and the support vectors are missing"
    raise ValueError(message)


def _read_kernel(header: _Header) -> Kernel:
    name = header.word("kernel_type", (*KERNELS, "precomputed"))
    if name == "precomputed":
        header.fail(
            "kernel_type",
            "is precomputed, which tells nothing of other rows: there is no way to use it here",
        )
    make, numbers = KERNELS[name]
    given: dict[str, Any] = {}
    for one in numbers:
        value = header.numbers(one, 1, whole=one in _WHOLE)[0]
        given[one] = int(value) if one in _WHOLE else float(value)
    kernel: Kernel = make(**given)
    try:
        kernel.check()
    except ValueError as error:
        header.fail("kernel_type", f"{name} cannot be used: {error}")
    return kernel


def _points(
    vectors: SupportVectors,
    kernel: Kernel,
    n_features: int | None,
    *,
    size: int,
    n_outputs: int,
    where: str,
) -> Points:
    """Return the points; where they have few of many features sparse ones, and else with all of them."""
    width = max(1, vectors.width)
    if n_features is not None and n_features < width:
        message = f"{where}: there are features up to {width}, and n_features={n_features}"
        raise ValueError(message)
    points = vectors.sparse(width if n_features is None else n_features)
    if sparse_pays(points, kernel):
        return points
    count = len(vectors.starts) - 1
    needed = 8 * count * (width + n_outputs) + vectors.n_bytes
    if n_features is None and needed > max(_TIMES * size, SMALL):
        message = (
            f"{where}: with {count} support vectors, features up to {width} and {n_outputs} outputs, the model takes "
            f"{needed:,} bytes, many times as much as the file; if it is not broken, say n_features={width}"
        )
        raise ValueError(message)
    return points.toarray()
