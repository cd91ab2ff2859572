"""The recipe's server: whatever columns a row has, it gets a label, or an answer that says what is wrong."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
from docs.folder import prepare

pytest.importorskip("matplotlib")  # of the report
pytestmark = pytest.mark.slow
ROW = {"age": 30, "income": 20000, "visits": 9, "plan": "plus", "city": "Herne"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("recipe")
    prepare(folder)
    for words in (["make_table.py"], ["train.py", "customers.csv", "stays"]):
        subprocess.run([sys.executable, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "serve.py", "model.joblib", str(port)]
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


def answer(server: str, rows: object) -> tuple[int, str]:
    for _ in range(600):
        try:
            with urlopen(server, json.dumps(rows).encode(), timeout=60) as reply:
                return reply.status, reply.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()
        except URLError:  # it is not there yet
            time.sleep(0.1)
    raise AssertionError("the server did not come up")


@pytest.mark.parametrize("column", ROW)
@pytest.mark.parametrize("gap", ["left out", "null"])
def test_gaps(server: str, column: str, gap: str) -> None:
    row = {name: value for name, value in ROW.items() if name != column}
    if gap == "null":
        row[column] = None  # type: ignore[assignment]
    status, labels = answer(server, [row])
    assert status == 200
    assert json.loads(labels)[0] in ("yes", "no")


def test_a_row_of_nothing(server: str) -> None:
    assert answer(server, [{"age": 30}, {}])[0] == 200


def test_columns_that_are_not_known(server: str) -> None:
    status, message = answer(server, [{**ROW, "agee": 30}])
    assert status == 400
    assert "agee" in message
    assert "income" in message
