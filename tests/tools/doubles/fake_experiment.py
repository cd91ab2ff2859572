"""An experiment for tests of the report, with all that a real one may have."""

from typing import Any

import numpy as np
from experiments.report import style, ticks
from experiments.report.content import Claim, Data, Picture, Section, Table
from experiments.running.jobs import Job, Result, Results

DATA_SETS = ("SUSY", "COVTYPE", "COD-RNA", "IJCNN", "ADULT")
METHODS = ("bsgd", "bsca", "bsca-default", "two-phase")


def jobs(scope: Any) -> list[Job]:
    """Return a job per data set, one of them twice."""
    names = (*DATA_SETS, DATA_SETS[0])
    return [Job(f"fake/{name}", curve, {"name": name, "seeds": 3}, 0.01) for name in names]


def curve(name: str, seeds: int) -> Result:
    """Make up curves that approach an accuracy."""
    rng = np.random.default_rng(len(name))
    x = np.geomspace(0.01, 10, 400)
    runs = {
        method: [
            (70 + 20 * (1 - np.exp(-x / (1 + place))) + rng.normal(0, 1 / (1 + x))).tolist()
            for _ in range(seeds)
        ]
        for place, method in enumerate(METHODS)
    }
    return {"x": x.tolist(), "runs": runs}


def section(scope: Any, results: Results) -> Section:
    """Return a section with a figure of five panels, a wide table, and claims."""
    found = {name: results[f"fake/{name}"] for name in DATA_SETS}
    paragraphs = [
        "What *we* measured with `BudgetSVC`, as in the [paper](https://arxiv.org/abs/1806.10182): a gap < 0.01 & more.",
        "- one seed is **not** enough\n- `<script>alert(1)</script>` is only text",
    ]
    return Section("Accuracy & time", paragraphs, (_picture(found), _table(found)), _claims())


def _picture(found: dict[str, Result]) -> Picture:
    rows = [
        (name, method, seed, x, y)
        for name, result in found.items()
        for method, runs in result["runs"].items()
        for seed, run in enumerate(runs)
        for x, y in zip(result["x"], run, strict=True)
    ]
    data = Data(("data", "method", "seed", "epochs", "accuracy"), rows)
    caption = "Median and range of three seeds; the exact SVM is *dotted*."
    title = "Test accuracy against epochs, B = 500"
    return Picture("fake-accuracy", title, caption, lambda: _draw(found), data)


def _draw(found: dict[str, Result]) -> Any:
    figure, panels = style.new_figure(len(found))
    for axes, (name, result) in zip(panels, found.items(), strict=True):
        for method, runs in result["runs"].items():
            style.draw_band(axes, result["x"], runs, **style.look(method))
        axes.axhline(90, **style.look("exact", marker=None))
        axes.set(title=name, xlabel="epochs", ylabel="test accuracy")
        ticks.log(axes, "x")
        ticks.percent(axes, "y")
    style.add_legend(figure)
    return figure


def _table(found: dict[str, Result]) -> Table:
    columns = ["data", *(f"{method}, {what}" for method in METHODS for what in ("%", "s"))]
    last = {name: [r["runs"][m][0][-1] for m in METHODS] for name, r in found.items()}
    shown = [
        [name, *(cell for value in values for cell in (f"{value:.2f} ± 0.31", value / 37))]
        for name, values in last.items()
    ]
    rows = [
        (name, method, value)
        for name, values in last.items()
        for method, value in zip(METHODS, values, strict=True)
    ]
    return Table(
        "fake-table",
        "Accuracy at the end",
        "Mean and standard deviation over seeds. COVTYPE | a pipe.",
        Data(columns, shown),
        Data(("data", "method", "accuracy"), rows),
    )


def _claims() -> list[Claim]:
    return [
        Claim(
            "BSCA is systematically better than BSGD: a faster and more stable learning behaviour with a guarantee.",
            "section 4, Learning Performance",
            "better in 13 of 15 cases; the medians differ by 0.1 to 4.2 points",
            "held in part",
        ),
        Claim("The rate is linear.", "lemma 1", "ratio 0.97 per epoch", "held"),
        Claim("B = 500 is enough.", "section 4", "SUSY needs 1000", "did not hold"),
        Claim("It takes less memory.", "section 1", "not measured", "not tested"),
    ]
