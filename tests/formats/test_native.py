"""Estimators as files: the same again, or a clear refusal; never half a file."""

import json
import os
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from numpy.testing import assert_array_equal
from sequences.runs import SUBJECTS, Data
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, QuantileTransformer, StandardScaler
from tools.frozen import frozen

import budgetsvm
from budgetsvm import BudgetSVC
from budgetsvm._common.files.records import from_bytes, to_bytes
from budgetsvm._estimators.snapshots import snapshot_of
from budgetsvm._formats.native import MODEL

DATA, OTHERS = Data(n=60, d=3), Data(n=20, d=3, seed=1)


def answers(model: Any) -> Any:
    method = "transform" if hasattr(model, "transform") else "predict"
    return frozen(getattr(model, method)(OTHERS.rows()))


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_same_estimator_again(tmp_path: Path, subject: str, way: str) -> None:
    model = SUBJECTS[subject](budget=10, random_state=0)
    getattr(model, way)(DATA.rows(), DATA.targets(subject))
    model.save(tmp_path / "a.bsvm")
    again = budgetsvm.load(str(tmp_path / "a.bsvm"))
    assert type(again) is type(model)
    assert frozen(snapshot_of(again)) == frozen(snapshot_of(model))
    assert answers(again) == answers(model)


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 1), clip=True),
        MaxAbsScaler(),
    ],
    ids=str,
)
def test_pipelines(tmp_path: Path, scaler: Any, names: bool) -> None:
    X, y = DATA.rows(), DATA.targets("two classes")
    if names:
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make_pipeline(scaler, BudgetSVC(budget=5, random_state=0)).fit(X, y)
    budgetsvm.save(model, tmp_path / "a.bsvm")
    again = budgetsvm.load(tmp_path / "a.bsvm")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again[0].get_params() == scaler.get_params()
    assert vars(again[0]).keys() == vars(scaler).keys()
    assert_array_equal(again[0].n_samples_seen_, scaler.n_samples_seen_)


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.bsvm"
    X, y = DATA.rows(), DATA.targets("two classes")
    fitted = BudgetSVC(budget=5).fit(X, y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        BudgetSVC().save(path)
    with pytest.raises(ValueError, match="use a pickle"):
        budgetsvm.save(make_pipeline(QuantileTransformer(n_quantiles=10), fitted).fit(X, y), path)
    with pytest.raises(ValueError, match="not 3 steps"):
        budgetsvm.save(make_pipeline(MaxAbsScaler(), MaxAbsScaler(), fitted), path)
    with pytest.raises(NotFittedError, match="StandardScaler is not fitted"):
        budgetsvm.save(make_pipeline(StandardScaler(), fitted), path)
    with pytest.raises(ValueError, match="none of the estimators"):
        budgetsvm.save(StandardScaler().fit(X), path)
    assert not list(tmp_path.iterdir())


def test_other_programs_can_open_it(tmp_path: Path) -> None:
    path = tmp_path / "a.bsvm"
    model = BudgetSVC(budget=5, random_state=0, precision="double").fit(
        DATA.rows(), DATA.targets("two classes")
    )
    model.save(path)
    arrays = safetensors.numpy.load_file(path)
    assert_array_equal(arrays["machine/state/model/coef"], model.dual_coef_)
    with safetensors.safe_open(path, "numpy") as file:
        record = json.loads(file.metadata()["record"])
    assert record["machine"]["kind"] == "BudgetSVC"


ODD: dict[str, Any] = {
    "numbers": [1, -(2**70), 0.1, 1e-300, float("inf"), float("-inf"), None, True, ""],
    "text": 'ü\n\ud7ff\U0001f600 "quotes" \\ ' + "0" * 64,
    "nested": {"a": [{"b": [[]]}], "": {}},
    "scalar": np.array(3.5),
    "empty": np.zeros((0, 7), np.float32),
    "strings": np.array([["a", "bc"], ["", "ü"]]),
    "no strings": np.array([], dtype="U3"),
    "big endian": np.arange(5, dtype=">i4"),
    "Fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "types": [np.arange(3).astype(code) for code in "?bBhHiIqQefd"],
}


def test_any_plain_record() -> None:
    again = from_bytes(b"".join(to_bytes(ODD, MODEL)), "it", MODEL)
    assert again.keys() == ODD.keys()
    for key, value in ODD.items():
        if isinstance(value, np.ndarray):
            assert_array_equal(again[key], value)
            assert again[key].dtype.kind == value.dtype.kind
            assert again[key].flags.writeable
        elif key == "types":
            assert [one.dtype.name for one in again[key]] == [one.dtype.name for one in value]
            assert_array_equal(again[key], value)
        else:
            assert again[key] == value


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.bsvm"
    X, y = DATA.rows(), DATA.targets("three classes")
    model = make_pipeline(StandardScaler(), BudgetSVC(budget=4, random_state=0))
    budgetsvm.save(model.fit(X, y), path)
    return path


def test_every_flipped_byte_is_found(saved: Path) -> None:
    content, step = saved.read_bytes(), 7
    for i in range(0, len(content), step):
        for bit in (0, 5):
            damaged = bytearray(content)
            damaged[i] ^= 1 << bit
            saved.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"a\.bsvm"):
                budgetsvm.load(saved)


