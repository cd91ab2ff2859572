"""Disks that are full, folders that cannot be written to: said at once, or a warning; what was there stays."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from estimators.checkpoints.scenarios import SCENARIOS, Breaks, bits, broken, short_calls

from budgetsvm._estimators.checkpoints.file import CheckpointFile

SCENARIO = SCENARIOS["two classes"]
LIMITED = """
import os, resource, sys, warnings
from pathlib import Path
from estimators.checkpoints.scenarios import SCENARIOS, Breaking, Breaks, bits, short_calls
path, limit = Path(sys.argv[1]), int(sys.argv[2])
scenario, caught = SCENARIOS["two classes"], []
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
with short_calls():
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, kind, *_: caught.append(f"{kind.__name__}: {message}")
    for after in map(float, sys.argv[3:]):
        model, before = scenario.model(), path.exists() and path.read_bytes()
        try:
            scenario.train(model, checkpoint=Breaking(path, after))
            print(bits(model))
        except Breaks:
            print("broken off,", path.read_bytes() == before, os.listdir(path.parent))
        print(*caught, sep="\\n")
        caught.clear()
"""
FORBIDDEN = """
import os, sys
from estimators.checkpoints.scenarios import SCENARIOS, short_calls
if os.getuid() == 0:  # who may write everywhere
    os.setgid(65534)
    os.setuid(65534)
class Data:
    def __array__(self, *_, **__):
        raise SystemExit("the data were looked at")
try:
    SCENARIOS["two classes"].model().fit(Data(), Data(), checkpoint=sys.argv[1])
except OSError as error:
    print(f"{type(error).__name__}: {error}")
"""


def output(program: str, *words: Any) -> list[str]:
    """Return what a program of its own prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def expected() -> str:
    with short_calls():
        return bits(SCENARIO.train(SCENARIO.model()))


@pytest.mark.slow
def test_a_full_disk_leaves_the_checkpoint_and_the_run(tmp_path: Path, expected: str) -> None:
    path = tmp_path / "it"
    with pytest.raises(Breaks):
        broken(SCENARIO, path, after=4)
    limit = path.stat().st_size // 2
    # After three attempts to write it anew it is as it was, with nothing of them beside it; said once.
    said, warning, model, _ = output(LIMITED, path, limit, 3, 1e9)
    assert said == "broken off, True ['it']"
    assert warning.startswith(f"RuntimeWarning: the checkpoint {str(path)!r} could not be written")
    assert "File too large" in warning
    assert "the one before is still there; training goes on" in warning
    assert model == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_full_disk_from_the_beginning(tmp_path: Path, expected: str) -> None:
    said, warning = output(LIMITED, tmp_path / "it", 5000, 1e9)
    assert said == expected
    assert "could not be written (File too large); training goes on" in warning
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def sealed() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders are sealed in other ways here")
def test_a_folder_that_cannot_be_written_to(sealed: Path) -> None:
    (said,) = output(FORBIDDEN, sealed / "it")
    wanted = f"no checkpoint can be written to {str(sealed / 'it')!r} (Permission denied)"
    assert said == f"PermissionError: [Errno 13] {wanted}; give another path"


def test_no_folder_and_no_file(tmp_path: Path) -> None:
    X, y = SCENARIO.data()
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing"):
        SCENARIO.model().fit(X, y, checkpoint=tmp_path / "missing" / "it")
    with pytest.raises(ValueError, match="is something else"):
        SCENARIO.model().fit(X, y, checkpoint=tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is something else"):
        SCENARIO.model().fit(X, y, checkpoint=tmp_path / "pipe")


class Disturbed(CheckpointFile):
    """A file that somebody else writes to, too."""

    count = 0

    def write(self, contents: Any) -> None:
        self.count += 1
        if self.count == 3:
            self.path.write_text("of somebody else")
        super().write(contents)


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path, expected: str) -> None:
    """Two runs with the same path, say."""
    path, model = tmp_path / "it", SCENARIO.model()
    with short_calls():
        SCENARIO.train(model, checkpoint=Disturbed(path, 0))
    assert bits(model) == expected
    assert path.read_text() == "of somebody else"
    path.unlink()
    with pytest.warns(RuntimeWarning, match="was changed by somebody else"):
        SCENARIO.train(SCENARIO.model(), checkpoint=_at_once(Disturbed(path, 0)))


def _at_once(file: Disturbed) -> Disturbed:
    file.count = 2
    return file


def test_links_are_followed_and_leftovers_written_over(tmp_path: Path, expected: str) -> None:
    there, link = tmp_path / "there", tmp_path / "link"
    link.symlink_to(there)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "there.part").symlink_to(precious)  # not what a killed process leaves
    with pytest.raises(Breaks):
        broken(SCENARIO, link, after=2)
    assert link.is_symlink()
    assert there.read_bytes()
    (tmp_path / "there.part").write_text("half a file")
    with short_calls():
        assert bits(SCENARIO.train(SCENARIO.model(), checkpoint=link)) == expected
    assert precious.read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "precious"]
