"""Files that appear when they are complete: what errors of the system say of them."""

import errno
import os
from pathlib import Path

import pytest

from budgetsvm._common.files.complete import replacing


def test_errors_name_the_file_that_is_meant(tmp_path: Path) -> None:
    missing = tmp_path / "no folder" / "model"
    with pytest.raises(FileNotFoundError) as caught, replacing(missing, durable=True):
        pass
    assert caught.value.filename == str(missing)
    path = tmp_path / "model"
    path.write_bytes(b"before")
    with pytest.raises(OSError, match="No space left") as full, replacing(path, durable=True):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a stream has it, without a name
    assert full.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_errors_of_other_files_stay_what_they_are(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(IsADirectoryError) as caught, replacing(tmp_path / "model"):
        other.read_bytes()
    assert caught.value.filename == str(other)
