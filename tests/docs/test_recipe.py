"""The recipe's server: whatever columns a row has, it gets a label, or an answer that says what is wrong."""

import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from socket import socket
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import joblib
import numpy as np
import pandas as pd
import pytest
from docs.folder import prepare

pytest.importorskip("matplotlib")  # of the report
pytestmark = pytest.mark.slow
ROW = {"age": 30, "income": 20000, "visits": 9, "plan": "plus", "city": "Herne"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a model has been trained."""
    folder: Path = tmp_path_factory.mktemp("recipe")
    prepare(folder)
    for words in (["make_table.py"], ["train.py", "customers.csv", "stays"]):
        subprocess.run([sys.executable, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    yield from serve(folder)


def serve(folder: Path) -> Iterator[str]:
    """Yield the address of a server."""
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "serve.py", "model.joblib", str(port)]
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


def answer(server: str, rows: object) -> tuple[int, str]:
    return answer_to(server, json.dumps(rows).encode())


def answer_to(server: str, text: bytes) -> tuple[int, str]:
    for _ in range(600):
        try:
            with urlopen(server, text, timeout=60) as reply:
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
    assert json.loads(labels)["labels"][0] in ("yes", "no")


@pytest.mark.parametrize("rows", [[], {}, ROW, [1, 2], 3])
def test_what_is_no_list_of_rows(server: str, rows: object) -> None:
    status, message = answer(server, rows)
    assert status == 400
    message = json.loads(message)["error"]
    assert "a list with an object for each" in message
    for column in ROW:
        kind = "word" if column in ("plan", "city") else "number"
        assert f'"{column}": {kind}' in message


def test_any_table(tmp_path: Path) -> None:
    """Numbers to be predicted, and columns of which nothing is learned."""
    prepare(tmp_path)
    rng = np.random.default_rng(0)
    size = rng.uniform(20, 200, 400).round(1)
    table = pd.DataFrame({"größe": size, "kunde": [f"K{i}" for i in range(400)], "art": "haus"})
    table.assign(preis=1000 * size).to_csv(tmp_path / "preise.csv", index=False)
    words = [sys.executable, "train.py", "preise.csv", "preis"]
    done = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "left out: kunde, with 400 different words ('K0', 'K1'" in done.stdout
    assert "R² there: 0.9" in done.stdout


def test_a_row_of_nothing(server: str) -> None:
    assert answer(server, [{"age": 30}, {}])[0] == 200


def test_columns_that_are_not_known(server: str) -> None:
    status, message = answer(server, [{**ROW, "agee": 30}])
    assert status == 400
    assert "agee" in message
    assert "income" in message


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("age", "old"),
        ("age", [30]),
        ("income", {"a": 1}),
        ("visits", math.inf),
        ("age", 10**400),
        ("age", "1,5"),
        ("city", ["Herne"]),
        ("plan", {}),
    ],
)
def test_values_that_a_column_cannot_have(server: str, column: str, value: object) -> None:
    status, message = answer(server, [ROW, {**ROW, column: value}])
    assert status == 400
    kind = "word" if column in ("plan", "city") else "number"
    assert f"{column} is a {kind}, not " in message
    assert "as in row 2" in message


@pytest.mark.parametrize("value", ["30", 1e300, -5, True])
def test_all_that_is_a_number(server: str, value: object) -> None:
    assert answer(server, [{**ROW, "age": value}])[0] == 200


@pytest.mark.parametrize("value", [5, True, "nowhere", "", None, "Essen"])
def test_all_that_is_a_word(server: str, value: object) -> None:
    """Words that training has not seen are taken, and named."""
    status, found = answer(server, [ROW, {**ROW, "city": value}])
    assert status == 200
    seen = value in ("", None, "Essen")
    assert json.loads(found).get("unknown") == (None if seen else {"city": [value]})


@pytest.mark.parametrize("text", [b"", b"[{", b"age=30", b"\xff", b"[" * 100_000])
def test_what_is_no_json(server: str, text: bytes) -> None:
    status, message = answer_to(server, text)
    assert status == 400
    assert "this is not JSON" in message


def test_bad_calls_of_the_server(server: str, folder: Path) -> None:
    answer(server, [ROW])  # it is there
    (folder / "empty").write_bytes(b"")
    joblib.dump([1, 2], folder / "list.joblib")
    joblib.dump(joblib.load(folder / "model.joblib")[-1], folder / "machine.joblib")
    port = server.rpartition(":")[2]
    for words, said in (
        (["model.joblib", port], f"port {port} cannot be had"),
        (["model.joblib", "99999"], "port 99999 cannot be had"),
        (["model.joblib", "http"], "port http cannot be had"),
        (["model.joblib"], "a model and a port, please"),
        (["nothing.joblib", "8000"], "nothing.joblib is no model of train.py"),
        (["customers.csv", "8000"], "customers.csv is no model of train.py, which writes"),
        (["empty", "8000"], "empty is no model of train.py, which writes"),
        (["list.joblib", "8000"], "list.joblib is no model of train.py, which writes"),
        (["machine.joblib", "8000"], "machine.joblib is no model of train.py, which writes"),
        ([".", "8000"], ". is no model of train.py: "),
    ):
        done = run(folder, "serve.py", *words)
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert "Error(" not in done.stderr


def test_the_server_says_what_the_model_says(server: str, folder: Path) -> None:
    """Of all rows of the table, gaps in numbers and in words included."""
    table = pd.read_csv(folder / "customers.csv").drop(columns="stays")
    labels = joblib.load(folder / "model.joblib").predict(table).tolist()
    assert table["city"].isna().any()
    rows = json.loads(table.to_json(orient="records"))
    assert json.loads(answer(server, rows)[1]) == {"labels": labels}
    left_out = [{name: value for name, value in row.items() if value is not None} for row in rows]
    assert json.loads(answer(server, left_out)[1]) == {"labels": labels}
    texts = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]
    assert json.loads(answer(server, texts)[1]) == {"labels": labels}


def test_numbers_and_truths_that_are_words(tmp_path: Path) -> None:
    """A request may have them as they are, or as text; a word beside gaps is worth a column."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"code": rng.integers(101, 105, 600), "old": rng.random(600) < 0.5})
    table["flag"] = np.where(rng.random(600) < 0.5, "x", None)
    table["stays"] = (table["code"] % 2 == 0) ^ table["old"] ^ table["flag"].notna()
    table.to_csv(tmp_path / "table.csv", index=False)
    assert train(tmp_path, "table.csv", "stays", WORDS='["code"]').returncode == 0
    rows = json.loads(table.drop(columns="stays").to_json(orient="records"))
    for server in serve(tmp_path):
        for some in (
            rows,
            [{name: str(row[name]) for name in row if row[name]} | row for row in rows],
        ):
            found = json.loads(answer(server, some)[1])
            assert found == {"labels": table["stays"].tolist()}
        others = [{"code": "9", "old": "true"}, {"code": 101, "old": 1, "flag": None}]
        found = json.loads(answer(server, others)[1])
        assert found["unknown"] == {"code": ["9"], "old": ["true"]}


@pytest.mark.parametrize(
    ("length", "said"),
    [
        ("-1", "Content-Length is a number of bytes, not '-1'"),
        ("abc", "Content-Length is a number of bytes, not 'abc'"),
        ("1_0", "Content-Length is a number of bytes, not '1_0'"),
        (str(10**12), "at most 10,000,000 bytes"),
        ("9" * 6000, "at most 10,000,000 bytes"),
        ("0", "this is not JSON"),
    ],
    ids=lambda text: text[:20],
)
def test_lengths_that_are_none(server: str, length: str, said: str) -> None:
    answer(server, [ROW])
    port = int(server.rpartition(":")[2])
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        reply = connection.getresponse()
        assert reply.status == 400
        assert said in json.loads(reply.read())["error"]


def test_who_looks_sees_the_columns(server: str) -> None:
    answer(server, [ROW])
    with urlopen(server, timeout=60) as reply:
        assert json.loads(reply.read()) == {"columns": ["age", "income", "visits", "city", "plan"]}


def test_columns_that_were_left_out(tmp_path: Path) -> None:
    """Nobody has to know of them, and they may come."""
    rng = np.random.default_rng(0)
    x, code = rng.standard_normal(400), rng.integers(1, 5, 400).astype(float)
    code[::9] = np.nan  # with gaps, numbers of the table have a point
    table = pd.DataFrame({"id": np.arange(400), "x": x, "same": 1, "code": code, "stays": x > 0})
    table.to_csv(tmp_path / "table.csv", index=False)
    assert train(tmp_path, "table.csv", "stays", WORDS='["code"]').returncode == 0
    for server in serve(tmp_path):
        found = answer(server, [{"x": 1, "code": 3}, {"x": -1, "code": "3.0", "id": 7, "same": 2}])
        assert (found[0], json.loads(found[1])) == (200, {"labels": [True, False]})
        with urlopen(server, timeout=60) as reply:
            assert json.loads(reply.read()) == {"columns": ["x", "code"]}
        for rows in ([{"y": 1}], {}):
            status, message = answer(server, rows)
            assert status == 400
            assert "code" in message
            assert "same" not in message


def train(folder: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    prepare(folder)
    program = folder / "train.py"
    text = program.read_text("utf-8")
    for name, value in changes.items():
        text = re.sub(rf"^{name} = \S+", f"{name} = {value}", text, flags=re.MULTILINE)
    program.write_text(text, "utf-8")
    return run(folder, "train.py", *words)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )


def test_labels_that_are_numbers_beside_gaps(tmp_path: Path) -> None:
    """They are no fractions; and what says nothing of rows to come is left out."""
    rng = np.random.default_rng(0)
    x, code = rng.standard_normal(400), rng.integers(1, 9, 400)
    y = np.where(np.arange(400) % 9 == 0, np.nan, (x > 0) ^ (code > 4))
    table = pd.DataFrame(
        {"id": np.arange(400) + 7, "x": x, "code": code, "same": 3, "none": np.nan}
    )
    table.assign(stays=y).to_csv(tmp_path / "table.csv", index=False)
    done = train(tmp_path, "table.csv", "stays", WORDS='["code"]')
    assert done.returncode == 0, done.stderr
    assert "stays: 2 classes" in done.stdout
    for name in ("id, another whole number in every row", "same, which is", "none, which is"):
        assert f"left out: {name}" in done.stdout
    assert float(done.stdout.split("right: ")[1].split("%")[0]) > 80


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], "too few rows of table.csv have a label in 'stays': 0 of at least 10"),
        (["yes"], "1 of at least 10"),
        (["yes", "no"] * 2, "4 of at least 10"),
        (["yes", None] * 9, "9 of at least 10"),
        ([0.5] * 9, "9 of at least 10"),
        (["yes"] * 40, "nothing to tell apart in 'stays': only 'yes' has 5 rows or more"),
        (["yes"] * 40 + ["no"] * 4, "only 'yes' has 5 rows or more"),
        ([*"abc"] * 4, "nothing to tell apart in 'stays': no label has 5 rows or more"),
        ([3] * 40, "only 3 has 5 rows or more"),
    ],
)
def test_tables_with_nothing_to_learn(tmp_path: Path, labels: list, said: str) -> None:
    rows = {"a": np.arange(len(labels)) / 7, "stays": labels}
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    done = train(tmp_path, "table.csv", "stays")
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "classes" not in done.stdout


