"""Broken files, one after the other: each is read, or refused in words, in bounded memory and time."""

import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import BinaryIO

import psutil
from fuzz.loaders import LOADERS, Loader
from fuzz.memory import Meter, counter
from fuzz.mutations import mutated

TIMES = 10  # the size of a file may be taken in memory, besides the constant of its loader
_ROOM = 1 << 30
_MEASURED = (
    4  # where malloc is not counted, the memory of every fourth file: it takes longer than the rest
)
LONGEST_SECONDS = 5.0
# What models may well say, broken or not.
_HARMLESS = ("(?s).*probabilities is left out", "(?s).*valid feature names")


@dataclass
class Tally:
    """What became of some files."""

    files: int = 0
    read: int = 0
    measured: int = 0  #: whose memory was
    refused: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    most_memory: int = 0
    longest: float = 0.0


def limited_memory() -> None:
    """Let this process have so much more memory than it has now: what asks for more gets a MemoryError."""
    try:
        import resource
    except ImportError:  # the system has no such limits
        return
    now = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (now + _ROOM, now + _ROOM))


def broken_file(loader: Loader, number: int) -> bytes:
    """Return the file of a number."""
    if loader.inside is not None and number % 2:
        return loader.inside(number)
    return mutated(loader.seeds(), loader.tokens, number)


def try_file(
    loader: Loader, content: bytes, path: Path, tally: Tally, meter: Meter | None
) -> str | None:
    """Read a file; return what should not have happened, if anything."""
    path.write_bytes(content)
    tally.files += 1
    if meter is not None:
        tally.measured += 1
        meter.begin()
    begin, peak = perf_counter(), 0
    try:
        loader.load(path)
        tally.read += 1
        said = None
    except (ValueError, OSError) as error:
        said = str(error)
        tally.refused[type(error).__name__] += 1
    except Exception as error:  # noqa: BLE001 - all others are findings
        return f"{type(error).__name__}: {error}"
    finally:
        seconds = perf_counter() - begin
        if meter is not None:
            peak = meter.end()
    tally.longest, tally.most_memory = max(tally.longest, seconds), max(tally.most_memory, peak)
    if said is not None and path.name not in said:
        return f"the refusal does not name the file: {said}"
    if peak > TIMES * len(content) + loader.constant:
        return f"{peak:,} bytes of memory for a file of {len(content):,}"
    if seconds > LONGEST_SECONDS:
        return f"it took {seconds:.1f} seconds"
    return None


def try_files(name: str, numbers: range, folder: Path, mark: BinaryIO | None = None) -> Tally:
    """Read the files of some numbers. That of the current one is left in a file, for those that end the process."""
    loader, tally = LOADERS[name], Tally()
    path = folder / f"fuzzed{loader.suffix}"
    for seed in loader.seeds():  # what is imported or compiled the first time does not count
        path.write_bytes(seed)
        loader.load(path)
    meter, every = Meter(), 1 if counter() else _MEASURED
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for harmless in _HARMLESS:
            warnings.filterwarnings("ignore", harmless)
        for number in numbers:
            if mark is not None:
                mark.seek(0)
                mark.write(b"%d" % number)
            content, measured = broken_file(loader, number), number % every == 0
            finding = try_file(loader, content, path, tally, meter if measured else None)
            if finding is not None:
                tally.findings.append(f"{name}, file {number}: {finding}")
    path.unlink(missing_ok=True)
    return tally
