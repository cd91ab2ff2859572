"""What checks have found: numbers, in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from budgetsvm._common.public import public_in


@public_in("budgetsvm")
@dataclass(frozen=True)
class Finding:
    """What one check has found; returned by :func:`budgetsvm.diagnose`."""

    about: str  #: what was looked at: "budget", "gamma", "features", ...
    number: float  #: what was measured; `sentence` says of what
    sentence: str  #: the number in words
    remedy: str = ""  #: what would help; empty where nothing is wrong
    rows: tuple[int, ...] = ()  #: the rows that it is about, where it is about some


@public_in("budgetsvm")
@dataclass(frozen=True)
class Diagnosis:
    """All findings about a model; returned by :func:`budgetsvm.diagnose`. Print it to read it."""

    findings: tuple[Finding, ...]  #: those of all checks that could be made
    skipped: tuple[tuple[str, str], ...] = ()  #: what was not looked at, and why

    @property
    def advice(self) -> tuple[Finding, ...]:
        """The findings with a remedy."""
        return tuple(one for one in self.findings if one.remedy)

    @property
    def sound(self) -> tuple[Finding, ...]:
        """The findings that nothing is wrong."""
        return tuple(one for one in self.findings if not one.remedy)

    def __str__(self) -> str:
        parts = [f"{one.about}: {one.sentence}.\n  -> {one.remedy}." for one in self.advice]
        if not parts:
            parts = ["Nothing was found that would help."]
        parts += _listed("fine", [one.about for one in self.sound])
        parts += _listed("not looked at", [f"{about} ({why})" for about, why in self.skipped])
        return "\n".join(parts)


def _listed(title: str, names: Iterable[str]) -> list[str]:
    """Return a line that lists names, or none."""
    text = ", ".join(names)
    return [f"{title}: {text}"] if text else []


def short(number: float, digits: int = 4) -> str:
    """Return a number with some digits, and no more zeros than needed."""
    found = f"{number:.{digits}g}"
    if "e" in found and 1e-4 <= abs(number) < 1e7:
        found = f"{float(found):,.0f}"
    return found


def percent(share: float) -> str:
    """Return a share in words, with as many digits as mean something."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 10 or value == 0 else f"{value:.2g} %"
