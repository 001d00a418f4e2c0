"""The results as Markdown."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paper_statistics as stats
from settings import BASELINES, CORES, LOADERS, METRICS, NETWORKS, OVERLAP_BLOCKS, OVERLAPS, OWN

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "peers"))
from report import publish, table

__all__ = ["publish", "text"]

SAME = "`=`"
# What the paper reports of its own method: another network, on a GPU.
PAPER = "the paper's APL, on an MX230|about 140|about 3,250||||9,000 to 9,500|about 14|about 87|".split("|")


def comparisons(results: dict[str, Any]) -> list[stats.Comparison]:
    """None without the libraries for it."""
    try:
        return stats.compare(results["found"])
    except ImportError as error:
        print(f"no tests of significance: {error}", file=sys.stderr)
        return []


# --------------------------------------------------------------------------------------------- the metrics


def metric_cell(results: dict[str, Any], network: str, loader: str, metric: str) -> str:
    mean, deviation = stats.mean_and_deviation(stats.sample(results["found"], network, loader, metric))
    form = METRICS[metric].form
    return f"{form.format(mean)} ± {('{:.2g}' if deviation < 10 else form).format(deviation)}"


def metrics(results: dict[str, Any], network: str, tests: list[stats.Comparison]) -> Iterator[str]:
    """A row a loader, of means and standard deviations."""
    different = {(t.loader, t.metric) for t in tests if t.network == network and t.differs}
    rows = [PAPER] if network == "deep" else []
    for name, loader in LOADERS.items():
        cells = [loader.title]
        for metric in METRICS:
            same = tests and name != OWN and (name, metric) not in different
            cells.append(metric_cell(results, network, name, metric) + (f" {SAME}" if same else ""))
        rows.append([f"**{cell}**" for cell in cells] if name == OWN else cells)
    yield from table([NETWORKS[network].title, *(metric.title for metric in METRICS.values())], rows)


def behind(results: dict[str, Any], tests: list[stats.Comparison]) -> Iterator[str]:
    """A line for each metric in which a baseline's mean is better than APL's; with tests, significantly."""
    different = {(t.network, t.loader, t.metric) for t in tests if t.differs}
    for network in NETWORKS:
        for metric, of in METRICS.items():
            means = {
                name: statistics.fmean(stats.sample(results["found"], network, name, metric))
                for name in (*BASELINES, OWN)
            }
            better = {
                name: mean
                for name, mean in means.items()
                if mean != means[OWN] and (mean > means[OWN]) == of.more_is_better
                if not tests or (network, name, metric) in different
            }
            if better:
                best = (max if of.more_is_better else min)(better, key=better.__getitem__)
                what = f"{NETWORKS[network].title.partition(':')[0]}, {of.title}"
                own, other = (of.form.format(means[name]) for name in (OWN, best))
                yield f"- {what}: APL {own}, {LOADERS[best].title} {other}"


def tests_table(tests: list[stats.Comparison]) -> Iterator[str]:
    rows = []
    for t in tests:
        what = f"{NETWORKS[t.network].title.partition(':')[0]}; {LOADERS[t.loader].title}"
        p = f"{t.p:.2g}" if t.p >= 1e-4 else f"{t.p:.0e}"
        rows.append([what, METRICS[t.metric].title, f"{t.ratio:.2f}", f"{t.t:.1f}", f"{t.df:.1f}", p])
    yield from table(["loader", "metric", "APL over it", "t", "df", "p (Holm)"], rows)


# ---------------------------------------------------------------------------------------------- overlapping


def step_ms(results: dict[str, Any], **wanted: Any) -> float:
    """The median of some trials' milliseconds a step."""
    return 1e3 * statistics.median(o["step"] for o in results["overlaps"] if wanted.items() <= o.items())


def overlap_row(results: dict[str, Any], name: str, blocks: int) -> list[str]:
    load = step_ms(results, name=name, only="load")
    compute = step_ms(results, only="compute", blocks=blocks)
    serial, one, two = (step_ms(results, name=name, only="", blocks=blocks, ahead=k) for k in (0, 1, 2))
    bounds = [max(load / k, compute, (load + compute) / CORES) for k in (1, 2)]
    figures = [load, compute, serial, load + compute, one, bounds[0], two, bounds[1]]
    shares = [(serial - one) / serial, min(load, compute) / (load + compute), load / (load + compute)]
    network = "dense layer" if blocks == 0 else f"{blocks} convolution" + "s" * (blocks > 1)
    cells = [f"{figure:.2f}" for figure in figures] + [f"{100 * share:.0f} %" for share in shares]
    return [f"{OVERLAPS[name].title}; {network}", *cells]


def overlaps(results: dict[str, Any]) -> Iterator[str]:
    text = "ms a batch|t1|t2|in turns|t1 + t2|1 loader|its bound|2 loaders|their bound|saved|min/(t1 + t2)"
    rows = [overlap_row(results, name, blocks) for blocks in OVERLAP_BLOCKS for name in OVERLAPS]
    yield from table([*text.split("|"), "the paper's t1/(t1 + t2)"], rows)


# ---------------------------------------------------------------------------------------------------- text


def about(results: dict[str, Any]) -> Iterator[str]:
    m = results["machine"]
    yield f"Machine: {m['cpu']}, {m['cores']} cores, {m['memory'] / 2**30:.0f} GiB; {m['system']}."
    yield f"{m['date']}, commit {m['commit']}."
    yield f"Load average, 5 minutes: {m['load']}, this run's own included. Data: {results['data']}."
    yield f"{results['trials']} trials for each row of the two tables, interleaved:"
    yield f"at most {results['seconds']:g} s of the first epoch, and {results['seconds']:g} s of later ones."
    if float(m["load"]) > 2 * m["cores"]:
        yield "\n**Provisional: the machine was not left alone. Figures may be far off.**"


def text(results: dict[str, Any]) -> str:
    tests = comparisons(results)
    parts = ["\n".join(about(results))]
    parts += ["\n".join(metrics(results, network, tests)) for network in NETWORKS]
    note = "Mean ± standard deviation."
    if tests:
        note += f" {SAME}: no significant difference from APL (Welch's t-test; Holm's correction for all"
        note += f" {len(tests)} comparisons; level {stats.LEVEL})."
    parts.append(note)
    if lines := list(behind(results, tests)):
        ahead = "significantly ahead" if tests else "ahead"
        parts.append("\n".join([f"Where a baseline is {ahead} of APL, and which most:", "", *lines]))
    parts.append("\n".join(overlaps(results)))
    if tests:
        folded = "\n".join(tests_table(tests))
        parts.append(f"<details><summary>Every comparison</summary>\n\n{folded}\n\n</details>")
    return "\n\n".join(parts) + "\n"
