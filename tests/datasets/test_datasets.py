"""Data sets by name: the right rows, split and scaled in the same way always, and honest notes."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tools.files import COMPRESSED, write

from budgetsvm import BudgetSVC, datasets
from budgetsvm.datasets import _table_cache
from budgetsvm.datasets import _tables as _libsvm_table
from budgetsvm.datasets._catalogue import ENTRIES
from budgetsvm.datasets._tables import parse_table
from budgetsvm.streams import _text as _text_file

DATA = os.environ.get("BUDGETSVM_DATA", "")
needs_data = pytest.mark.skipif(not Path(DATA).is_dir() or not DATA, reason="needs BUDGETSVM_DATA")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own, and no data of the user; even tiny files are kept in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BUDGETSVM_DATA", raising=False)
    monkeypatch.setenv("BUDGETSVM_DATA_URL", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setattr(_table_cache, "_WORTH_KEEPING", 0)
    return tmp_path / "cache" / "budgetsvm" / "arrays"


def text(X: Any, y: Any) -> str:
    """Rows in LIBSVM format."""
    return "".join(
        f"{label:g} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row.tolist(), 1) if x) + "\n"
        for row, label in zip(X, y, strict=True)
    )


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(3, 2, size=(50, 8)), rng.choice([-1, 1], 50)


@pytest.fixture
def folder(tmp_path: Path, rows: tuple[np.ndarray, np.ndarray]) -> Path:
    """A folder with small files under the names of cod-rna."""
    X, y = rows
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder / "cod-rna", text(X[:40], y[:40]))
    write(folder / "cod-rna.t", text(X[40:], y[40:]))
    return folder


def compress(path: Path, suffix: str) -> None:
    write(path.with_name(f"{path.name}{suffix}"), COMPRESSED[suffix](path.read_bytes()))
    path.unlink()


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_every_compression(folder: Path, rows: Any, suffix: str) -> None:
    if suffix:
        compress(folder / "cod-rna", suffix)
    for _ in range(2):  # parsed, and from the cache
        data = datasets.load("cod-rna", folder=folder, scaling="none")
        assert_array_equal(data.X, rows[0][:40])
        assert_array_equal(data.y, rows[1][:40])
        assert_array_equal(data.X_test, rows[0][40:])
        assert_array_equal(data.y_test, rows[1][40:])
        assert data.notes["files"][0]["name"] == f"cod-rna{suffix}"


@pytest.mark.parametrize("name", ["cod-rna", "COD-RNA", "cod_rna", "Cod_RNA"])
def test_names(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSVM_DATA", str(folder))
    data = datasets.load(name)
    assert data.name == data.notes["name"] == "cod-rna"
    assert repr(data) == "<data set cod-rna: 40 + 10 rows of 8 features>"


@pytest.mark.parametrize("name", ["mnist", "", "cod rna", None, 7])
def test_unknown_names(name: Any) -> None:
    with pytest.raises(ValueError, match="there is no data set") as caught:
        datasets.load(name)
    assert all(known in str(caught.value) for known in datasets.names())


def test_the_catalogue() -> None:
    assert datasets.names()[:5] == ["adult", "ijcnn", "cod-rna", "covtype", "susy"]
    assert len(set(datasets.names())) == len(ENTRIES)
    for entry in ENTRIES:
        assert entry.name == entry.name.lower()
        assert (entry.test is not None) == (entry.split == "file")
        for file in (entry.train, entry.test):
            if file is not None:
                assert all(len(bytes.fromhex(digits)) == 32 for digits in file.sha256)
                assert file.remote is None or Path(file.remote).name.startswith(file.name)


def test_wrong_options(folder: Path) -> None:
    with pytest.raises(ValueError, match="scaling must be one of"):
        datasets.load("cod-rna", folder=folder, scaling="unit")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="form must be one of"):
        datasets.load("cod-rna", folder=folder, form="csc")  # type: ignore[arg-type]


def test_a_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"'.*nowhere' does not exist"):
        datasets.load("adult", folder=tmp_path / "nowhere")
    monkeypatch.setenv("BUDGETSVM_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="BUDGETSVM_DATA"):
        datasets.load("adult")


def test_a_file_that_is_nowhere(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"not on the LIBSVM data page: put it into"):
        datasets.load("usps-esl", folder=folder)
    (folder / "cod-rna.t").unlink()
    with pytest.raises(FileNotFoundError, match=r"cod-rna\.t is not at hand"):
        datasets.load("cod-rna", folder=folder, download=False)


BROKEN: dict[str, tuple[Callable[[bytes], bytes], type[Exception], str]] = {
    "empty": (lambda _: b"", ValueError, "cod-rna is empty: it holds no rows"),
    "comments": (lambda _: b"# nothing\n\n", ValueError, "cod-rna is empty: it holds no rows"),
    "no rows": (lambda _: b"<html>\n", ValueError, "line 1: the label '<html>' is not"),
    "wide": (lambda t: t + b"1 9:1\n", ValueError, "line 41: '9:1' is not a valid .* n_features=8"),
    "words": (lambda t: b"1 1:x\n" + t, ValueError, "line 1: '1:x' is not a valid index:value"),
    "endless": (lambda t: t + b"1 1:inf\n", ValueError, "line 41: .* not a finite number"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files(folder: Path, own_cache: Path, kind: str) -> None:
    change, error, message = BROKEN[kind]
    path = folder / "cod-rna"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(error, match=message):
        datasets.load("cod-rna", folder=folder)
    assert not own_cache.exists() or not list(own_cache.iterdir())


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_files_that_were_cut_off(folder: Path, suffix: str) -> None:
    compress(folder / "cod-rna", suffix)
    path = folder / f"cod-rna{suffix}"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(OSError, match=f"cod-rna{suffix}, after .*damaged or cut off"):
        datasets.load("cod-rna", folder=folder)


def test_the_byte_order_mark_and_missing_line_ends(folder: Path, rows: Any) -> None:
    path = folder / "cod-rna"
    path.write_bytes(b"\xef\xbb\xbf# words\n" + path.read_bytes().rstrip(b"\n"))
    assert_array_equal(datasets.load("cod-rna", folder=folder, scaling="none").X, rows[0][:40])


@pytest.mark.parametrize("density", [0.1, 0.5, 1.0])
def test_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, density: float) -> None:
    """A file that is read in pieces has the same rows, whichever form the first ones suggest."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 6)) < density, rng.normal(size=(300, 6)), 0)
    X[:20] = rng.normal(size=(20, 6)) * (density < 0.3)
    y = rng.normal(size=300).round(3)
    path = write(tmp_path / "file", text(X, y) + "# the end\n")
    whole = parse_table(path, 6)
    monkeypatch.setattr(_text_file, "_PIECE", 500)
    table = parse_table(path, 6)
    for found in (whole, table):
        assert_array_equal(found.X.toarray() if sparse.issparse(found.X) else found.X, X)
        assert_array_equal(found.y, y)
        assert found.features == 6
    assert table.sha256 == whole.sha256