@pytest.mark.parametrize("labels", [["yes", "no"] * 5, list(np.arange(10) / 7)], ids=str)
def test_the_smallest_tables(tmp_path: Path, labels: list) -> None:
    rows = {"a": np.arange(10) / 3, "b": [1.5, 2.5] * 5, "stays": labels}
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    done = train(tmp_path, "table.csv", "stays")
    assert done.returncode == 0, done.stderr
    done = train(tmp_path, "table.csv", "stays", LEAVE_OUT='["a","b"]')
    assert "there is no column left to predict 'stays' from" in done.stderr


@pytest.mark.parametrize(("rows", "seconds", "short"), [(12_000, "1", True), (300, "60", False)])
def test_the_time_is_blamed_where_it_was_short(
    tmp_path: Path, rows: int, seconds: str, short: bool
) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(rows, 8)), columns=[*"abcdefgh"])
    table["stays"] = np.sin(3 * table["a"]) + table["b"] + rng.normal(size=rows) > 0
    table.to_csv(tmp_path / "table.csv", index=False)
    done = train(tmp_path, "table.csv", "stays", SECONDS=seconds)
    assert done.returncode == 0, done.stderr
    assert ("for want of time" in done.stdout) == short


def test_a_search_that_gave_up_early_had_time_enough(tmp_path: Path) -> None:
    """Too few rows to tune with, say: more seconds would not help."""
    rows = {"a": np.arange(20) / 3, "stays": ["yes", "no"] * 10}
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    prepare(tmp_path)
    program = tmp_path / "train.py"
    text = program.read_text("utf-8").replace(
        "score = ", "machine.search_complete_ = False\nscore = "
    )
    program.write_text(text, "utf-8")
    done = run(tmp_path, "train.py", "table.csv", "stays")
    assert done.returncode == 0, done.stderr
    assert "for want of time" not in done.stdout


