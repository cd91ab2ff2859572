"""Downloads: whatever the server does, a file is complete and right, or there is a clear complaint."""

import hashlib
import json
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tools.file_server import FileServer, serve
from tools.files import COMPRESSED

from budgetsvm import datasets
from budgetsvm._common import progress as _progress
from budgetsvm.datasets import _catalogue, _download, _table_cache
from budgetsvm.datasets._catalogue import DataFile, Entry
from budgetsvm.datasets._download import DownloadError, fetch

BODY = np.random.default_rng(0).bytes(300_000)
TRAIN = b"".join(b"%d 1:%d 3:1\n" % (i % 2, i) for i in range(100))
TEST = b"0 2:1\n1 1:1\n"


@pytest.fixture(autouse=True)
def quiet_surroundings(tmp_path, monkeypatch):
    """A cache of one's own, no proxy, no pauses."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("BUDGETSVM_DATA", raising=False)
    monkeypatch.delenv("BUDGETSVM_DATA_URL", raising=False)
    monkeypatch.setattr(_download, "_PAUSES", (0.0, 0.0))


@pytest.fixture
def server():
    with serve({"/file": BODY}) as server:
        yield server


@pytest.fixture
def part(tmp_path):
    return tmp_path / "file.part"


def closed_port() -> str:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def test_a_file_arrives(server: FileServer, part: Path) -> None:
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY
    assert server.requests == [("/file", None)]


def test_without_a_length(server: FileServer, part: Path) -> None:
    server.says_length = False
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY


def test_a_cut_connection_is_taken_up_again(server: FileServer, part: Path) -> None:
    server.cuts = [100_000, 50_000]
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY
    ranges = [wanted for _, wanted in server.requests]
    assert ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_a_later_call_goes_on(server: FileServer, part: Path) -> None:
    server.cuts = [100_000, 1000, 1000]
    with pytest.raises(DownloadError, match=r"was cut off \(after 102000 of 300000 bytes\)"):
        fetch(f"{server.url}/file", part)
    assert part.stat().st_size == 102_000
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY
    assert server.requests[-1] == ("/file", "bytes=102000-")


def test_a_server_without_ranges_sends_everything_again(server: FileServer, part: Path) -> None:
    server.knows_ranges = False
    part.write_bytes(b"x" * 1000)
    fetch(f"{server.url}/file", part)
    assert server.requests == [("/file", "bytes=1000-")]
    assert part.read_bytes() == BODY


def test_a_part_that_is_complete(server: FileServer, part: Path) -> None:
    part.write_bytes(BODY)
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY
    assert len(server.requests) == 1


def test_a_part_that_is_too_long(server: FileServer, part: Path) -> None:
    part.write_bytes(BODY + b"more")
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY
    assert [wanted for _, wanted in server.requests] == ["bytes=300004-", None]


def test_a_server_that_sends_another_part(server: FileServer, part: Path) -> None:
    server.wrong_start = 7
    part.write_bytes(BODY[:1000])
    fetch(f"{server.url}/file", part)
    assert part.read_bytes() == BODY


@pytest.mark.parametrize("status", [403, 404, 416, 500, 503])
def test_http_errors(server: FileServer, part: Path, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadError, match=f"/file cannot be downloaded: {status} "):
        fetch(f"{server.url}/file", part)
    assert not part.exists()


def test_offline(part: Path) -> None:
    url = closed_port()
    with pytest.raises(DownloadError, match=f"{url}/file cannot be reached: .*refused"):
        fetch(f"{url}/file", part)


def test_a_server_that_says_nothing(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_download, "_TIMEOUT", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(DownloadError, match=r"cannot be reached: .*timed out"):
            fetch(url, part)


def test_only_http(part: Path) -> None:
    with pytest.raises(DownloadError, match="begins with http"):
        fetch("file:///etc/hostname", part)


def test_progress_of_long_downloads(
    server: FileServer, part: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    fetch(f"{server.url}/file", part)
    assert capsys.readouterr().err == ""  # too short to mention
    monkeypatch.setattr(_progress, "_SHOW_AFTER", 0)
    part.write_bytes(BODY[:150_000])
    fetch(f"{server.url}/file", part)
    shown = capsys.readouterr()
    assert "file:" in shown.err
    assert "100%" in shown.err
    assert "293k/293k" in shown.err
    assert shown.out == ""


# The same, by the name of a data set.


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
def page(entry: Entry):
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
    assert page.requests[0] == ("/binary/small.xz", None)


def test_what_is_missing_in_the_folder_is_downloaded(page: FileServer, tmp_path: Path) -> None:
    (tmp_path / "small.t.gz").write_bytes(COMPRESSED[".gz"](TEST))
    data = datasets.load("small", folder=tmp_path, base_url=page.url)
    assert [path for path, _ in page.requests] == ["/binary/small.xz"]
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


def test_a_data_set_is_resumed(page: FileServer, cache: Path) -> None:
    page.cuts = [60, 20, 20]
    with pytest.raises(OSError, match=r"cut off .*a new call goes on"):
        datasets.load("small", base_url=page.url)
    assert (cache / "small.xz.part").stat().st_size == 100
    assert datasets.load("small", base_url=page.url).X.shape == (100, 3)
    assert page.requests[3] == ("/binary/small.xz", "bytes=100-")


def test_a_download_that_was_complete_but_not_verified(page: FileServer, cache: Path) -> None:
    """As after Ctrl-C in the wrong moment."""
    cache.mkdir(parents=True)
    (cache / "small.xz.part").write_bytes(page.files["/binary/small.xz"])
    assert datasets.load("small", base_url=page.url).X.shape == (100, 3)
    assert not (cache / "small.xz.part").exists()


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
from budgetsvm.datasets._catalogue import DataFile, Entry
_catalogue.ENTRIES = ({entry!r},)
print(datasets.load("small", base_url={page.url!r}).X.shape)
"""
    runs = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [run.communicate(timeout=100)[0] for run in runs] == ["(100, 3)\n"] * 2
    if sys.platform != "win32":
        assert len(page.requests) == 2
