"""The runner of the experiments: nothing is done twice, nothing is lost, nothing keeps on running."""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")

from experiments.running import progress
from experiments.running.jobs import Job, Result
from experiments.running.progress import Progress
from experiments.running.runner import RUN_FILE, Run, run_jobs
from tools.doubles import fake_jobs

_INTERRUPTED = """
import sys
from pathlib import Path

from tools.doubles import fake_jobs
from experiments.running.jobs import Job
from experiments.running.runner import InterruptedRunError, run_jobs

if __name__ == "__main__":
    folder = sys.argv[1]
    pauses = [0.0, 0.0, 60.0, 60.0]
    jobs = [
        Job(f"job-{i}", fake_jobs.sleep, {"folder": folder, "number": i, "seconds": pause}, 9.0 - i)
        for i, pause in enumerate(pauses)
    ]
    try:
        run_jobs(jobs, Path(folder), 2, print)
    except InterruptedRunError as error:
        print(error)
        sys.exit(130)
"""


def _run(jobs: list[Job], folder: Path) -> Run:
    return run_jobs(jobs, folder, 2, print)


def _job(name: str, folder: Path, value: Any = 1) -> Job:
    return Job(name, fake_jobs.count, {"folder": str(folder), "value": value})


def _calls(folder: Path) -> int:
    path = folder / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_results_are_kept_and_used_again(tmp_path: Path) -> None:
    jobs = [_job("a/one", tmp_path, (1, 2)), _job("two", tmp_path), _job("a/one", tmp_path, (1, 2))]
    before = dict(os.environ)
    first = _run(jobs, tmp_path)
    assert dict(os.environ) == before
    assert first.results["a/one"] == {"value": [1, 2], "threads": "1"}
    assert (first.n_new, _calls(tmp_path)) == (2, 2)
    kept = json.loads((tmp_path / "a" / "one.json").read_text())
    assert set(kept) == {"name", "arguments", "result", "seconds"}
    second = _run(jobs, tmp_path)
    assert second.results == first.results
    assert second.seconds == first.seconds
    assert (second.n_new, _calls(tmp_path)) == (0, 2)
    assert not list(tmp_path.glob("**/*.part"))


