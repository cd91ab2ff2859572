"""Downloads: whatever the server does, a file arrives as a whole, or there is a clear complaint."""

import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tools.file_server import FileServer, closed_port, serve

from budgetsvm._common.progress import bars
from budgetsvm.datasets import _download
from budgetsvm.datasets._download import DownloadError, fetch

BODY = np.random.default_rng(0).bytes(300_000)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_download, "_PAUSES", (0.0, 0.0))


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serve({"/file": BODY}) as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_file_arrives(server: FileServer, path: Path) -> None:
    fetch(f"{server.url}/file", path, "file")
    assert path.read_bytes() == BODY
    assert server.requests == ["/file"]


def test_without_a_length(server: FileServer, path: Path) -> None:
    server.says_length = False
    fetch(f"{server.url}/file", path, "file")
    assert path.read_bytes() == BODY


def test_after_a_cut_connection_it_begins_again(server: FileServer, path: Path) -> None:
    server.cuts = [100_000, 50_000]
    fetch(f"{server.url}/file", path, "file")
    assert path.read_bytes() == BODY
    assert len(server.requests) == 3


def test_a_connection_that_is_always_cut(server: FileServer, path: Path) -> None:
    server.cuts = [100_000, 1000, 2000]
    with pytest.raises(DownloadError, match=r"was cut off \(.*2000"):
        fetch(f"{server.url}/file", path, "file")


@pytest.mark.parametrize("status", [403, 404, 416, 500, 503])
def test_http_errors(server: FileServer, path: Path, status: int) -> None:
    server.status = status
    with pytest.raises(DownloadError, match=f"/file cannot be downloaded: {status} "):
        fetch(f"{server.url}/file", path, "file")
    assert not path.exists()


def test_offline(path: Path) -> None:
    url = closed_port()
    with pytest.raises(DownloadError, match=f"{url}/file cannot be reached: .*refused"):
        fetch(f"{url}/file", path, "file")


def test_a_server_that_says_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_download, "_TIMEOUT", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(DownloadError, match=r"cannot be reached: .*timed out"):
            fetch(url, path, "file")


def test_only_http(path: Path) -> None:
    with pytest.raises(DownloadError, match="begins with http"):
        fetch("file:///etc/hostname", path, "file")


def test_progress_of_long_downloads(
    server: FileServer, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    fetch(f"{server.url}/file", path, "file")
    assert capsys.readouterr().err == ""  # too short to mention
    monkeypatch.setattr(bars, "_SHOW_AFTER", 0)
    fetch(f"{server.url}/file", path, "file")
    shown = capsys.readouterr()
    assert "file:" in shown.err
    assert "100%" in shown.err
    assert "293k/293k" in shown.err
    assert shown.out == ""