def test_first_mistakes_are_told(tmp_path: Path) -> None:
    lines = [f"{i},{i % 2},{'once' if i == 3 else 'often' if i % 2 else 'else'}" for i in range(80)]
    text = "a;b;c\n" + "\n".join(lines).replace(",", ";")
    (tmp_path / "table.csv").write_text(text, "utf-8")
    (tmp_path / "german.csv").write_text("a;b\n1,5;2,5\n1,5;2;3\n", "utf-8")
    (tmp_path / "wide.csv").write_text("a,b\n1,2\n", "utf-16")
    for words, said in (
        (("nothing.csv", "c"), "nothing.csv"),
        (("german.csv", "a"), "READ how the file is written?"),
        (("wide.csv", "a"), "READ how the file is written?"),
        ((), "a file and the column to predict"),
        (("table.csv", "c"), "READ how the file is written?"),
        (("table.csv", "d"), "no column 'd'"),
    ):
        done = train(tmp_path, *words)
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    for name in ("WORDS", "LEAVE_OUT"):
        done = train(tmp_path, "table.csv", "c", READ='{"sep":";"}', **{name: '["d"]'})
        assert (done.returncode, "no column 'd'" in done.stderr) == (1, True)
        assert train(tmp_path, **{name: "[]"}).returncode == 1
    done = train(tmp_path, "table.csv", "c", READ='{"sep":";"}')
    assert done.returncode == 0, done.stderr
    assert "left out: the rows of 'once', of which there are 1" in done.stdout
