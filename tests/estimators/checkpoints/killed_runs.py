"""A program that has fits killed: ``killed_runs.py FOLDER KILLS SEED SCENARIO...`` prints what they came to.

It imports all that is slow to import, and forks: every run is a process of its own, which is sent SIGKILL at a random
moment. Another one goes on, until a run is done.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from estimators.checkpoints.scenarios import SCENARIOS, bits, short_calls


def run(name: str, path: Path, out: Path) -> None:
    """Train, and write down what came of it."""
    scenario = SCENARIOS[name]
    with short_calls():
        model = scenario.train(scenario.model(), checkpoint=path, checkpoint_every=0)
    out.write_text(bits(model))


def in_child(name: str, path: Path, out: Path, seconds: float | None) -> bool:
    """Train in a process that is killed after some seconds; returns whether it was."""
    child = os.fork()
    if child == 0:
        try:
            run(name, path, out)
            os._exit(0)
        finally:
            os._exit(1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0, "a run has failed"
    return False


def chain(name: str, folder: Path, kills: int, chance: random.Random) -> dict[str, object]:
    """Have runs killed so many times in all; whenever one gets to its end, another one begins."""
    path, out = folder / "checkpoint", folder / "bits"
    begin = time.perf_counter()
    assert not in_child(name, path, out, None)
    duration, found, killed, left_something = time.perf_counter() - begin, [out.read_text()], 0, 0
    while killed < kills:
        if in_child(name, path, out, chance.uniform(0, 0.6 * duration)):
            killed += 1
            left_something += path.exists()
        else:
            found.append(out.read_text())
    assert not in_child(
        name, path, out, None
    )  # goes on from what the last kill has left, if anything
    found.append(out.read_text())
    return {"killed": killed, "left": left_something, "bits": found}


def main() -> None:
    """Do what is asked for."""
    folder, kills, seed, *names = sys.argv[1:]
    chance = random.Random(int(seed))
    results = {name: chain(name, Path(folder), int(kills), chance) for name in names}
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main()
