"""The paper's plots, one a metric: means and standard deviations of the loaders, for both networks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import paper_statistics as stats
from settings import BASELINES, LOADERS, METRICS, NETWORKS, Metric

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "peers"))
from chart import COLOURS, pyplot  # Matplotlib, in the style of the other charts


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """paper-METRIC.svg for each of them."""
    files = []
    for name, metric in METRICS.items():
        figure, axes = pyplot.subplots(1, len(NETWORKS), figsize=(10, 3.2), layout="constrained")
        for axis, network in zip(axes, NETWORKS, strict=True):
            panel(axis, results, network, name)
        figure.suptitle(title(metric), x=0.01, ha="left", fontsize=10)
        files.append(folder / f"paper-{name}.svg")
        figure.savefig(files[-1], metadata={"Date": None}, facecolor="white")
        pyplot.close(figure)
    return files


def title(metric: Metric) -> str:
    return f"{metric.title} ({'more' if metric.more_is_better else 'less'} is better)"


def panel(axis: Any, results: dict[str, Any], network: str, metric: str) -> None:
    names = list(reversed(LOADERS))
    figures = [
        stats.mean_and_deviation(stats.sample(results["found"], network, name, metric)) for name in names
    ]
    means, deviations = zip(*figures, strict=True)
    colours = [COLOURS["loader" if name in BASELINES else "apl"] for name in names]
    axis.barh(range(len(names)), means, xerr=deviations, color=colours, height=0.7, ecolor="#777")
    top = max(1e-9, *(mean + deviation for mean, deviation in figures))
    for place, (mean, deviation) in enumerate(figures):
        axis.text(
            mean + deviation + 0.02 * top, place, METRICS[metric].form.format(mean), va="center", fontsize=8
        )
    axis.set_yticks(range(len(names)), [LOADERS[name].title for name in names])
    axis.set_title(NETWORKS[network].title, loc="left", fontsize=9)
    axis.set_xlim(0, 1.18 * top)
    axis.xaxis.set_visible(False)
    axis.tick_params(length=0)
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    axis.spines["left"].set_color("#999")
