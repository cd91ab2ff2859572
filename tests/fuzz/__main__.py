"""Read a million broken files: no crash, no hang, no more memory than ten times the file and a constant.

    python tests/fuzz 1000000                   # files in all; each loader in a process of its own
    python tests/fuzz 20000 --only CSV --seed 7
    python tests/fuzz --show CSV 4711 > file    # a broken file itself, to look at

The files of a run are numbered from a seed on, which is printed: the same number is the same file.
"""

import argparse
import faulthandler
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.loaders import LOADERS
from fuzz.memory import counted
from fuzz.run import broken_file, limited_memory, try_files

_HANGING = 300  # seconds for a batch
_BATCH = 1000
_OF_A_PROCESS = 100_000  # files: a little is left behind by each
_IN_MEMORY = Path("/dev/shm")  # a million files need not go to a disk
_SHOWN = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; the exit code is 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("files", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--only", choices=list(LOADERS), nargs="+", default=list(LOADERS))
    parser.add_argument("--seed", type=int, default=None, help="other files each time by default")
    parser.add_argument("--unlimited", action="store_true", help="where a sanitizer takes memory")
    parser.add_argument("--show", nargs=2, metavar=("LOADER", "NUMBER"))
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.show:
        sys.stdout.buffer.write(broken_file(LOADERS[options.show[0]], int(options.show[1])))
        return 0
    seed = time.time_ns() // 10**6 if options.seed is None else options.seed
    each = -(-options.files // len(options.only))
    if options.worker:
        if not options.unlimited:
            limited_memory()
        return _work(options.only[0], range(seed, seed + each), options.worker)
    print(f"{each:,} files for each loader, from --seed {seed} on")
    parts = [range(seed, seed + each)[i : i + _OF_A_PROCESS] for i in range(0, each, _OF_A_PROCESS)]
    more = ["--unlimited"] * options.unlimited
    with TemporaryDirectory() as built:  # not in memory: programs may be forbidden there
        # A sanitizer has a malloc of its own.
        environment = os.environ | ({} if options.unlimited else counted(Path(built)))
        return max(
            [_supervise(name, part, more, environment) for name in options.only for part in parts]
        )


def _supervise(name: str, part: range, more: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a loader in a process of its own, and say where that ended if it should not have."""
    with TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
        seed = str(part.start)
        command = [sys.executable, __file__, str(len(part)), "--only", name, "--seed", seed]
        done = subprocess.run([*command, *more, "--worker", folder], check=False, env=environment)
        mark = Path(folder, "number")
        if done.returncode not in (0, 1):
            number = mark.read_text(encoding="ascii") if mark.exists() else "unknown"
            print(f"FOUND: {name}, file {number}: the process ended with {done.returncode}")
    return int(done.returncode != 0)


def _work(name: str, numbers: range, folder: Path) -> int:
    files = read = measured = most = 0
    longest, begin = 0.0, time.perf_counter()
    refused, findings = 0, []
    mark = (folder / "number").open("wb", buffering=0)
    for start in range(numbers.start, numbers.stop, _BATCH):
        faulthandler.dump_traceback_later(_HANGING, exit=True)
        some = range(start, min(start + _BATCH, numbers.stop))
        tally = try_files(name, some, folder, mark)
        files, read, measured = files + tally.files, read + tally.read, measured + tally.measured
        refused += tally.refused.total()
        most, longest = max(most, tally.most_memory), max(longest, tally.longest)
        findings += tally.findings
        if len(findings) >= _SHOWN:
            break
    faulthandler.cancel_dump_traceback_later()
    mark.close()
    print(
        f"{name:14} {files:9,} files in {time.perf_counter() - begin:5.0f} s: {read:,} read, {refused:,} refused, "
        f"at most {most / 2**20:.1f} MiB (of {measured:,}) and {longest:.2f} s, {len(findings)} findings",
        flush=True,
    )
    for finding in findings[:_SHOWN]:
        print(f"FOUND: {finding}", flush=True)
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
