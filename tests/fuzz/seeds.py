"""Good files, from which broken ones are made."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from estimators.checkpoints.scenarios import Breaking, Breaks, short_calls
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, save, to_libsvm
from budgetsvm._common.files.records import FileKind, from_bytes, to_bytes
from budgetsvm._estimators.checkpoints.contents import CHECKPOINT
from budgetsvm._formats.native import MODEL

MODEL_WORDS = (b'"$array"', b'"$strings"', b'"$number"', b"null", b"true", b"F64", b"I32", b"{}")
LIBSVM_WORDS = (b"nu_svc", b"precomputed", b"rho ", b"probA 1\n", b"SV\n", b"nr_class 3\n")
ARRAY_WORDS = (b"'|O'", b"'<f4'", b"'<U4'", b"True", b"'fortran_order'", b"PK\x03\x04", b"L")


def _written(*writers: Callable[[Path], object]) -> list[bytes]:
    """Return what functions write into files."""
    with TemporaryDirectory() as folder:
        path, found = Path(folder, "a"), []
        for write in writers:
            write(path)
            found.append(path.read_bytes())
    return found


def _timeless(file: bytes, kind: FileKind) -> bytes:
    """Return a file that does not say how long something took: the same one each time."""

    def without(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: without(one, key) for key, one in value.items()}
        if name == "history" and isinstance(value, np.ndarray):
            value[..., -1] = 0.25
        if name == "seconds":
            return np.full_like(value, 0.25) if isinstance(value, np.ndarray) else 0.25
        return value

    return b"".join(to_bytes(without(from_bytes(file, "a seed", kind)), kind))


@cache
def _machines() -> list[Any]:
    X, y = make_blobs(60, 3, centers=3, random_state=0)
    few = {"budget": 5, "random_state": 0, "gamma": 0.1}
    two = y > 0
    return [
        BudgetSVC(**few).fit(X, two),
        BudgetSVC(**few, loss="logistic").fit(X, two.astype(int)),
        BudgetSVC(**few, multi_class="ovo", break_ties=False).fit(X, y),
        BudgetSVC(**few, kernel="poly", degree=2, maintenance="remove").fit(X, np.where(two, 7, 3)),
        BudgetSVR(**few).fit(X, X[:, 0]),
        BudgetOneClassSVM(**few).fit(X),
    ]


@cache
def models() -> Sequence[bytes]:
    """Models of all kinds, some behind a scaler."""
    X, y = make_blobs(60, 3, centers=3, random_state=0)
    words = np.array(["red", "green", "blue"])[y]
    more = [
        make_pipeline(StandardScaler(), BudgetSVC(budget=5, random_state=0)).fit(X, words),
        make_pipeline(MinMaxScaler(), BudgetSVR(budget=4, random_state=0)).fit(X, X[:, 0]),
        BudgetSVC(budget=8, random_state=0, polish=False).partial_fit(X, y, classes=[0, 1, 2]),
        BudgetSVC(budget=5, multi_class="ovr", random_state=0).fit(sparse.csr_array(X), y),
    ]
    files = _written(
        *(lambda path, machine=machine: save(machine, path) for machine in (*_machines(), *more))
    )
    return [_timeless(file, MODEL) for file in files]


@cache
def _two_classes() -> Any:
    return make_blobs(60, 3, centers=2, random_state=0)


def interrupted(path: Any) -> BudgetSVC:
    """Train, or go on with that."""
    X, y = _two_classes()
    model = BudgetSVC(budget=5, gamma=0.1, polish=False, epochs=2, random_state=0, n_jobs=1)
    return model.fit(X, y, checkpoint=path)


@cache
def checkpoints() -> Sequence[bytes]:
    """What an interrupted fit leaves, at its beginning and later on."""

    def leave(path: Path, after: int) -> None:
        with suppress(Breaks), short_calls(1):
            interrupted(Breaking(path, after))

    files = _written(lambda path: leave(path, 1), lambda path: leave(path, 2))
    return [_timeless(file, CHECKPOINT) for file in files]


@cache
def libsvm_models() -> Sequence[bytes]:
    """Models of LIBSVM of all kinds."""
    return [to_libsvm(machine).encode() for machine in _machines()]


@cache
def libsvm_data() -> Sequence[bytes]:
    """Rows with all that the format has, sparse and dense, and many of them."""
    X, y = make_blobs(400, 6, random_state=0)
    rows = sparse.random_array((50, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    return [
        b"1 1:.5 3:-2e-1 # c\r\n-1 qid:3 2:1\n\n+2.5 6:1.25e1\n" * 3,
        b"\xef\xbb\xbf-1 0:1 1:2\n1 1:1e-3\n",
        *_written(
            lambda path: dump_svmlight_file(X, y, str(path), zero_based=False),
            lambda path: dump_svmlight_file(rows, np.arange(50), str(path)),
        ),
    ]


def zipped(data: bytes) -> bytes:
    """Return a gzip file that does not say when it was made."""
    return gzip.compress(data, mtime=0)


@cache
def compressed() -> Sequence[bytes]:
    """Rows in compressed files, of one stream and of several."""
    kinds: list[Callable[[bytes], bytes]] = [zipped, bz2.compress, lzma.compress]
    whole = [squeeze(text) for squeeze in kinds for text in libsvm_data()]
    return [*whole, *(squeeze(b"1 1:2\n") * 3 for squeeze in kinds)]


@cache
def csv_data() -> Sequence[bytes]:
    """Tables with and without names, quotes, and labels that are words."""
    X, y = make_blobs(200, 4, random_state=0)
    numbers = "\n".join(
        ",".join(map(repr, (int(b), *a.tolist()))) for a, b in zip(X, y, strict=True)
    )
    return [
        b"kind,width,length\nred,1,2\nblue,3,4.5\n" * 1 + b"red,0.25,-1e3\n" * 20,
        b'"a ""b""","c,d",e\r\n1,2,3\r\n"4",5,6\r\n',
        b"1,2,3\n4,5,6\n\n7,8,9",
        numbers.encode(),
    ]


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@cache
def arrays() -> Sequence[bytes]:
    """Arrays of several types and layouts."""
    X = make_blobs(40, 3, random_state=0)[0]
    kinds = ("f8", "f4", ">f8", "f2", "i4", "u1", "?")
    return [*(_npy(X.astype(kind)) for kind in kinds), _npy(np.asfortranarray(X))]


@cache
def archives() -> Sequence[bytes]:
    """Archives of arrays, stored and compressed, and of sparse rows."""
    X, y = make_blobs(40, 3, random_state=0)

    def archive(save: Callable[..., None], **arrays: Any) -> bytes:
        file = io.BytesIO()
        save(file, **arrays)
        return file.getvalue()

    def of_scipy(compressed: bool) -> bytes:
        file = io.BytesIO()
        sparse.save_npz(file, sparse.csr_array(np.where(X > 0, X, 0)), compressed=compressed)
        return file.getvalue()

    return [
        archive(np.savez, X=X, y=y),
        archive(np.savez_compressed, X=np.asfortranarray(X), y=np.array(["no", "yes", "?"])[y]),
        archive(np.savez, X=X.astype("f4")),
        of_scipy(True),
        of_scipy(False),
    ]


@cache
def ranges() -> Sequence[bytes]:
    """Ranges of features, and of targets."""
    return [b"x\n-1 1\n1 0 5\n2 -3.5 1e3\n7 0 1\n", b"y\n-1 1\n0 50\nx\n0 1\n1 0.25 5\n3 -2 -1\n"]
