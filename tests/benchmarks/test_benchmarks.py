"""The tools of the benchmarks: figures that are wrong would be worse than none."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

benchmarks = pytest.importorskip(
    "benchmarks", reason="the benchmarks are not part of what is installed"
)

from benchmarks.fresh import sizes, stream_fits, trial, wide_fits
from benchmarks.fresh.call import FreshProcessError, OutOfPatienceError, call
from benchmarks.measuring.yardstick import KernelBlocks, single
from benchmarks.models.rivals import OURS, PART, PEERS
from benchmarks.options import Options
from benchmarks.problems import made_stream, synthetic, task_sets
from benchmarks.problems.data_sets import SPECS, Problem, load
from benchmarks.problems.task_sets import TaskSpec
from benchmarks.report import picture
from benchmarks.report.record import Column, Record
from benchmarks.suite import growth, tasks
from benchmarks.tasks import search, stream, wide

from budgetsvm.datasets._entry import DataFile, Entry


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


FREED = """
import numpy as np
from benchmarks.measuring.memory import PeakMemory

np.ones(20_000_000)
memory = PeakMemory()
np.ones(5_000_000)
print(memory.bytes())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_peak_counts_memory_that_was_freed_since_but_not_before() -> None:
    """In a fresh process, as it is meant: other tests leave memory behind that is used again."""
    root = Path(benchmarks.__file__).parents[1]
    command = [sys.executable, "-c", FREED]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert 30e6 < int(done.stdout) < 80e6


@pytest.mark.slow
def test_a_fresh_process_measures_a_fit() -> None:
    row = call(sizes.measure, threads=1, patience=120, n=300, B=20, d=6, repeat=1)
    assert row["terms"] <= 20
    assert row["seconds"] == pytest.approx(row["phase_one"] + row["rest"])
    assert row["score"] > 0.6


@pytest.mark.slow
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
    picture.save(record, tmp_path)
    assert not list(tmp_path.iterdir())
    table = record.table(picture.peers.TITLE, (Column("peer", "peer"),))
    for peer in PEERS:
        table.add({"data": "D", "peer": peer, "seconds": 1.0, "score": 0.9, "comment": ""})
    picture.save(record, tmp_path)
    assert (tmp_path / picture.NAME).stat().st_size > 10_000


def _options(**choices: Any) -> Options:
    usual = {"only": ["tasks"], "data": None, "repeat": 1, "seeds": 2, "threads": 1, "full": False}
    return Options(**{**usual, "out": Path(), **choices})


def _write_libsvm(path: Path, X: Any, y: Any) -> None:
    lines = (
        f"{label:g} " + " ".join(f"{j}:{value:.6g}" for j, value in enumerate(row, 1))
        for row, label in zip(X, y, strict=True)
    )
    path.write_text("\n".join(lines), encoding="ascii")


def _entry(file: str, **more: Any) -> Entry:
    return Entry(file, 3, DataFile(file, 300), split="fifth", **more)


@pytest.fixture
def small_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One data set of each task, and one whose file is missing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    _write_libsvm(tmp_path / "classes", X, 1 + np.argmax(X, axis=1))
    _write_libsvm(tmp_path / "regression", X, 50 + 20 * np.sin(X[:, 0]))
    _write_libsvm(tmp_path / "two", X, np.where(np.linalg.norm(X, axis=1) < 1.8, 1, -1))
    monkeypatch.setattr(
        task_sets,
        "TASK_SPECS",
        (
            TaskSpec("LETTER", _entry("classes"), 4.0, 0.5),
            TaskSpec("USPS", _entry("absent"), 4.0, 0.5),
            TaskSpec("CADATA", _entry("regression", epsilon=0.1), 4.0, 0.5, task="regression"),
            TaskSpec("RINGS", _entry("two"), 1.0, 0.5, task="one class", inliers=1),
        ),
    )
    return tmp_path


def test_all_tasks_are_measured_and_missing_data_are_named(
    small_tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUDGETSVM_DATA", str(small_tasks))
    record, options = Record({}, {}), _options(data=["LETTER", "USPS", "CADATA", "RINGS"])
    tasks.run(record, iter(()), options)
    assert record.missing[0] == "USPS (absent)"
    assert not record.failures
    found = {table.title: table.rows for table in record.tables}
    assert [row["model"] for row in found["Many classes"]] == ["ovr", "weston-watkins", "random"]
    assert all(row["score"] > 0.8 for row in found["Many classes"])
    assert found["Many classes: time"][0]["ratio"] > 0
    assert found["Regression"][0]["score"] > 0.95
    assert found["Regression"][0]["verdict"] == "ok"
    assert found["One class"][0]["score"] > 0.9
    assert found["One class"][0]["amiss_verdict"] == "ok"


@pytest.mark.slow
def test_a_stream_is_made_anew_and_alike_and_learned_in_a_fresh_process() -> None:
    X, y = made_stream.held(50, 20)
    blocks = list(made_stream.blocks(50, 20))
    assert [len(labels) for _, labels in blocks] == [20, 20, 10]
    np.testing.assert_array_equal(np.vstack([rows for rows, _ in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in blocks]), y)
    assert not np.array_equal(made_stream.held(50, 20, seed=1)[0], X)
    size = {"n": 3000, "budget": 50, "seed": 0}
    streamed = call(stream_fits.learn, threads=1, patience=120, **size)
    assert streamed["visits"] == 3000
    for row in (streamed, stream_fits.hold(threads=1, **size)):
        assert row["terms"] <= 50
        assert row["score"] > 0.6


def test_growing_memory_misses_the_target() -> None:
    record, flat = Record({}, {}), {"n": 10, "peak_mb": 20.0}
    stream.judge_growth(record, flat, same := {"n": 40, "peak_mb": 21.0})
    assert same["growth_verdict"] == "ok"
    stream.judge_growth(record, flat, more := {"n": 40, "peak_mb": 60.0})
    assert more["growth_verdict"] == "MISSED"
    assert "40.0 MB more" in record.misses[0]


def test_wide_data_are_judged() -> None:
    found = {
        machine: wide_fits.fit_wide(machine=machine, n=60, n_features=2000, threads=1, seed=0)
        for machine in ("SVC", "BudgetSVC")
    }
    assert all(fit["terms"] <= 60 and fit["score"] > 0.6 for fit in found.values())
    record, row = Record({}, {}), {"n_features": 5, "svc_cpu": 1.0, "svc_mb": 10.0}
    wide.judge(record, fine := {**row, "cpu": 1.0, "peak_mb": 20.0, "model_mb": 1.0})
    assert fine["time_verdict"] == fine["memory_verdict"] == fine["file_verdict"] == "ok"
    wide.judge(record, slow := {**row, "cpu": 2.0, "peak_mb": None, "model_mb": 6.0})
    assert slow["time_verdict"] == slow["file_verdict"] == "MISSED"
    assert len(record.misses) == 2


def test_the_search_finds_parameters_of_every_task(
    small_tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids = {"C": (1.0, 4.0), "gamma": (1e-9, 0.5), "epsilon": (0.1, 10.0)}
    wanted = {"classes": ("C", "gamma"), "regression": tuple(grids), "one class": ("gamma",)}
    monkeypatch.setattr(
        search,
        "_GRIDS",
        {task: {name: grids[name] for name in names} for task, names in wanted.items()},
    )
    for spec in task_sets.TASK_SPECS:
        if spec.name != "USPS":
            found, score = search.search(spec, load(small_tasks, spec))
            assert found["gamma"] == 0.5
            assert score > 0.8
