"""Downloads over HTTP that go on where they were cut off."""

import re
import time
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from budgetsvm._common.progress import byte_bar

_TIMEOUT = 30.0  # seconds without a sign of the server
_PAUSES = (1.0, 4.0)  # seconds before each new attempt, after the connection was cut
_CHUNK = 1 << 16
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206


class DownloadError(OSError):
    """A download failed. What has arrived is kept, and the next attempt goes on from there."""


class _CutError(Exception):
    """The connection broke in the middle."""


def fetch(url: str, part: Path) -> None:
    """Download a file, or the rest of it if a part is there."""
    if not url.startswith(("http://", "https://")):
        message = f"{url} is not an address that begins with http:// or https://"
        raise DownloadError(message)
    for pause in (*_PAUSES, None):
        try:
            return _go_on(url, part)
        except _CutError as error:
            if pause is None:
                message = (
                    f"the download of {url} was cut off ({error}); a new call goes on from there"
                )
                raise DownloadError(message) from error
            time.sleep(pause)
    return None


def _go_on(url: str, part: Path) -> None:
    """Make one attempt to get what is missing."""
    done = part.stat().st_size if part.exists() else 0
    try:
        response = _request(url, done)
    except HTTPError as error:
        with error:
            if error.code != _RANGE_NOT_SATISFIABLE or done == 0:
                message = f"{url} cannot be downloaded: {error.code} {error.reason}"
                raise DownloadError(message) from error
            complete = error.headers.get("Content-Range", "").strip() == f"bytes */{done}"
        if not complete:
            part.unlink()
            _go_on(url, part)
        return
    except (OSError, HTTPException) as error:
        message = f"{url} cannot be reached: {getattr(error, 'reason', error)}"
        raise DownloadError(message) from error
    with response:
        _receive(response, part, done)


def _request(url: str, done: int) -> HTTPResponse:
    # A file that is compressed for the journey would not be the file that others check.
    headers = {"User-Agent": "budgetsvm", "Accept-Encoding": "identity"}
    if done > 0:
        headers["Range"] = f"bytes={done}-"
    return cast(HTTPResponse, urlopen(Request(url, headers=headers), timeout=_TIMEOUT))


def _receive(response: HTTPResponse, part: Path, done: int) -> None:
    """Write what arrives behind what is there, or over it if the server sends everything again."""
    if response.status == _PARTIAL_CONTENT:
        sent = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        if sent is None or int(sent[1]) != done:
            part.unlink()
            raise _CutError("the server sent another part than the one asked for")
    else:
        done = 0
    length = response.headers.get("Content-Length")
    total = None if length is None else done + int(length)
    with (
        part.open("ab" if done > 0 else "wb") as file,
        byte_bar(part.name.removesuffix(".part"), total, done) as bar,
    ):
        while chunk := _read(response):
            file.write(chunk)
            bar.update(len(chunk))
            done += len(chunk)
    if total is not None and done < total:
        message = f"after {done} of {total} bytes"
        raise _CutError(message)


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read(_CHUNK)
    except (OSError, HTTPException) as error:
        raise _CutError(str(error) or type(error).__name__) from error
