"""The comparison of tuned machines: rows are split once, and every machine is scored on the same ones."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons

benchmarks = pytest.importorskip(
    "benchmarks", reason="the benchmarks are not part of what is installed"
)

from benchmarks.report.record import Record
from benchmarks.tuned import data, machines, table

X, Y = make_moons(400, noise=0.2, random_state=0)


def test_files_without_test_rows_are_split(tmp_path: Path) -> None:
    dump_svmlight_file(X, Y, str(tmp_path / "spambase"), zero_based=False)
    missing: list[str] = []
    (found,) = data.tables(tmp_path, missing.append, ("SPAMBASE", "ADULT"))
    assert (len(found.y), len(found.y_test)) == (300, 100)
    both = np.vstack([found.X, found.X_test])
    np.testing.assert_allclose(np.sort(both, axis=0), np.sort(X, axis=0), atol=1e-6)
    assert len(missing) == 1
    assert missing[0].startswith("ADULT (")


@pytest.mark.slow
def test_machines_are_scored_on_rows_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "TIME_LIMIT", 5.0)
    for name in table.TREES:  # which need not be installed
        monkeypatch.delitem(machines.MACHINES, name)
    row = table.measure(data.Table("MOONS", X[:200], Y[:200], X[200:], Y[200:], regression=False))
    for name in (table.TUNED, table.RELEVANT, table.UNTUNED, machines.EXACT):
        assert 90 < row[name] <= 100
    assert row["terms"] > 0


def test_the_summary_counts(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {table.TUNED: 90.0, table.RELEVANT: 91.0, "XGBoost": 89.0, "LightGBM": 90.5},
        {table.TUNED: 90.0, table.RELEVANT: 89.0, "XGBoost": 89.0, "LightGBM": 89.5},
        {table.TUNED: 90.0, table.RELEVANT: 94.0, "XGBoost": 95.0, "LightGBM": 89.5},
    ]
    table._summarise(Record({}, {}), rows)
    said = capsys.readouterr().out
    assert "tuned: within 1 point of the better tree on 2 of 3, ahead on 1" in said
    assert "relevance: within 1 point of the better tree on 3 of 3, ahead on 1" in said
