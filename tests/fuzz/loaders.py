"""All that reads files from elsewhere. A new loader is one more line in LOADERS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import seeds
from fuzz.inside import arrays_inside, compressed_inside, record_inside
from scipy import sparse

import budgetsvm
from budgetsvm._estimators.checkpoints.contents import CHECKPOINT
from budgetsvm._formats.native import MODEL
from budgetsvm.cli._scale.ranges import Ranges
from budgetsvm.streams import read_blocks

_FEW_FEATURES = 10_000


@dataclass(frozen=True)
class Loader:
    """How files are read, good ones to begin with, and words that mean something in them."""

    load: Callable[[Path], object]
    seeds: Callable[[], Sequence[bytes]]
    tokens: Sequence[bytes] = ()
    #: Makes the file of a number that a checksum, say, does not stop at the door; every other file is one.
    inside: Callable[[int], bytes] | None = None
    suffix: str = ""
    #: Bytes of memory that a file may take whatever its size: for buffers, or because the loader says so.
    constant: int = 8 << 20


def _data(path: Path, **options: Any) -> None:
    """Read all rows, in blocks and at once: they are finite, and all have labels."""
    for X, y in read_blocks(path, rows=50, **options):
        _check(X, y)
    _check(*read_blocks(path, **options).whole())


def _check(X: Any, y: Any) -> None:
    assert y is None or len(y) == X.shape[0]
    if not isinstance(X, np.ndarray):
        X.check_format(full_check=True)
        X = X.data
    assert np.isfinite(X).all()
    assert y is None or y.dtype.kind == "U" or np.isfinite(y).all()


def _model(path: Path) -> None:
    """Load a model, which then has something to say."""
    machine = budgetsvm.load(path)
    rows = sparse.csr_array((2, machine.n_features_in_))  # of which there may be a great many
    few = machine.n_features_in_ <= _FEW_FEATURES
    said = machine.predict(rows.toarray() if few else rows)
    assert len(said) == 2


def _checkpoint(path: Path) -> None:
    """Go on from a checkpoint, to a model that has something to say."""
    machine = seeds.interrupted(path)
    assert np.isfinite(machine.decision_function(np.zeros((2, machine.n_features_in_)))).all()


def _ranges(path: Path) -> None:
    ranges = Ranges.read(path)
    assert np.isfinite(ranges.least).all()


LOADERS = {
    "model": Loader(
        _model, seeds.models, seeds.MODEL_WORDS, lambda n: record_inside(seeds.models(), MODEL, n)
    ),
    "checkpoint": Loader(
        _checkpoint,
        seeds.checkpoints,
        seeds.MODEL_WORDS,
        lambda n: record_inside(seeds.checkpoints(), CHECKPOINT, n),
    ),
    # Points of up to 64 MiB, and their copies: a small file may well have features of high numbers.
    "LIBSVM model": Loader(_model, seeds.libsvm_models, seeds.LIBSVM_WORDS, constant=256 << 20),
    "LIBSVM data": Loader(partial(_data, format="libsvm"), seeds.libsvm_data),
    # xz may have 256 MiB for its dictionary.
    "compressed": Loader(
        partial(_data, format="libsvm"),
        seeds.compressed,
        (b"\xfd7zXZ\x00", b"BZh9", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"),
        lambda n: compressed_inside(seeds.libsvm_data(), n),
        constant=300 << 20,
    ),
    "CSV": Loader(partial(_data, format="csv", target=0), seeds.csv_data),
    "NPY": Loader(_data, seeds.arrays, seeds.ARRAY_WORDS, suffix=".npy"),
    "NPZ": Loader(
        _data,
        seeds.archives,
        seeds.ARRAY_WORDS,
        lambda n: arrays_inside(seeds.archives(), seeds.ARRAY_WORDS, n),
        suffix=".npz",
    ),
    "ranges": Loader(_ranges, seeds.ranges, constant=80 << 20),  # 64 of which for features
}
