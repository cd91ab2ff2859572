"""Files that are downloaded by the name of a data set: verified, kept, and shared by processes."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools.file_server import FileServer, closed_port, serve
from tools.files import COMPRESSED

from budgetsvm import datasets
from budgetsvm.datasets import _catalogue, _download, _table_cache
from budgetsvm.datasets._entry import DataFile, Entry

TRAIN = b"".join(b"%d 1:%d 3:1\n" % (i % 2, i) for i in range(100))
TEST = b"0 2:1\n1 1:1\n"


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


@pytest.fixture
def entry(monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A small data set: the checksum of its training file is known, that of its test file is not."""
    entry = Entry(
        "small",
        3,
        DataFile("small", 100, "binary/small.xz", (sha256(TRAIN),)),
        DataFile("small.t", 2, "binary/small.t"),
    )
    _know(entry, monkeypatch)
    return entry


def _know(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_catalogue, "ENTRIES", (entry,))


@pytest.fixture
def page(entry: Entry) -> Iterator[FileServer]:
    with serve(
        {"/binary/small.xz": COMPRESSED[".xz"](TRAIN), "/binary/small.t": b"0 3:1\n1 1:1\n"}
    ) as page:
        yield page


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "budgetsvm" / "datasets"


def test_a_data_set_is_downloaded_once(page: FileServer, cache: Path) -> None:
    data = datasets.load("small", base_url=page.url)
    assert data.X.shape == (100, 3)
    assert data.X_test.shape == (2, 3)
    assert [file["verified"] for file in data.notes["files"]] == [True, None]
    assert data.notes["verified"] is None
    assert [file["name"] for file in data.notes["files"]] == ["small.xz", "small.t"]
    visible = {path.name for path in cache.iterdir() if path.name[0] != "."}
    assert visible == {"small.xz", "small.sha256", "small.t", "small.t.sha256"}
    assert (cache / "small.sha256").read_text() == f"{sha256(TRAIN)}  small\n"
    again = datasets.load("small", base_url=page.url)
    np.testing.assert_array_equal(again.X, data.X)
    assert again.notes == data.notes
    assert len(page.requests) == 2
    json.dumps(data.notes)


def test_the_address_in_the_environment(page: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSVM_DATA_URL", f"{page.url}/")
    assert datasets.load("SMALL").X.shape == (100, 3)
    assert page.requests[0] == "/binary/small.xz"


def test_what_is_missing_in_the_folder_is_downloaded(page: FileServer, tmp_path: Path) -> None:
    (tmp_path / "small.t.gz").write_bytes(COMPRESSED[".gz"](TEST))
    data = datasets.load("small", folder=tmp_path, base_url=page.url)
    assert page.requests == ["/binary/small.xz"]
    assert data.notes["verified"] is None  # nothing is known of the test file in the folder
    assert not (tmp_path / "small.xz").exists()


def test_without_download(page: FileServer, tmp_path: Path, cache: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("small", folder=tmp_path, base_url=page.url, download=False)
    for part in ("download=False", f"{page.url}/binary/small.xz", str(tmp_path), "BUDGETSVM_DATA"):
        assert part in str(caught.value)
    with pytest.raises(FileNotFoundError, match=str(cache)):
        datasets.load("small", base_url=page.url, download=False)
    assert page.requests == []


def test_offline_says_what_to_do(entry: Entry, cache: Path) -> None:
    url = closed_port()
    with pytest.raises(OSError, match="cannot be reached") as caught:
        datasets.load("small", base_url=url)
    for part in (f"{url}/binary/small.xz by hand into '{cache}'", "BUDGETSVM_DATA", "small"):
        assert part in str(caught.value)


def test_a_missing_page_says_what_to_do(page: FileServer) -> None:
    page.files.clear()
    with pytest.raises(OSError, match=r"small.xz cannot be downloaded: 404 .* by hand"):
        datasets.load("small", base_url=page.url)


def _nothing_is_left(cache: Path) -> bool:
    return not [path for path in cache.iterdir() if path.name[0] != "."]


def test_a_wrong_checksum(page: FileServer, cache: Path) -> None:
    wrong = TRAIN.replace(b"3:1", b"3:2")
    page.files["/binary/small.xz"] = COMPRESSED[".xz"](wrong)
    with pytest.raises(OSError, match=f"SHA-256 is {sha256(wrong)}, not {sha256(TRAIN)}"):
        datasets.load("small", base_url=page.url)
    assert _nothing_is_left(cache)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (b"0 3:1\n", "it has 1 rows and 3 features, not 2 and 3"),
        (b"0 2:1\n1 1:1\n", "it has 2 rows and 2 features, not 2 and 3"),
        (b"0 3:1\n1 4:1\n", "above the largest"),
        (b"<html>sorry</html>\n", "not a finite number"),
        (b"", "empty"),
    ],
)
def test_other_content_where_no_checksum_is_known(
    page: FileServer, cache: Path, text: bytes, flaw: str
) -> None:
    page.files["/binary/small.t"] = text
    with pytest.raises(OSError, match=flaw):
        datasets.load("small", base_url=page.url)
    assert not list(cache.glob("small.t*"))


