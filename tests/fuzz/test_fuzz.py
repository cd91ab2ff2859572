"""Some broken files for every loader, always the same ones; ``make fuzz`` reads a million others."""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from fuzz.loaders import LOADERS, Loader
from fuzz.memory import Meter
from fuzz.run import Tally, broken_file, try_file, try_files


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", LOADERS)
def test_broken_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    tally = try_files(name, range(300), tmp_path)
    assert tally.findings == []
    assert tally.files == 300
    assert 5 <= tally.read <= 150  # the accidents neither hit all files at the door nor miss them


def test_the_same_number_is_the_same_file() -> None:
    for loader in LOADERS.values():
        files = [broken_file(loader, number) for number in range(50)]
        assert files == [broken_file(loader, number) for number in range(50)]
        assert len(set(files)) > 40


def _wasteful(path: Path) -> None:
    np.zeros(10_000_000)


def _confused(path: Path) -> None:
    raise TypeError("what is this?")


def _silent(path: Path) -> None:
    raise ValueError("there is something wrong with some file")


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (_wasteful, "80,000,.* bytes of memory for a file of 3"),
        (_confused, r"TypeError: what is this\?"),
        (_silent, "does not name the file"),
    ],
)
def test_what_a_finding_is(load, message: str, tmp_path: Path) -> None:
    """The harness can fail."""
    found = try_file(Loader(load, lambda: [b"abc"]), b"abc", tmp_path / "a", Tally(), Meter())
    assert found is not None
    assert re.search(message, found)


@pytest.mark.slow
def test_the_same_number_is_the_same_file_in_another_process() -> None:
    program = "from fuzz.test_fuzz import _digests; print(*_digests())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stdout.split() == _digests()


def _digests() -> list[str]:
    files = [[broken_file(one, n) for n in range(20)] for one in LOADERS.values()]
    return [sha256(b"".join(some)).hexdigest() for some in files]
