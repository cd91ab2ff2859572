"""What is wrong with a row of a LIBSVM file, in words.

The core says where it stopped; why is found out here, by reading that one line again.
"""

import math

LARGEST_INDEX = 2**31 - 1  # the core's
_MOST_DIGITS = 20  # of a number that Python is asked to read


def find_flaw(line: bytes, first: int, n_features: int) -> str | None:
    """Say what is wrong with a line, if anything."""
    words = line.partition(b"#")[0].decode("utf-8-sig", "backslashreplace").split()
    if not words:
        return None
    label, *entries = words
    if not _is_finite(label):
        return _label_flaw(label)
    if entries and entries[0].startswith("qid:"):
        del entries[0]
    previous = first - 1
    for entry in entries:
        index, _, value = entry.partition(":")
        flaw = _index_flaw(index, first, n_features) or _order_flaw(_integer(index), previous)
        if flaw is None and not _is_finite(value):
            flaw = "the value is not a finite number"
        if flaw is not None:
            return f"{_short(entry)} is not a valid index:value, {flaw}"
        previous = _integer(index)
    return None


def _label_flaw(label: str) -> str:
    if "," in label:
        return (
            f"{_short(label)} are several labels; rows must have one label each: make one file per "
            "label"
        )
    if ":" in label:
        return f"the row begins with {_short(label)}, not with a label"
    return f"the label {_short(label)} is not a finite number"


def _index_flaw(index: str, first: int, n_features: int) -> str | None:
    if not index.removeprefix("-").isdecimal():
        return "the index is not an integer"
    number = _integer(index)
    if number < first:
        hint = ": say zero_based=True if all files do so" if index == "0" else ""
        return f"the index is below {first}, where counting starts{hint}"
    if number > LARGEST_INDEX:
        return f"the index is above {LARGEST_INDEX}, the largest that can be read"
    if number >= n_features + first:
        return f"the index is above the largest that n_features={n_features} allows"
    return None


def _integer(text: str) -> int:
    """Return an integer, or another one that is too large as well: Python refuses to read thousands of digits."""
    digits = text.removeprefix("-").lstrip("0")[:_MOST_DIGITS]
    return int(f"{'-' * text.startswith('-')}{digits or '0'}")


def _order_flaw(index: int, previous: int) -> str | None:
    if index > previous:
        return None
    return f"indices must ascend, and the one before is {previous}"


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _short(text: str) -> str:
    """Quote a text that may be very long."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
