"""A picture of a trace."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_choice
from budgetsvm._common.extras import extra
from budgetsvm._common.public import public_in
from budgetsvm.monitoring._trace import Trace

# Colours that look different to everybody.
_BLUE, _ORANGE, _GREEN, _GREY = "#0072b2", "#d55e00", "#009e73", "0.6"


@public_in("budgetsvm.monitoring")
def plot_trace(source: Any, *, over: Literal["seconds", "epochs"] = "seconds") -> Any:
    """Draw a trace: objectives, score, shares of visits, and size with degradation.

    Parameters
    ----------
    source : estimator or Trace
        An estimator that was fitted with ``monitor=Trace(...)``, or its ``monitor_``.
    over : {"seconds", "epochs"}, default="seconds"
        The horizontal axis. A polish takes no epochs.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Save it by ``figure.savefig("trace.png")``; a notebook shows it.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> from budgetsvm.monitoring import Trace, plot_trace
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> model = BudgetSVC(gamma=2, budget=20, monitor=Trace(every=100)).fit(X, y)
    >>> len(plot_trace(model).axes)
    3
    """
    check_choice("over", over, ("seconds", "epochs"))
    trace = _trace_of(source)
    with extra("plot", "plot_trace needs matplotlib"):
        from matplotlib.figure import Figure  # not pyplot: no display, and no state left behind
    panels = [panel for panel, known in _PANELS if known(trace)]
    figure: Any = Figure(figsize=(5.2 * min(2, len(panels)), 3.6 * -(-len(panels) // 2)))
    figure.set_layout_engine("constrained")
    shape = (-(-len(panels) // 2), min(2, len(panels)))
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(*shape, place)
        panel(axes, trace, trace[over])
        _mark_polish(axes, trace, trace[over])
        axes.set_xlabel("training time in s" if over == "seconds" else "epochs")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize="small")
    return figure


def _trace_of(source: Any) -> Trace:
    trace = source if isinstance(source, Trace) else getattr(source, "monitor_", None)
    if not isinstance(trace, Trace) or len(trace) == 0:
        message = (
            "there is no trace to draw: fit the estimator with monitor=Trace(), of "
            f"budgetsvm.monitoring, and pass it or its monitor_; this is {source!r}"
        )
        raise ValueError(message)
    return trace


def _draw_objectives(axes: Any, trace: Trace, x: NDArray[Any]) -> None:
    if not np.isnan(trace["bound"]).all():
        axes.plot(x, trace["bound"], ".--", color=_GREEN, label="bound of the polish")
    for name, label, colour in (("primal", "primal P", _ORANGE), ("dual", "dual D", _BLUE)):
        values, error = trace[name], 2 * trace[f"{name}_error"]
        if name == "dual":  # that of the polish is the bound
            values = np.where(trace["phase"] == "learn", values, np.nan)
        if np.isnan(values).all():
            continue
        axes.plot(x, values, ".-", color=colour, label=label)
        if np.nanmax(error) > 0:
            band = (values - error, values + error)
            axes.fill_between(x, *band, color=colour, alpha=0.2, label="± 2 standard errors")
    known = np.concatenate([line.get_ydata() for line in axes.lines])
    if np.nanmin(known) > 0:
        axes.set_yscale("log")
    else:  # a model without a box, or far from its α, may have a dual below zero
        axes.set_yscale("symlog", linthresh=max(1e-9, 0.01 * float(np.nanmax(known))))
    axes.set_ylabel("objective")


def _draw_score(axes: Any, trace: Trace, x: NDArray[Any]) -> None:
    axes.plot(x, trace["score"], ".-", color=_GREEN, label=f"last: {trace['score'][-1]:.4f}")
    axes.set_ylabel("test score")


def _draw_shares(axes: Any, trace: Trace, x: NDArray[Any]) -> None:
    learning = trace["phase"] == "learn"
    for name, label, colour in (
        ("violating", "with a loss", _ORANGE),
        ("merging", "with maintenance", _BLUE),
    ):
        axes.plot(x[learning], 100 * trace[name][learning], ".-", color=colour, label=label)
    axes.set(ylabel="share of visits in %", ylim=(0, None))


def _draw_size(axes: Any, trace: Trace, x: NDArray[Any]) -> None:
    axes.plot(x, trace["size"], ".-", color=_BLUE, label="terms")
    axes.set(ylabel="terms", ylim=(0, None))


def _mark_polish(axes: Any, trace: Trace, x: NDArray[Any]) -> None:
    """Shade the time of phase 2."""
    polishing = np.flatnonzero(trace["phase"] == "polish")
    learning = np.flatnonzero(trace["phase"] == "learn")
    if not len(polishing) or x[polishing[-1]] == x[polishing[0] - 1]:
        return
    begin = x[learning[-1]] if len(learning) else 0.0
    axes.axvspan(begin, x[polishing[-1]], color=_GREY, alpha=0.2, lw=0, label="polish")


_PANELS = (
    (_draw_objectives, lambda t: not np.isnan([t["primal"], t["dual"]]).all()),
    (_draw_score, lambda t: not np.isnan(t["score"]).all()),
    (_draw_shares, lambda t: (t["phase"] == "learn").any()),
    (_draw_size, lambda t: t["size"].any()),
)