def test_every_cut_is_found(saved: Path) -> None:
    content = saved.read_bytes()
    for length in [*range(200), *range(200, len(content), 53), len(content) - 1]:
        saved.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"a\.bsvm"):
            budgetsvm.load(saved)
    saved.write_bytes(content + b"x")
    with pytest.raises(ValueError, match="checksum"):
        budgetsvm.load(saved)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other"
    safetensors.numpy.save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match="safetensors file of another program"):
        budgetsvm.load(path)
    for content in (b"", b"{}", b"tree\nversion=v4\n", bytes(1000), b"\x80\x04K\x01."):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a model of budgetsvm"):
            budgetsvm.load(path)
    deep = b"[" * 200_000
    path.write_bytes((len(deep) + 1).to_bytes(8, "little") + b"{" + deep)
    with pytest.raises(ValueError, match="is damaged, or not a model"):
        budgetsvm.load(path)
    with pytest.raises(FileNotFoundError):
        budgetsvm.load(tmp_path / "missing")


@pytest.mark.parametrize("depth", [40, 60, 400, 990])
def test_records_within_each_other(depth: int, tmp_path: Path) -> None:
    """So many that going through them would exceed Python's stack."""
    content = '{"a":[' * depth + "1" + "]}" * depth
    header = {"__metadata__": {"format": "budgetsvm", "sha256": "0" * 64, "record": content}}
    text = json.dumps(header).encode()
    text = text.replace(b"0" * 64, sha256(text).hexdigest().encode(), 1)
    path = tmp_path / "deep"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ValueError, match=r"is damaged.*(records within each other|recursion)"):
        budgetsvm.load(path)


def test_a_newer_version_says_so(saved: Path) -> None:
    record = from_bytes(saved.read_bytes(), "it", MODEL) | {"version": 99}
    saved.write_bytes(b"".join(to_bytes(record, MODEL)))
    with pytest.raises(ValueError, match="install a newer one"):
        budgetsvm.load(saved)


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import budgetsvm
model = budgetsvm.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    budgetsvm.save(model, sys.argv[1])
except OSError as error:
    sys.exit(f"refused: {error}")
"""


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file(saved: Path) -> None:
    before = saved.read_bytes()
    assert len(before) > 1000
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, saved], capture_output=True, text=True, check=False
    )
    assert "refused: [Errno 27]" in done.stderr
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_to(saved: Path) -> None:
    model, before = budgetsvm.load(saved), saved.read_bytes()
    saved.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            budgetsvm.save(model, saved)
    finally:
        saved.parent.chmod(0o700)
    assert saved.read_bytes() == before


def test_rights_and_links(saved: Path) -> None:
    model = budgetsvm.load(saved)
    link = saved.with_name("link")
    link.symlink_to(saved)
    saved.chmod(0o640)
    budgetsvm.save(model, link)
    assert link.is_symlink()
    assert stat.S_IMODE(saved.stat().st_mode) == 0o640
    mask = os.umask(0o027)
    try:
        budgetsvm.save(model, saved.with_name("new"))
    finally:
        os.umask(mask)
    assert stat.S_IMODE(saved.with_name("new").stat().st_mode) == 0o640
    budgetsvm.save(model, os.devnull)
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("kind", [StandardScaler, MinMaxScaler, MaxAbsScaler])
def test_a_scaler_has_what_it_needs(tmp_path: Path, kind: Any) -> None:
    """Whatever a file lacks is missed when it is read, and not when the scaler is used."""
    X, y = DATA.rows(), DATA.targets("two classes")
    budgetsvm.save(make_pipeline(kind(), BudgetSVC(budget=5)).fit(X, y), tmp_path / "a.bsvm")
    whole = (tmp_path / "a.bsvm").read_bytes()
    names = from_bytes(whole, "a", MODEL)["scaler"]["arrays"]
    for name in names:
        record = from_bytes(whole, "a", MODEL)
        record["scaler"]["arrays"][name] = None
        (tmp_path / "a.bsvm").write_bytes(b"".join(to_bytes(record, MODEL)))
        with pytest.raises(ValueError, match=f"'{name}'. is missing, and the scaler needs it"):
            budgetsvm.load(tmp_path / "a.bsvm")
    record = from_bytes(whole, "a", MODEL)
    record["scaler"]["arrays"]["scale_"][1] = 0
    (tmp_path / "a.bsvm").write_bytes(b"".join(to_bytes(record, MODEL)))
    with pytest.raises(ValueError, match="must not be zero"):
        budgetsvm.load(tmp_path / "a.bsvm")


@pytest.mark.parametrize("name", ["$number", "$array", "$strings"])
def test_signs_that_hold_something_else(saved: Path, name: str) -> None:
    """What stands for a number, an array or strings in a record may hold a dict."""
    record = from_bytes(saved.read_bytes(), "a", MODEL)
    record["machine"]["parameters"]["C"] = {name: {"a": 1}}
    saved.write_bytes(b"".join(to_bytes(record, MODEL)))
    with pytest.raises(ValueError, match=r"a\.bsvm"):
        budgetsvm.load(saved)
