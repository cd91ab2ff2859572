"""Broken files: what is left of good ones after some accidents, each made from a number alone."""

import random
import re
from collections.abc import Sequence
from itertools import islice

_LONGEST = 1 << 18
_DIGITS = re.compile(rb"[0-9]+")
_HUGE = (
    b"0",
    b"-1",
    b"9" * 9,
    b"2147483647",
    b"2147483648",
    b"4294967296",
    b"9223372036854775807",
    b"18446744073709551616",
    b"9" * 40,
    b"1e308",
    b"1e999",
    b"1e-999",
    b"nan",
    b"-inf",
    b"0x10",
    b"1_000",
)
_TOKENS = (
    *_HUGE,
    *(bytes([c]) for c in b"\x00\t\n\r #\"',:;.+-eE{}[]()\xff"),
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\xc3\xa9",
    b"qid:1",
)
_NUMBERS = (0, 1, -1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 10_000_000)


def mutated(seeds: Sequence[bytes], tokens: Sequence[bytes], number: int) -> bytes:
    """Return the broken file of a number: the same one each time."""
    rng = random.Random(number)
    found = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        rng.choice(_ACCIDENTS)(found, rng, seeds, tokens)
        del found[_LONGEST:]
    return bytes(found)


def _span(found: bytearray, rng: random.Random) -> tuple[int, int]:
    """Return two places, most often close to each other."""
    a = rng.randint(0, len(found))
    return a, min(len(found), a + int(rng.paretovariate(0.5)))


def _flip(found: bytearray, rng: random.Random, *_: object) -> None:
    if found:
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)


def _set(found: bytearray, rng: random.Random, *_: object) -> None:
    if found:
        found[rng.randrange(len(found))] = rng.randrange(256)


def _number(found: bytearray, rng: random.Random, *_: object) -> None:
    """Put a number as processors have them somewhere."""
    width = rng.choice((1, 2, 4, 8))
    value = rng.choice(_NUMBERS) % (1 << 8 * width)
    at = rng.randint(0, len(found))
    found[at : at + width] = value.to_bytes(width, rng.choice(("little", "big")))


def _cut(found: bytearray, rng: random.Random, *_: object) -> None:
    del found[rng.randint(0, len(found)) :]


def _delete(found: bytearray, rng: random.Random, *_: object) -> None:
    a, b = _span(found, rng)
    del found[a:b]


def _repeat(found: bytearray, rng: random.Random, *_: object) -> None:
    a, b = _span(found, rng)
    times = min(rng.choice((1, 2, 10, 1000)), _LONGEST // max(1, b - a))
    found[b:b] = found[a:b] * times


def _move(found: bytearray, rng: random.Random, *_: object) -> None:
    a, b = _span(found, rng)
    part = found[a:b]
    del found[a:b]
    at = rng.randint(0, len(found))
    found[at:at] = part


def _splice(
    found: bytearray, rng: random.Random, seeds: Sequence[bytes], tokens: Sequence[bytes]
) -> None:
    """Go on as another file does."""
    del tokens
    other = rng.choice(seeds)
    at = rng.randint(0, len(other))
    a, b = _span(found, rng)
    if rng.random() < 0.5:
        found[a:] = other[at:]
    else:
        found[a:b] = other[at : at + int(rng.paretovariate(0.5))]


def _digits(found: bytearray, rng: random.Random, *_: object) -> None:
    """Put a huge number, or none, in the place of another one."""
    places = list(islice(_DIGITS.finditer(found, rng.randint(0, len(found))), 20))
    if places:
        place = rng.choice(places)
        found[place.start() : place.end()] = rng.choice(_HUGE)


def _token(
    found: bytearray, rng: random.Random, seeds: Sequence[bytes], tokens: Sequence[bytes]
) -> None:
    del seeds
    a, b = _span(found, rng)
    found[a : rng.choice((a, b))] = rng.choice((*_TOKENS, *tokens))


_ACCIDENTS = (_flip, _set, _number, _cut, _delete, _repeat, _move, _splice, _digits, _token)
