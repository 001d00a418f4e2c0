"""The chart: images/s of every system for both kinds of work, as bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from figures import Figures, Row
from systems import SYSTEMS

matplotlib.use("svg")
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "apl",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": "#333",
    }
)
from matplotlib import pyplot  # noqa: E402  (after the choice of backend)

COLOURS = {"apl": "#e8875a", "limit": "#f3c9b1", "loader": "#8fb4d9", "hand": "#b9c7b0"}
TITLES = {"u8": "u8 images with labels", "f32": "f32, cropped, mirrored, normalised"}


def draw(figures: Figures, file: Path) -> None:
    """One panel for each kind of work; the whisker spans all epochs."""
    best = {
        work: [row for name in figures.systems() if (row := figures.fastest(work, system=name, threads=2))]
        for work in TITLES
    }
    height = 0.9 + 0.27 * max(1, *(len(rows) for rows in best.values()))
    figure, axes = pyplot.subplots(1, 2, figsize=(11, height), layout="constrained")
    for axis, (work, rows) in zip(axes, best.items(), strict=True):
        panel(axis, TITLES[work], sorted(rows, key=lambda row: row.rate))
    if figures.provisional():
        figure.supxlabel("provisional: the machine was not left alone", fontsize=9, color="#a33")
    figure.savefig(file, metadata={"Date": None}, facecolor="white")
    pyplot.close(figure)


def panel(axis: Any, title: str, rows: list[Row]) -> None:
    places = range(len(rows))
    axis.barh(
        places, [row.rate for row in rows], color=[COLOURS[row.about.kind] for row in rows], height=0.75
    )
    top = max((row.most for row in rows), default=1)
    for place, row in zip(places, rows, strict=True):
        axis.plot([row.least, row.most], [place, place], color="#777", linewidth=0.8)
        text = f"{row.rate / 1e6:.2f} M" if row.rate >= 1e6 else f"{row.rate / 1e3:.0f} k"
        axis.text(max(row.rate, row.most) + 0.01 * top, place, text, va="center")
    axis.set_yticks(list(places), [SYSTEMS[row.system].title for row in rows])
    axis.set_title(f"{title}: images/s", loc="left", fontsize=10)
    axis.set_xlim(0, 1.12 * top)
    axis.xaxis.set_visible(False)
    axis.tick_params(length=0)
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    axis.spines["left"].set_color("#999")
