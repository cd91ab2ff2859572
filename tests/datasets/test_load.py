"""Data sets by name: whatever the files are, the right rows or a clear complaint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_array_equal
from tools.files import COMPRESSED, compress

from budgetsvm import BudgetSVC, datasets


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
    "no rows": (lambda _: b"<html>\n", ValueError, "line 1, column 1: the label '<html>' is not"),
    "wide": (
        lambda t: t + b"1 9:1\n",
        ValueError,
        "line 41, column 3: '9:1' is not a valid .* n_features=8",
    ),
    "words": (
        lambda t: b"1 1:x\n" + t,
        ValueError,
        "line 1, column 3: '1:x' is not a valid index:value",
    ),
    "endless": (
        lambda t: t + b"1 1:inf\n",
        ValueError,
        "line 41, column 3: .* not a finite number",
    ),
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


def test_progress_of_long_reading(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("budgetsvm._common.progress.bars._SHOW_AFTER", 0)
    datasets.load("cod-rna", folder=folder)
    assert "reading cod-rna: 100%" in capsys.readouterr().err


def test_rows_can_be_learned_from(folder: Path) -> None:
    data = datasets.load("cod-rna", folder=folder)
    model = BudgetSVC(budget=10, random_state=0).fit(data.X, data.y)
    assert len(model.predict(data.X_test)) == 10
