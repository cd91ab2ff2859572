"""One picture of a run: accuracy against seconds, ratios with their targets, growth."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.models.rivals import OURS, PEERS
from benchmarks.report.record import Record, Row
from benchmarks.suite import epoch, growth, peers, prediction, threads

NAME = "results.png"
_MARKERS = "oos^vDPXd*"
_OUR_COLOUR, _MET, _MISSED, _PLAIN = "crimson", "seagreen", "indianred", "steelblue"
_PART_COLOURS = dict(zip(growth.PARTS, ("black", "tab:blue", "tab:orange"), strict=True))


def save(record: Record, folder: Path) -> None:
    """Draw what the record has. If that is nothing, no picture of an earlier run stays, either."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    tables = {table.title: table.rows for table in record.tables if table.rows}
    rows = [row for row in (_peers(tables), _bars(tables), _growth(tables)) if row]
    (folder / NAME).unlink(missing_ok=True)
    if not rows:
        return
    figure = Figure(figsize=(17, 4.6 * len(rows)), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    for part, row in zip(figure.subfigures(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        for axes, draw in zip(part.subplots(1, len(row), squeeze=False)[0], row, strict=True):
            draw(axes)
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        if row[0].func is _draw_peers:
            handles = part.axes[0].get_legend_handles_labels()
            part.legend(*handles, loc="outside right center", fontsize=9, frameon=False)
    figure.savefig(folder / NAME)


def _peers(tables: Mapping[str, Sequence[Row]]) -> list[partial[None]]:
    """Return a panel per data set."""
    rows = tables.get(peers.TITLE, [])
    names = dict.fromkeys(row["data"] for row in rows)
    return [partial(_draw_peers, name, [r for r in rows if r["data"] == name]) for name in names]


def _draw_peers(name: str, rows: Sequence[Row], axes: Any) -> None:
    measured = {row["peer"]: row for row in rows if not row["comment"]}
    for index, (peer, marker) in enumerate(zip(PEERS, _MARKERS, strict=True)):
        ours = peer.startswith(OURS.split(",", maxsplit=1)[0])
        axes.plot(
            *(
                [[row["seconds"]], [100 * row["score"]]]
                if (row := measured.get(peer))
                else [[], []]
            ),
            marker,
            color=_OUR_COLOUR if ours else f"C{index}",
            markerfacecolor="none" if peer != OURS and ours else None,
            markersize=9,
            label=peer,
        )
    axes.set(xscale="log", title=name, xlabel="seconds per fit", ylabel="test accuracy, %")
    axes.margins(0.15)


def _bars(tables: Mapping[str, Sequence[Row]]) -> list[partial[None]]:
    """Return the ratios that have a target: small is good in the first two, large in the last."""
    panels = []
    rows: Sequence[Row]
    if rows := [row for row in tables.get(epoch.TITLE, []) if row.get("target")]:
        labels = [f"{row['data']}, {row['solver']}" for row in rows]
        title = "An epoch (B=500) over NumPy's kernel block"
        panels.append(partial(_draw_bars, title, labels, rows, "ratio"))
    if rows := tables.get(prediction.TITLE, []):
        labels = [f"{row['data']}, threads: {row['threads']}" for row in rows]
        panels.append(partial(_draw_bars, "Prediction over NumPy's", labels, rows, "ratio"))
    if rows := tables.get(threads.TITLE, []):
        labels = [f"{row['data']}, {row['part']}" for row in rows]
        panels.append(partial(_draw_bars, "Two threads, times faster", labels, rows, "speedup"))
    return panels


def _draw_bars(title: str, labels: Sequence[str], rows: Sequence[Row], key: str, axes: Any) -> None:
    colours = {"ok": _MET, "MISSED": _MISSED}
    values = [row[key] for row in rows]
    bars = axes.barh(
        labels, values, color=[colours.get(r.get("verdict", ""), _PLAIN) for r in rows]
    )
    background = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8}
    axes.bar_label(bars, fmt="%.2f", padding=6, fontsize=9, bbox=background, zorder=3)
    for place, row in enumerate(rows):
        if target := row.get("target"):
            axes.plot([target, target], [place - 0.45, place + 0.45], color="black", lw=2)
    axes.invert_yaxis()
    axes.set(title=title, xlabel="black: the target")
    axes.set_xlim(0, 1.15 * max(*values, *(row.get("target") or 0 for row in rows)))


def _growth(tables: Mapping[str, Sequence[Row]]) -> list[partial[None]]:
    """Return a panel per series."""
    rows = tables.get(growth.TITLE, [])
    powers: dict[str, Row] = {}
    for row in tables.get(growth.EXPONENTS_TITLE, []):
        powers.setdefault(row["series"], row)  # the first is that of all sizes
    names = dict.fromkeys(row["series"] for row in rows)
    return [
        partial(_draw_growth, name, [r for r in rows if r["series"] == name], powers.get(name, {}))
        for name in names
    ]


def _draw_growth(name: str, rows: Sequence[Row], powers: Row, axes: Any) -> None:
    sizes = [row[name] for row in rows]
    for part, title in growth.PARTS.items():
        power = powers.get(f"{part}_exponent")
        label = title if power is None else f"{title}: power {power:.2f}"
        axes.plot(sizes, [r[part] for r in rows], "o-", color=_PART_COLOURS[part], label=label)
    others = ", ".join(
        f"{other} = {rows[0][other]:,}" for other in ("n", "B", "d") if other != name
    )
    axes.set(xscale="log", yscale="log", title=f"Growth with {name} ({others})")
    axes.set(xlabel=name, ylabel="seconds")
    axes.legend(frameon=False, fontsize=9)
