"""Processes that are killed at any moment, also while they write: the next one goes on to the same model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from estimators.checkpoints import killed_runs
from estimators.checkpoints.scenarios import SCENARIOS, bits, short_calls

KILLS = 5  # of each
NAMES = ["two classes", "early stopping", "outputs one by one", "stream of pairs"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no SIGKILL here")
def test_killed_at_random_moments(tmp_path: Path) -> None:
    tests = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(tests), "OMP_NUM_THREADS": "1"}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}  # threads do not survive a fork
    words = [str(killed_runs.__file__), str(tmp_path), str(KILLS), "0", *NAMES]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert sum(result["killed"] for result in results.values()) == KILLS * len(NAMES) >= 20
    for name, result in results.items():
        scenario = SCENARIOS[name]
        with short_calls():
            expected = bits(scenario.train(scenario.model()))  # without a checkpoint
        assert set(result["bits"]) == {expected}, name
        assert len(result["bits"]) >= 2
    # Otherwise all were killed before the first checkpoint, and began anew.
    assert sum(result["left"] for result in results.values()) >= KILLS
    assert [one.name for one in tmp_path.iterdir()] == ["bits"]