# The cache.


def count_parsing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed = []

    def parse(path: Path, n_features: int) -> Any:
        parsed.append(path.name)
        return parse_table(path, n_features)

    monkeypatch.setattr(_table_cache, "parse_table", parse)
    return parsed


def test_the_cache_is_used_until_the_file_changes(
    folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = count_parsing(monkeypatch)
    first = datasets.load("cod-rna", folder=folder)
    second = datasets.load("cod-rna", folder=folder)
    assert parsed == ["cod-rna", "cod-rna.t"]
    assert_array_equal(second.X, first.X)
    assert second.notes == first.notes
    path = folder / "cod-rna"
    path.write_bytes(path.read_bytes() + b"1 1:5\n")
    third = datasets.load("cod-rna", folder=folder)
    assert parsed == ["cod-rna", "cod-rna.t", "cod-rna"]
    assert third.X.shape == (41, 8)
    assert third.notes["files"][0]["sha256"] != first.notes["files"][0]["sha256"]
    assert len(list(own_cache.iterdir())) == 2  # the old arrays are gone


def test_the_same_name_in_another_folder(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("cod-rna", "cod-rna.t"):
        changed = (folder / name).read_bytes().replace(b"1:3", b"1:4")
        write(other / name, changed)
        stat = (folder / name).stat()
        os.utime(other / name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    data, changed_data = (datasets.load("cod-rna", folder=each) for each in (folder, other))
    assert not np.array_equal(data.X, changed_data.X)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip file"])
def test_a_damaged_cache_is_made_anew(folder: Path, own_cache: Path, damage: bytes) -> None:
    first = datasets.load("cod-rna", folder=folder)
    for path in own_cache.iterdir():
        path.write_bytes(damage)
    assert_array_equal(datasets.load("cod-rna", folder=folder).X, first.X)


def test_a_cache_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", no_space)
    assert datasets.load("cod-rna", folder=folder).X.shape == (40, 8)


def test_what_is_returned_may_be_changed(folder: Path) -> None:
    first = datasets.load("cod-rna", folder=folder, scaling="none")
    kept = first.X.copy()
    for data in (first, datasets.load("cod-rna", folder=folder, scaling="none")):
        assert_array_equal(data.X, kept)
        data.X[:] = 0
        data.y[:] = 0


def test_small_files_are_not_kept(
    folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_table_cache, "_WORTH_KEEPING", 1 << 16)
    datasets.load("cod-rna", folder=folder)
    assert not list(own_cache.iterdir())


# Splits, scaling, forms.


def test_scaling_goes_by_the_training_rows(folder: Path, rows: Any) -> None:
    X, X_test = rows[0][:40], rows[0][40:]
    low, high = X.min(axis=0), X.max(axis=0)
    data = datasets.load("cod-rna", folder=folder)  # to its range by default
    np.testing.assert_allclose(data.X, (X - low) / (high - low))
    np.testing.assert_allclose(data.X_test, (X_test - low) / (high - low))
    assert data.notes["scaling"] == "range"
    data = datasets.load("cod-rna", folder=folder, scaling="standard")
    np.testing.assert_allclose(data.X_test, (X_test - X.mean(axis=0)) / X.std(axis=0))
    assert data.notes["scaling"] == "standard"


def test_constant_features_are_not_divided_by_nothing(folder: Path) -> None:
    write(folder / "cod-rna", "1 1:1 2:5\n-1 1:2 2:5\n")
    for scaling in ("range", "standard"):
        data = datasets.load("cod-rna", folder=folder, scaling=scaling, form="dense")  # type: ignore[arg-type]
        assert np.isfinite(data.X).all()
        assert_array_equal(data.X[:, 1:], 0)


def test_the_split_is_always_the_same(tmp_path: Path) -> None:
    X = np.arange(1.0, 101)[:, np.newaxis]
    write(tmp_path / "mushrooms", text(X, np.arange(100)))
    data = datasets.load("mushrooms", folder=tmp_path, form="dense")
    again = datasets.load("mushrooms", folder=tmp_path, form="dense")
    assert_array_equal(again.X, data.X)
    assert_array_equal(data.X[:, 0], data.y + 1)
    assert len(data.y_test) == 20
    order = np.random.default_rng(0).permutation(100)
    assert_array_equal(data.y_test, order[:20])
    assert_array_equal(data.y, order[20:])
    assert "default_rng(0)" in data.notes["split"]


def test_susy_is_tested_on_its_last_rows(tmp_path: Path, rows: Any) -> None:
    write(tmp_path / "SUSY", text(*rows))
    data = datasets.load("susy", folder=tmp_path, scaling="none")
    assert_array_equal(data.X_test[:, :8], rows[0][45:])
    assert_array_equal(data.y, rows[1][:45])
    assert data.notes["split"].endswith("the last tenth of the rows")
    assert data.notes["subset"] == "SUSY: 50 rows, where SUSY has 5,000,000"


def test_a_subset_is_named_as_such(tmp_path: Path, rows: Any) -> None:
    write(tmp_path / "SUSY.subset41k", text(*rows))
    with pytest.warns(
        UserWarning, match=r"SUSY\.subset41k stands in for SUSY: 40,924 of 5,000,000"
    ):
        data = datasets.load("susy", folder=tmp_path)
    assert data.name == "susy"
    assert data.notes["subset"] == "SUSY.subset41k: 50 rows, where SUSY has 5,000,000"
    assert (data.notes["rows"], data.notes["test_rows"]) == (40, 10)
    assert data.notes["scaling"] == "standard"
    with pytest.raises(FileNotFoundError, match="SUSY is not at hand"):
        datasets.load("susy", folder=tmp_path, allow_subset=False, download=False)
    write(tmp_path / "SUSY", text(*rows))
    assert "SUSY.subset41k" not in str(datasets.load("susy", folder=tmp_path).notes)


@pytest.fixture
def adult(tmp_path: Path) -> Path:
    write(tmp_path / "a9a", "+1 3:1 11:1\n-1 5:1 7:1\n")
    write(tmp_path / "a9a.t", "-1 5:1\n")
    return tmp_path


def test_forms(folder: Path, adult: Path) -> None:
    wide = datasets.load("adult", folder=adult)
    for X in (wide.X, wide.X_test):
        assert isinstance(X, sparse.csr_array)
        assert X.dtype == np.float64
        assert X.indices.dtype == X.indptr.dtype == np.int32  # what the core reads in place
    dense = datasets.load("adult", folder=adult, form="dense")
    assert isinstance(dense.X, np.ndarray)
    assert_array_equal(dense.X, wide.X.toarray())
    assert isinstance(datasets.load("cod-rna", folder=folder).X, np.ndarray)
    assert sparse.issparse(datasets.load("cod-rna", folder=folder, form="sparse").X_test)


def test_notes(adult: Path) -> None:
    notes = datasets.load("adult", folder=adult).notes
    assert json.loads(json.dumps(notes)) == notes
    assert notes["verified"] is False  # these are not the rows of a9a
    assert notes["subset"] == (
        "a9a: 2 rows, where a9a has 32,561; a9a.t: 1 rows, where a9a.t has 16,281"
    )
    assert (notes["rows"], notes["test_rows"], notes["features"]) == (2, 1, 123)
    assert str(adult) not in json.dumps(notes)


def test_progress_of_long_reading(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("budgetsvm._common.progress._SHOW_AFTER", 0)
    datasets.load("cod-rna", folder=folder)
    assert "reading cod-rna: 100%" in capsys.readouterr().err


def test_rows_can_be_learned_from(folder: Path) -> None:
    data = datasets.load("cod-rna", folder=folder)
    model = BudgetSVC(budget=10, random_state=0).fit(data.X, data.y)
    assert len(model.predict(data.X_test)) == 10


# Real data.

#: Rows for training, rows for testing, features, and whether the checksums are known.
REAL = {
    "adult": (32_561, 16_281, 123, True),
    "ijcnn": (49_990, 91_701, 22, True),
    "cod-rna": (59_535, 271_617, 8, True),
    "mushrooms": (6_499, 1_625, 112, True),
    "letter": (15_000, 5_000, 16, True),
    "pendigits": (7_494, 3_498, 16, True),
    "satimage": (4_435, 2_000, 36, True),
    "abalone": (3_342, 835, 8, True),
    "cadata": (16_512, 4_128, 8, None),
    "cpusmall": (6_554, 1_638, 12, None),
}


def load_real(name: str) -> datasets.Dataset:
    try:
        return datasets.load(name, folder=DATA, download=False)
    except FileNotFoundError as error:
        pytest.skip(str(error))


@needs_data
@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_data(name: str) -> None:
    data = load_real(name)
    n, n_test, n_features, verified = REAL[name]
    assert data.X.shape == (n, n_features)
    assert data.X_test.shape == (n_test, n_features)
    assert data.y.shape == (n,)
    assert data.y_test.shape == (n_test,)
    assert data.notes["verified"] is verified
    assert data.notes["subset"] is None


@needs_data
@pytest.mark.data
@pytest.mark.slow
def test_real_covtype() -> None:
    data = load_real("covtype")
    assert data.X.shape == (464_810, 54)
    assert data.X.min() == 0
    assert data.X.max() == 1
    assert set(data.y) == {1, 2}


@needs_data
@pytest.mark.data
@pytest.mark.filterwarnings("ignore:SUSY.subset41k stands in")
def test_real_susy() -> None:
    data = load_real("susy")
    if data.notes["subset"] is not None:
        assert (len(data.y), len(data.y_test)) == (32_739, 8_185)
        assert "SUSY.subset41k" in data.notes["subset"]
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(data.X.std(axis=0), 1, atol=1e-6)


def test_the_slow_reader_is_only_for_complaints(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_libsvm_table, "LibsvmBlocks", None)
    assert datasets.load("cod-rna", folder=folder).X.shape == (40, 8)
