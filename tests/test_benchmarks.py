"""The tools of the benchmarks: figures that are wrong would be worse than none."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of what is installed")

from benchmarks import growth, plot, sizes, synthetic, trial
from benchmarks.data import SPECS, Problem
from benchmarks.fresh import FreshProcessError, OutOfPatienceError, call
from benchmarks.memory import PeakMemory
from benchmarks.report import Column, Record
from benchmarks.rivals import OURS, PART, PEERS
from benchmarks.yardstick import KernelBlocks, single


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_yardstick_evaluates_the_kernel(threads: int) -> None:
    rng = np.random.default_rng(0)
    X, Z = single(rng.standard_normal((700, 4))), single(rng.standard_normal((30, 4)))
    coef = single(rng.standard_normal(30))
    found = KernelBlocks(X, Z, 0.3, threads).expand(coef)
    distances = ((X[:, np.newaxis] - Z).astype(float) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, np.exp(-0.3 * distances) @ coef, atol=1e-4)


def test_synthetic_data_pose_the_same_problem_for_any_number_of_features() -> None:
    (narrow, labels), (wide, same_labels) = synthetic.make(50, 5), synthetic.make(50, 300)
    assert wide.shape == (50, 300)
    np.testing.assert_allclose(wide @ wide.T, narrow @ narrow.T, atol=1e-9)
    np.testing.assert_array_equal(labels, same_labels)
    assert set(labels) == {-1.0, 1.0}


def test_the_exponent_is_that_of_a_power_law() -> None:
    rows = [{"n": n, **dict.fromkeys(growth.PARTS, 3e-6 * n**1.5)} for n in (10, 100, 1000)]
    assert growth._exponents("n", rows)["seconds_exponent"] == pytest.approx(1.5)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_peak_counts_memory_that_was_freed_since_but_not_before() -> None:
    np.ones(20_000_000)
    memory = PeakMemory()
    np.ones(5_000_000)
    peak = memory.bytes()
    assert peak is not None
    assert 30e6 < peak < 80e6


def test_a_fresh_process_measures_a_fit() -> None:
    row = call(sizes.measure, threads=1, patience=120, n=300, B=20, d=6, repeat=1)
    assert row["terms"] <= 20
    assert row["seconds"] == pytest.approx(row["phase_one"] + row["rest"])
    assert row["score"] > 0.6


def test_a_fresh_process_fails_aloud() -> None:
    with pytest.raises(FreshProcessError, match="unexpected keyword"):
        call(sizes.measure, threads=1, patience=120, wrong=1)
    with pytest.raises(OutOfPatienceError, match="not done"):
        call(sizes.measure, threads=1, patience=0.01)


def test_peers_are_measured_and_missing_ones_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = synthetic.make(600, 5)
    problem = Problem(SPECS[1], X[:400], y[:400], X[400:], y[400:])
    path = tmp_path / "problem"
    trial.save(problem, path)
    row = trial.measure(OURS, str(path), threads=1, repeat=2, rows=300)
    assert row["rows"] == 300
    assert len(row["fits"]) == 2
    assert 0 < row["terms"] <= 500
    assert trial.rows_in_time(PART, str(path), threads=1, seconds=1e9)["rows"] == 400
    monkeypatch.setitem(sys.modules, "xgboost", None)
    assert "xgboost" in trial.measure("XGBoost", str(path), 1, 1, None)["missing"]


def test_the_picture_shows_what_there_is(tmp_path: Path) -> None:
    record = Record({}, {})
    plot.save(record, tmp_path)
    assert not list(tmp_path.iterdir())
    table = record.table(plot.peers.TITLE, (Column("peer", "peer"),))
    for peer in PEERS:
        table.add({"data": "D", "peer": peer, "seconds": 1.0, "score": 0.9, "comment": ""})
    plot.save(record, tmp_path)
    assert (tmp_path / plot.NAME).stat().st_size > 10_000
