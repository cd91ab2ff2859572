"""The figures of large budgets, on problems that are none."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

benchmarks = pytest.importorskip(
    "benchmarks", reason="the benchmarks are not part of what is installed"
)

from benchmarks.large import machines, sixteen_thousand, suite
from benchmarks.large.figures import Figures, Target
from benchmarks.options import Options
from benchmarks.problems.data_sets import SPECS, Problem
from benchmarks.report.record import Record


def options(**different: Any) -> Options:
    usual = Options(["large"], None, 1, 1, 1, full=False, out=Path())
    return replace(usual, **different)


def small(name: str) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    spec = next(spec for spec in SPECS if spec.name == name)
    return Problem(spec, X[:400], y[:400], X[400:], y[400:])


def test_targets_are_met_or_missed() -> None:
    record = Record({}, {})
    figures = Figures(record)
    figures.add("low", 2.0, Target(3))
    figures.add("high", 4.0, Target(3))
    figures.add("good", 0.95, Target(0.945, at_least=True))
    figures.add("bad", 0.94, Target(0.945, at_least=True))
    verdicts = [row["verdict"] for row in record.tables[0].rows]
    assert verdicts == ["ok", "MISSED", "ok", "MISSED"]
    assert record.misses == ["high: 4, target ≤ 3", "bad: 0.94, target ≥ 0.945"]


def test_all_figures_of_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row for each, with what was measured; the ratio is that of the two."""
    monkeypatch.setattr(
        machines, "_BLOCKS", dict.fromkeys(("SUSY", "COVTYPE-G8"), ((20, 30), Target(5)))
    )
    monkeypatch.setattr(machines, "_FEWER", 20)
    monkeypatch.setattr(machines, "_MORE", 40)
    monkeypatch.setattr(machines, "_ALL_ROWS", (60,))
    monkeypatch.setattr(machines, "_against_svr", lambda _: None)
    monkeypatch.setattr(sixteen_thousand, "add", lambda figures: figures.add("16000", 1, Target(1)))
    record = Record({}, {})
    suite.run(record, iter([small("SUSY"), small("COVTYPE-G8")]), options(full=True))
    rows = record.tables[0].rows
    names = [row["what"] for row in rows]
    assert len(names) == len(set(names)) == 1 + 3 + 4 + 1
    for row in rows:
        if "against" in row:
            assert row["value"] == pytest.approx(row["seconds"] / row["against"])
    assert all(row["terms"] <= 60 for row in rows if "terms" in row)
