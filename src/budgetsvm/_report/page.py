"""The page: its head, all sections, and nothing that would be looked up elsewhere."""

import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from importlib.resources import files
from time import perf_counter

from budgetsvm._diagnosis.diagnose import diagnosis_of
from budgetsvm._diagnosis.subject import Subject
from budgetsvm._report.advice import advice_section
from budgetsvm._report.data import data_section
from budgetsvm._report.html import Html, element, join
from budgetsvm._report.numbers import kernel_words, seconds, short, whole
from budgetsvm._report.picture import Pictures
from budgetsvm._report.quality import figures, quality_section
from budgetsvm._report.search import search_section
from budgetsvm._report.terms import terms_section
from budgetsvm._report.training import parameters_section, phases_section, timing_section

# Nothing is loaded and nothing runs, whatever labels and names of columns may hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(subject: Subject) -> str:
    """Return the whole page about a model."""
    pictures = Pictures()
    started = perf_counter()
    rows, took = len(subject.predicted), perf_counter() - started
    diagnosis = diagnosis_of(subject)
    measured = [
        (
            f"prediction of {whole(rows)} rows",
            f"{seconds(took)}, {whole(rows / max(took, 1e-9))} rows a second",
        ),
        ("advice", seconds(perf_counter() - started - took)),
    ]
    sections = {
        "Advice": advice_section(diagnosis),
        "Data": data_section(subject),
        "Quality": quality_section(subject, pictures),
        "Search": search_section(subject, pictures),
        "Terms": terms_section(subject),
        "Phases": phases_section(subject, pictures),
        "Parameters": parameters_section(subject),
        "Timing": timing_section(subject, measured),
    }
    shown = {name: one for name, one in sections.items() if one}
    title = f"{type(subject.machine).__name__} on {whole(rows)} rows"
    body = join(_header(subject, title, list(shown)), element("main", *shown.values()), _footer())
    return _document(title, body)


def _document(title: str, body: Html) -> str:
    style = Html(files("budgetsvm._report").joinpath("page.css").read_text("utf-8"))
    head = join(
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", title),
        element("style", style),
    )
    inside = join(element("head", head), element("body", body))
    return f"<!DOCTYPE html>\n{element('html', inside, lang='en')}\n"


def _header(subject: Subject, title: str, names: Sequence[str]) -> Html:
    """Return the title, links to all sections, and the most important numbers."""
    machine = subject.machine
    links = [element("a", name, href=f"#{name.lower()}") for name in names]
    tiles = [*figures(subject), (whole(len(subject.model)), "terms")]
    if hasattr(machine, "duality_gap_"):
        tiles.append((short(machine.duality_gap_, 2), f"duality gap, of the {machine.certifies_}"))
    return element(
        "header",
        element("h1", title),
        element("p", kernel_words(machine.kernel_), class_="subtitle"),
        element("nav", *links),
        element(
            "div",
            *(element("div", element("b", n), element("span", w), class_="tile") for n, w in tiles),
            class_="tiles",
        ),
    )


def _footer() -> Html:
    versions = f"budgetsvm {version('budgetsvm')}, scikit-learn {version('scikit-learn')}, NumPy {version('numpy')}"
    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    return element(
        "footer", element("p", f"Made by {versions}, Python {platform.python_version()}, {when}.")
    )