@pytest.mark.parametrize("text", ["", '{"name": "x"', "[]", '{"name": "one", "arguments": {}}'])
def test_what_cannot_be_used_is_done_again(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.json").write_text(text)
    assert _run([_job("one", tmp_path)], tmp_path).n_new == 1
    assert _run([_job("one", tmp_path, 2)], tmp_path).results["one"]["value"] == 2
    assert _calls(tmp_path) == 2


def test_names_are_names_of_files_and_of_one_job_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two jobs have the name 'one'"):
        _run([_job("one", tmp_path, 1), _job("one", tmp_path, 2)], tmp_path)
    for name in ("../one", "/one", "a//b", ".one", "one two", "", RUN_FILE):
        with pytest.raises(ValueError, match="cannot be the name"):
            _run([_job(name, tmp_path)], tmp_path)
    assert _calls(tmp_path) == 0


def test_a_job_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    def hidden() -> Result:
        return {}

    bad = [
        Job("raises", fake_jobs.fail, {"text": "no such luck"}),
        Job("vanishes", fake_jobs.vanish, {}),
        Job("no-json", fake_jobs.not_json, {}),
        Job("unknown", hidden, {}),
    ]
    run = _run([*bad, *(_job(f"good-{i}", tmp_path) for i in range(3))], tmp_path)
    assert set(run.results) == {f"good-{i}" for i in range(3)}
    assert set(run.failures) == {job.name for job in bad}
    assert "fake_jobs.py" in run.failures["raises"]
    assert "ValueError: no such luck" in run.failures["raises"]
    assert "code -9 (out of memory?)" in run.failures["vanishes"]
    again = _run([*bad, _job("good-0", tmp_path)], tmp_path)
    assert set(again.failures) == {job.name for job in bad}
    assert not (tmp_path / "raises.json").exists()


def test_circumstances_are_recorded_without_names_and_paths(tmp_path: Path) -> None:
    for name in ("one", "two", "two"):
        _run([_job(name, tmp_path)], tmp_path)
    text = (tmp_path / f"{RUN_FILE}.json").read_text()
    runs = json.loads(text)["runs"]
    assert len(runs) == 2, "a run that does nothing is none"
    assert {"cpu", "cores", "budgetsvm", "numpy", "scikit-learn", "revision"} <= set(
        runs[0]["machine"]
    )
    assert runs[0]["start"] <= runs[0]["end"] <= runs[1]["start"]
    assert platform.node() not in runs[0]["machine"].values()
    assert str(tmp_path) not in text
    assert str(Path(__file__).parents[2]) not in text


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_all_processes_and_keeps_what_is_done(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_INTERRUPTED)
    here = Path(__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _wait_for(lambda: all((tmp_path / f"job-{i}.json").exists() for i in (0, 1)))
        os.killpg(process.pid, signal.SIGINT)  # as terminals do it: to the workers, too
        start = time.monotonic()
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert time.monotonic() - start < 10
    assert process.returncode == 130
    assert "stopped: 2 of 4 jobs are done; the same command goes on" in out
    assert "Traceback" not in err
    workers = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert workers
    _wait_for(lambda: not any(_is_alive(pid) for pid in workers))
    assert json.loads((tmp_path / f"{RUN_FILE}.json").read_text())["runs"][0]["done"] == 2


_HOLDING = """
import sys
from pathlib import Path

from tools.doubles import fake_jobs
from experiments.running.jobs import Job
from experiments.running.runner import run_jobs

if __name__ == "__main__":
    jobs = [Job(f"job-{i}", fake_jobs.hold_semaphore, {}) for i in range(3)]
    assert not run_jobs(jobs, Path(sys.argv[1]), 2, print).failures
"""


def test_processes_end_without_leaving_semaphores_behind(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(_HOLDING)
    here = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "leaked" not in done.stderr, done.stderr


def _wait_for(condition: Any, patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_expected_times_follow_what_such_jobs_took() -> None:
    meter = Progress(print)
    quick, slow = (Job(f.__name__, f, {}, 2.0) for f in (fake_jobs.count, fake_jobs.sleep))
    assert meter.expected(slow) == 2.0
    for number in range(100):
        meter.add(replace(slow, name=f"slow-{number}"), 20.0)  # ten times the guess
        assert 2.0 < meter.expected(quick) <= meter.expected(slow) < 20.0
    assert meter.expected(slow) == pytest.approx(20.0, rel=0.01)
    for number in range(100):
        meter.add(replace(quick, name=f"quick-{number}"), 2.0)
    assert meter.expected(quick) == pytest.approx(2.0, rel=0.1)
    assert meter.expected(slow) == pytest.approx(20.0, rel=0.1)
    before = meter.expected(slow)
    meter.add(slow, 0.0, counts=False)
    assert meter.expected(slow) == before, "what failed says nothing about others"


def test_the_time_left_counts_processes_and_what_is_under_way() -> None:
    times = [0.0]
    meter = Progress(print, lambda: times[-1])
    jobs = [Job(f"job-{i}", fake_jobs.count, {}, 20.0) for i in range(4)]
    with meter.watching(jobs, 2):
        assert meter.left() == pytest.approx(40.0)
        meter.show(jobs[:2])
        times.append(5.0)
        assert meter.left() == pytest.approx(35.0)
        assert meter.line(jobs[:2]) == "0/4 jobs, 35 s left; now job-0, job-1"
        for job in jobs[:3]:
            meter.add(job, 20.0)
        assert meter.left() == pytest.approx(20.0), "one job has one process"
        meter.add(jobs[3], 20.0)
        assert meter.left() == 0.0


def test_without_a_terminal_there_is_a_line_a_minute() -> None:
    times, lines = [0.0], []
    meter = Progress(lines.append, lambda: times[-1])
    job = Job("one", fake_jobs.count, {}, 200.0)
    with meter.watching([job], 1):
        for seconds in (0.0, 30.0, 61.0, 90.0, 122.0):
            times.append(seconds)
            meter.show([job])
    assert lines == ["0/1 jobs, 2 min left; now one", "0/1 jobs, 78 s left; now one"]


def test_times_are_written_as_people_say_them() -> None:
    times = [progress.time_text(seconds) for seconds in (0.44, 42, 600, 36000)]
    assert times == ["0.4 s", "42 s", "10 min", "10.0 h"]
