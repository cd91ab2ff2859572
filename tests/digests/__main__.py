"""Prove that a change to the code leaves every bit of every model as it was.

    python tests/digests record before.json     # before the change
    python tests/digests compare before.json    # after it; the exit code is 1 if anything differs

A case is a fit, or a sequence of calls, through the public interface alone; its digest covers all public
fitted attributes but times, the answers for rows held out, and the warnings. A case that raises an exception
has its type and message in the place of a digest. Both runs must be on the same machine, with the same
libraries: other instructions or another BLAS round differently.
"""

import argparse
import io
import json
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from fnmatch import fnmatch
from importlib.metadata import entry_points
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

from digest_cases import Case, Cases, fit_cases, gathered
from digest_errors import error_cases
from digest_others import other_cases
from digest_sequences import sequence_cases
from digest_values import digest, digest_of_parts

import budgetsvm

#: What is recorded of a case: the digest, and the beginnings of those of its parts.
Entry = dict[str, Any]

_SHORT = 16  # digits of a part's digest: enough to see which ones differ


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Prove that no bit of any fitted model changes.")
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", type=Path, help="where digests are written to, or read from")
    parser.add_argument("--only", default="*", metavar="PATTERN", help='cases, e.g. "loss/svc*"')
    given = parser.parse_args(arguments)
    cases = {name: case for name, case in all_cases().items() if fnmatch(name, given.only)}
    before = json.loads(given.file.read_text()) if given.action == "compare" else {}
    print(f"{len(cases)} cases with {Path(budgetsvm.__file__).parent}")
    found = {"facts": facts(), "cases": run_all(cases)}
    if given.action == "record":
        given.file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return 0
    before["cases"] = {
        name: entry for name, entry in before["cases"].items() if fnmatch(name, given.only)
    }
    return report(before, found)


def all_cases() -> Cases:
    """Return all cases by name."""
    return gathered(fit_cases, sequence_cases, other_cases, error_cases)


def run_all(cases: Cases) -> dict[str, Entry]:
    """Run cases, and say how it goes."""
    found: dict[str, Entry] = {}
    for group, names in groupby(cases, key=lambda name: name.split("/")[0]):
        started, count = perf_counter(), len(found)
        found |= {name: run(cases[name]) for name in names}
        seconds = perf_counter() - started
        print(f"  {group:<14} {len(found) - count:4d} cases {seconds:6.1f} s", flush=True)
    for name, entry in found.items():
        if "parts" not in entry and not name.startswith("error/"):
            print(f"  {name} {entry['digest']}")
    return found


def run(case: Case) -> Entry:
    """Run a case; what it warns about is a part of the result."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            parts = case()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is to stay the same
            return {"digest": f"raised {type(error).__name__}: {error}"}
    said = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    parts = {**parts, "warnings": digest(said)}
    short = {name: value[:_SHORT] for name, value in parts.items()}
    return {"digest": digest_of_parts(parts), "parts": short}


def facts() -> dict[str, str]:
    """Return versions, instruction set and BLAS, as ``budgetsvm info`` prints them."""
    command, *_ = entry_points(group="console_scripts", name="budgetsvm")
    with redirect_stdout(io.StringIO()) as printed:
        command.load()(["info"])
    lines = (line.split(maxsplit=1) for line in printed.getvalue().splitlines())
    return dict(lines)


def report(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Say what differs; returns the exit code."""
    for name in sorted(before["facts"].keys() | after["facts"].keys()):
        was, now = before["facts"].get(name), after["facts"].get(name)
        if was != now:
            print(f"warning: {name} was {was}, and is {now}: digests may differ for it")
    old, new = before["cases"], after["cases"]
    lines = [f"MISSING    {name}" for name in sorted(old.keys() - new.keys())]
    lines += [f"NEW        {name}" for name in sorted(new.keys() - old.keys())]
    lines += [
        f"DIFFERENT  {name}: {_difference(old[name], new[name])}"
        for name in sorted(old.keys() & new.keys())
        if old[name]["digest"] != new[name]["digest"]
    ]
    print(*lines, sep="\n", end="\n" if lines else "")
    same = sum(old[name]["digest"] == new[name]["digest"] for name in old.keys() & new.keys())
    print(f"{same} cases are the same, {len(lines)} are not")
    return 1 if lines or not same else 0


def _difference(old: Entry, new: Entry) -> str:
    """Say in which parts two results differ, or which exceptions there were."""
    if "parts" in old and "parts" in new:
        was, now = old["parts"], new["parts"]
        return ", ".join(name for name in sorted(was | now) if was.get(name) != now.get(name))
    return " -> ".join("a result" if "parts" in one else one["digest"] for one in (old, new))


if __name__ == "__main__":
    sys.exit(main())