def test_a_truncated_file(page: FileServer, cache: Path) -> None:
    page.files["/binary/small.xz"] = page.files["/binary/small.xz"][:-20]
    with pytest.raises(OSError, match="damaged or cut off"):
        datasets.load("small", base_url=page.url)
    assert _nothing_is_left(cache)


def test_a_download_that_is_cut_off_leaves_nothing(
    page: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_download, "_PAUSES", ())
    page.cuts = [60]
    with pytest.raises(OSError, match=r"was cut off \(.* by hand into"):
        datasets.load("small", base_url=page.url)
    assert _nothing_is_left(cache)
    assert datasets.load("small", base_url=page.url).X.shape == (100, 3)


def test_the_checksum_of_the_download_counts_from_then_on(page: FileServer, cache: Path) -> None:
    datasets.load("small", base_url=page.url)
    (cache / "small.t").write_bytes(b"0 3:2\n1 1:1\n")
    with pytest.raises(OSError, match="changed since it was downloaded"):
        datasets.load("small", base_url=page.url)
    assert not (cache / "small.t").exists()
    assert datasets.load("small", base_url=page.url).X_test[0, 2] == 1


def test_a_download_that_was_damaged_later(page: FileServer, cache: Path) -> None:
    datasets.load("small", base_url=page.url)
    path = cache / "small.xz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(OSError, match=r"was removed; a new call .* damaged or cut off"):
        datasets.load("small", base_url=page.url)
    assert datasets.load("small", base_url=page.url).X.shape == (100, 3)


def test_a_file_put_in_the_place_of_a_download_is_used(page: FileServer, cache: Path) -> None:
    datasets.load("small", base_url=page.url)
    (cache / "small.xz").unlink()
    (cache / "small").write_bytes(b"1 1:1\n0 2:1\n")
    assert datasets.load("small", base_url=page.url).X.shape == (2, 3)


def test_a_file_put_into_the_cache_by_hand_is_used(page: FileServer, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "small.gz").write_bytes(COMPRESSED[".gz"](b"1 1:1\n0 2:1\n"))
    data = datasets.load("small", base_url=page.url)
    assert data.X.shape == (2, 3)
    assert data.notes["verified"] is False
    assert (cache / "small.gz").exists()


def test_what_was_downloaded_is_not_parsed_twice(
    page: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_table_cache, "_WORTH_KEEPING", 0)
    datasets.load("small", base_url=page.url)
    monkeypatch.setattr(_table_cache, "parse_table", None)
    assert datasets.load("small", base_url=page.url).X.shape == (100, 3)


def test_a_subset_is_not_downloaded_in_place_of_the_whole(
    page: FileServer, entry: Entry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    subset = Entry("small", 3, DataFile("part", 10, whole=("small", 100)), split="fifth")
    _know(replace(entry, subset=subset), monkeypatch)
    (tmp_path / "part").write_bytes(TRAIN[:20])
    with pytest.warns(UserWarning, match=r"part stands in for small: .* is downloaded"):
        assert "part" in datasets.load("small", folder=tmp_path, base_url=page.url).notes["subset"]
    assert page.requests == []
    data = datasets.load("small", folder=tmp_path, base_url=page.url, allow_subset=False)
    assert data.notes["subset"] is None


@pytest.mark.slow
def test_two_processes_at_once(page: FileServer, cache: Path, entry: Entry) -> None:
    """They share one download, and neither sees half a file."""
    program = f"""
from budgetsvm import datasets
from budgetsvm.datasets import _catalogue
from budgetsvm.datasets._entry import DataFile, Entry
_catalogue.ENTRIES = ({entry!r},)
print(datasets.load("small", base_url={page.url!r}).X.shape)
"""
    runs = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [run.communicate(timeout=100)[0] for run in runs] == ["(100, 3)\n"] * 2
    assert len(page.requests) == 2
