"""Means, deviations, and whether figures differ from APL's: Welch's t-test, with Holm's correction."""

from __future__ import annotations

import statistics
import warnings
from dataclasses import dataclass
from typing import Any

from settings import LOADERS, METRICS, NETWORKS, OWN, Trial

LEVEL = 0.01  # of a false alarm anywhere in the table


@dataclass
class Comparison:
    """Of a loader's figures with APL's. `p` is corrected: of all comparisons of a run, or the test's own."""

    network: str
    loader: str
    metric: str
    ratio: float  # APL's mean over the loader's
    t: float
    df: float
    p: float

    @property
    def differs(self) -> bool:
        return self.p < LEVEL


def sample(trials: list[Trial], network: str, loader: str, metric: str) -> list[float]:
    return [METRICS[metric].of(t) for t in trials if (t["network"], t["name"]) == (network, loader)]


def mean_and_deviation(figures: list[float]) -> tuple[float, float]:
    return statistics.fmean(figures), statistics.stdev(figures) if len(figures) > 1 else 0.0


def compare(trials: list[Trial]) -> list[Comparison]:
    """All loaders with APL, by all metrics; none of fewer than two trials. ImportError without libraries."""
    from statsmodels.stats.multitest import multipletests

    found = [
        one
        for network in NETWORKS
        for loader in LOADERS
        for metric in METRICS
        if loader != OWN and (one := _compare_one(trials, network, loader, metric))
    ]
    if found:
        for one, p in zip(found, multipletests([one.p for one in found], method="holm")[1], strict=True):
            one.p = float(p)
    return found


def _compare_one(trials: list[Trial], network: str, loader: str, metric: str) -> Comparison | None:
    from scipy.stats import ttest_ind

    own, other = (sample(trials, network, name, metric) for name in (OWN, loader))
    if min(len(own), len(other)) < 2 or len({*own, *other}) == 1:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # figures such as counts may be all alike
        test: Any = ttest_ind(own, other, equal_var=False)
    ratio = statistics.fmean(own) / statistics.fmean(other) if any(other) else float("inf")
    return Comparison(
        network, loader, metric, ratio, float(test.statistic), float(test.df), float(test.pvalue)
    )
