"""Downloads over HTTP."""

import time
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from budgetsvm._common.progress.bars import byte_bar

_TIMEOUT = 30.0  # seconds without a sign of the server
_PAUSES = (1.0, 4.0)  # seconds before each new attempt, after the connection was cut
_CHUNK = 1 << 16


class DownloadError(OSError):
    """A download failed."""


def fetch(url: str, path: Path, label: str) -> None:
    """Download a file; where the connection breaks, begin again. `label` stands before the bar."""
    if not url.startswith(("http://", "https://")):
        message = f"{url} is not an address that begins with http:// or https://"
        raise DownloadError(message)
    for pause in (*_PAUSES, None):
        with _request(url) as response:
            flaw = _receive(response, path, label)
        if flaw is None:
            return
        if pause is None:
            message = f"the download of {url} was cut off ({flaw})"
            raise DownloadError(message)
        time.sleep(pause)


def _request(url: str) -> HTTPResponse:
    # A file that is compressed for the journey would not be the file that others check.
    headers = {"User-Agent": "budgetsvm", "Accept-Encoding": "identity"}
    try:
        return cast(HTTPResponse, urlopen(Request(url, headers=headers), timeout=_TIMEOUT))
    except HTTPError as error:
        error.close()
        message = f"{url} cannot be downloaded: {error.code} {error.reason}"
        raise DownloadError(message) from error
    except (OSError, HTTPException) as error:
        message = f"{url} cannot be reached: {getattr(error, 'reason', error)}"
        raise DownloadError(message) from error


def _receive(response: HTTPResponse, path: Path, label: str) -> str | None:
    """Write what arrives; return how the connection broke, if it did."""
    length = response.headers.get("Content-Length", "")
    total = (
        int(length) if length.isascii() and length.isdigit() else None
    )  # not all servers know it
    done = 0
    with path.open("wb") as file, byte_bar(label, total) as bar:
        while True:
            try:
                chunk = response.read(_CHUNK)
            except (OSError, HTTPException) as error:
                return str(error) or type(error).__name__
            if not chunk:
                break
            done += file.write(chunk)
            bar.update(len(chunk))
    return None if total is None or done == total else f"after {done} of {total} bytes"
