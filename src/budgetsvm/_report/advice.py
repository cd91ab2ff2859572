"""The section of advice: what would help, and what was looked at."""

from budgetsvm._diagnosis.finding import Diagnosis, Finding
from budgetsvm._report.html import Html, element, join, section, table
from budgetsvm._report.numbers import short

_SHOWN = 12  # numbers of rows


def advice_section(diagnosis: Diagnosis) -> Html:
    """Return what would help, first of all."""
    looked = [
        (one.about, short(one.number, 3), _sentence(one.sentence)) for one in diagnosis.findings
    ]
    looked += [(about, "–", _sentence(f"not looked at: {why}")) for about, why in diagnosis.skipped]
    everything = element(
        "details",
        element("summary", f"All that was looked at ({len(looked)} checks)"),
        table(("check", "number", "finding"), looked),
    )
    if not diagnosis.advice:
        best = element(
            "p",
            f"Nothing was found that would help, by {len(diagnosis.findings)} checks.",
            class_="fine",
        )
        return section("advice", "Advice", best, everything)
    return section(
        "advice",
        "Advice",
        element("ul", *map(_piece, diagnosis.advice), class_="advice"),
        everything,
    )


def _piece(one: Finding) -> Html:
    """Return one piece of advice."""
    rows = join()
    if one.rows:
        some = ", ".join(map(str, one.rows[:_SHOWN]))
        rows = element("p", f"Rows: {some}{', …' if len(one.rows) > _SHOWN else ''}", class_="note")
    remedy = element(
        "p", _sentence(one.remedy.replace("`rows`", "the rows below")), class_="remedy"
    )
    return element(
        "li", element("b", one.about), element("p", _sentence(one.sentence)), remedy, rows
    )


def _sentence(words: str) -> str:
    """Return words as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."
