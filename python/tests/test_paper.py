"""The statistics, the table and the plots of make paper (bench/paper), of trials made up here."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT

PAPER = ROOT / "bench" / "paper"
MODULES = (
    "chart",
    "figures",
    "paper_plots",
    "paper_statistics",
    "paper_table",
    "report",
    "settings",
    "systems",
)

pytestmark = pytest.mark.skipif(not PAPER.is_dir(), reason="the benchmarks are not here")


@pytest.fixture
def load() -> Iterator[Any]:
    """Imports a module of bench/paper."""
    kept, path = dict(sys.modules), list(sys.path)
    sys.path.insert(0, str(PAPER))
    yield importlib.import_module
    sys.path[:] = path
    for name in MODULES:
        sys.modules.pop(name, None)
        if name in kept:
            sys.modules[name] = kept[name]


def trial(network: str, name: str, steps: int, waited: float) -> dict[str, Any]:
    found = {
        "network": network,
        "name": name,
        "steps": steps,
        "images": 128 * steps,
        "opened": 0.0,
        "loss": 1.0,
    }
    # CPU time is so many powers of two that a sample's is the same in all trials.
    half = {"waited": waited / 2, "computed": 0.5, "images": 64 * steps, "all_images": 64 * steps}
    phase = half | {"cpu": 64 * steps / 2**20}
    return found | {
        "rounds": steps,
        "cold": phase,
        "steady": phase,
        "waited": waited,
        "computed": 1.0,
        "inference": 0.5,
        "peak": 8e6,
        "pss": 5e6,
        "anonymous": 4e6,
        "staged": 0,
    }


def trials(settings: ModuleType, count: int) -> list[dict[str, Any]]:
    """APL takes about 100 steps, one baseline about 50, the others as many as APL."""
    draw = random.Random(7)
    return [
        trial(network, name, draw.randrange(95, 105) // (2 if name == "plain" else 1), draw.uniform(0.1, 0.2))
        for _ in range(count)
        for network in settings.NETWORKS
        for name in settings.LOADERS
    ]


def results(settings: ModuleType, count: int) -> dict[str, Any]:
    about = {
        "cpu": "none",
        "cores": 2,
        "memory": 2**30,
        "system": "Linux",
        "date": "today",
        "commit": "0",
        "load": "0",
    }
    overlaps = [
        {"name": "compute", "only": "compute", "blocks": b, "step": 0.003} for b in settings.OVERLAP_BLOCKS
    ]
    for name in settings.OVERLAPS:
        overlaps.append({"name": name, "only": "load", "step": 0.001})
        for blocks in settings.OVERLAP_BLOCKS:
            for ahead in settings.OVERLAP_AHEAD:
                step = 0.003 if ahead else 0.004
                overlaps.append({"name": name, "only": "", "blocks": blocks, "ahead": ahead, "step": step})
    found = {"machine": about, "data": "none", "seconds": 1, "trials": count, "batch": 128}
    return found | {"found": trials(settings, count), "overlaps": overlaps}


def test_one_that_differs_is_found_and_no_other(load: Any) -> None:
    pytest.importorskip("scipy")
    pytest.importorskip("statsmodels")
    tests = load("paper_statistics").compare(trials(load("settings"), 10))
    assert {(t.loader, t.metric) for t in tests if t.differs} == {
        ("plain", "rounds"),
        ("plain", "throughput-first"),
        ("plain", "throughput"),
    }
    # What is the same in all trials is not tested: CPU time, memory, inference.
    assert len({(t.network, t.loader) for t in tests}) == 2 * len(load("settings").BASELINES)
    assert len(tests) == 2 * len(load("settings").BASELINES) * 5
    assert all(t.ratio == pytest.approx(2, rel=0.05) for t in tests if t.differs)


def test_welch_as_published(load: Any) -> None:
    """Against a calculation by hand: t = (3 - 8) / sqrt(2.5 / 5 + 10 / 5), and so on."""
    pytest.importorskip("scipy")
    pytest.importorskip("statsmodels")
    counts = {"apl": [1, 2, 3, 4, 5], "plain": [4, 6, 8, 10, 12]}
    found = [trial("deep", name, steps, 0.1) for name, all_ in counts.items() for steps in all_]
    (test,) = [t for t in load("paper_statistics").compare(found) if t.metric == "rounds"]
    assert (test.t, test.df) == (pytest.approx(-3.1623, abs=1e-4), pytest.approx(5.8824, abs=1e-4))


def test_table(load: Any) -> None:
    settings = load("settings")
    text = load("paper_table").text(results(settings, 3))
    assert all(text.count(loader.title) >= 2 for loader in settings.LOADERS.values())
    row = next(line for line in text.splitlines() if line.startswith("| files; dense layer"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    # t1 = 1, t2 = 3: in turns 4, overlapped 3, of which a quarter is saved.
    assert cells[1:] == [
        "1.00",
        "3.00",
        "4.00",
        "4.00",
        "3.00",
        "3.00",
        "3.00",
        "3.00",
        "25 %",
        "25 %",
        "25 %",
    ]


def test_plots(load: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    settings = load("settings")
    files = load("paper_plots").draw(results(settings, 2), tmp_path)
    assert len(files) == 5
    assert all(file.read_text().count("APL") >= 2 for file in files)
