"""The sections of how the model was made: parameters, both phases, and the time that it took."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from budgetsvm._diagnosis.subject import Subject
from budgetsvm._report.html import Html, element, facts, join, note, section, table
from budgetsvm._report.numbers import kernel_words, seconds, short, whole
from budgetsvm._report.picture import Pictures
from budgetsvm.monitoring import Trace, plot_trace

_EPOCHS = 12  # shown
_LONGEST = 200  # letters of a value


def parameters_section(subject: Subject) -> Html:
    """Return the parameters: those that were chosen, and all."""
    machine = subject.machine
    given = machine.get_params(deep=False)
    usual = type(machine)().get_params(deep=False)
    chosen = [(name, _value(one)) for name, one in given.items() if repr(one) != repr(usual[name])]
    found = facts(chosen) if chosen else note("All parameters have their defaults.")
    became: list[tuple[str, object]] = [("kernel", kernel_words(machine.kernel_))]
    if hasattr(machine, "C_"):
        became.append(("C", short(float(machine.C_))))
    became.append(("budget", "none" if machine.budget_ is None else whole(machine.budget_)))
    others = [(name, _value(one)) for name, one in given.items()]
    inside = element(
        "div",
        element("div", element("h3", "Other than the defaults"), found),
        element("div", element("h3", "What they became"), facts(became)),
        class_="columns",
    )
    return section(
        "parameters",
        "Parameters",
        inside,
        element("details", element("summary", "All parameters"), facts(others)),
    )


def _value(value: Any) -> str:
    """Return the value of a parameter, of an array its shape."""
    shape = np.shape(value) if not isinstance(value, str) and hasattr(value, "shape") else ()
    words = f"{' × '.join(map(str, shape))} values" if shape else repr(value)
    return words if len(words) <= _LONGEST else words[:_LONGEST] + "…"


def phases_section(subject: Subject, pictures: Pictures) -> Html:
    """Return what both phases did."""
    trace = getattr(subject.machine, "monitor_", None)
    picture = join()
    if isinstance(trace, Trace) and len(trace) > 0:
        picture = pictures.svg(plot_trace(trace), "The fit as its trace has seen it.")
    inside = (
        element("h3", "Phase 1, the terms"),
        _first(subject),
        element("h3", "Phase 2, the polish"),
        _second(subject),
    )
    return section("phases", "Both phases", *inside, picture)


def _first(subject: Subject) -> Html:
    history = subject.machine.history_
    if not history:
        full = getattr(subject.machine, "certifies_", "") == "full problem"
        why = (
            "the full problem was solved at once"
            if full
            else "the terms were given, or are not from a fit of this package"
        )
        return note(f"There was none: {why}.")
    head = (
        "epoch",
        "visits",
        "steps",
        "with a loss",
        "merges",
        "degradation",
        "mean loss",
        "terms",
        "time",
    )
    lines = [
        (
            str(k + 1),
            *(whole(one[name]) for name in ("visits", "steps", "violations", "merges")),
            short(one["degradation"], 3),
            short(one["loss"], 3),
            whole(one["size"]),
            seconds(one["seconds"]),
        )
        for k, one in enumerate(history)
    ]
    left = len(lines) - _EPOCHS
    more = note(f"The last {_EPOCHS} epochs, of {len(lines)}.") if left > 0 else join()
    return join(table(head, lines[-_EPOCHS:]), more)


def _second(subject: Subject) -> Html:
    machine = subject.machine
    if not hasattr(machine, "duality_gap_"):
        return note("There was none: nothing is known about how good the model is for its terms.")
    primal, dual = machine.objective_
    single = subject.model.points.dtype == np.float32
    return facts(
        [
            ("objective P", short(primal, 6)),
            ("bound D", short(dual, 6)),
            (
                "relative gap",
                f"{short(machine.duality_gap_, 3)}, where {machine.tol:g} was asked for",
            ),
            ("converged", "yes" if machine.converged_ else "no"),
            ("certificate of", f"the {machine.certifies_}"),
            ("terms", f"{whole(len(subject.model))} of at most {_most(machine.budget_)}"),
            ("precision", "single" if single else "double"),
        ]
    )


def _most(budget: int | None) -> str:
    return "any number" if budget is None else whole(budget)


def timing_section(subject: Subject, measured: Sequence[tuple[str, object]]) -> Html:
    """Return what took how long."""
    machine, found = subject.machine, list[tuple[str, object]]()
    if machine.history_:
        found.append(("phase 1", seconds(sum(one["seconds"] for one in machine.history_))))
    trace = getattr(machine, "monitor_", None)
    if isinstance(trace, Trace) and len(trace) > 0:
        found.append(("both phases", seconds(float(trace["seconds"][-1]))))
    if subject.search is not None:
        found += _search_times(subject.search)
    words = "Training times are those that were noted down when it was trained; predictions were timed for this report."
    return section("timing", "Timing", facts([*found, *measured]), note(words))


def _search_times(search: Any) -> list[tuple[str, object]]:
    """Return the time of all fits of a search together, in all threads, and of the last one."""
    results = search.cv_results_
    each = np.asarray(results["mean_fit_time"]) + np.asarray(results["mean_score_time"])
    splits = results.get("n_splits", getattr(search, "n_splits_", 1))
    found: list[tuple[str, object]] = [
        ("search, all fits", seconds(float(np.nansum(each * splits))))
    ]
    if hasattr(search, "refit_time_"):
        found.append(("last fit, to all rows", seconds(search.refit_time_)))
    return found
