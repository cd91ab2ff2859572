"""The benchmark of the defaults, on tiny data."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of what is installed")

from benchmarks.defaults import data, suite
from benchmarks.defaults.data import DataSet, FileSet, all_sets, nested
from benchmarks.options import Options
from benchmarks.report.record import Record

OPTIONS = Options(["defaults"], None, repeat=1, seeds=1, threads=1, full=False, out=Path())


def _line() -> Any:
    X = np.random.default_rng(0).standard_normal((80, 2))
    return X, X[:, 0] + 1


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "BUNDLED", (DataSet("nested", partial(nested, 100, 2)),))
    monkeypatch.setattr(data, "MADE", (DataSet("line", _line, regression=True),))
    monkeypatch.setattr(data, "LATER", ())
    monkeypatch.setattr(data, "FRESH", ())
    monkeypatch.setattr(data, "FILES", (FileSet("letter"),))


@pytest.mark.usefixtures("few")
def test_all_that_is_at_hand_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUDGETSVM_DATA", raising=False)
    record = Record({}, {})
    suite.run(record, iter(()), OPTIONS)
    assert record.missing == ["letter (letter.scale, letter.scale.t)"]
    rows, (total,) = (table.rows for table in record.tables)
    assert [row["data"] for row in rows] == ["nested", "line"]
    assert [row["classes"] for row in rows] == [2, None]
    for row in rows:  # so few rows that both solve the same problem
        assert row["exact"] > 60
        assert row["difference"] == pytest.approx(0, abs=2.5)
        assert row["verdict"] in ("ok", "MISSED")
    assert total["wins"] + total["ties"] + total["losses"] == 2
    assert total["worst"] == min(row["difference"] for row in rows)


def test_a_loss_is_listed_and_more_may_be_lost_of_many_classes() -> None:
    record = Record({}, {})
    for classes, verdict in ((2, "MISSED"), (None, "MISSED"), (26, "ok")):
        row = {"data": "it", "classes": classes, "difference": -0.6}
        assert suite._judge(record, row) == verdict
    assert len(record.misses) == 2


def test_files_are_read_and_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lines = "".join(f"{i % 26 + 1} {i % 16 + 1}:{i}\n" for i in range(1, 41))
    for name in ("letter.scale", "letter.scale.t"):
        (tmp_path / name).write_text(lines)
    file_set = FileSet("letter", 60)
    assert not file_set.missing(tmp_path)
    X, y = file_set.of(tmp_path).read()
    assert X.shape == (60, 16)
    assert set(y) <= set(range(1, 27))
    missing: list[str] = []
    names = [one.name for one in all_sets(None, missing.append)]
    assert len(names) + len(missing) >= 20
    assert "letter" not in names
