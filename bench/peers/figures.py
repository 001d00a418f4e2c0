"""From results.json to figures: one row for each setting of each system, and the best of each."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systems import SYSTEMS, System

BUSY = 0.1  # of the cores


@dataclass(frozen=True)
class Row:
    """One setting over all rounds. Rates in images/s, of epochs; CPU in seconds for a million images."""

    system: str
    work: str
    threads: int
    variant: str
    rate: float
    least: float
    most: float
    epochs: int
    cpu: float
    memory: dict[str, int]
    first: float | None
    faults: list[str]
    notes: list[str]

    @property
    def about(self) -> System:
        return SYSTEMS[self.system]


class Figures:
    """All that was measured, for tables and charts."""

    def __init__(self, file: Path) -> None:
        self.raw: dict[str, Any] = json.loads(file.read_text())
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for run in self.raw["epochs"]:
            key = (run["system"], run["work"], run["threads"], run["variant"])
            groups.setdefault(key, []).append(run)
        self.rows = [row_of(key, runs) for key, runs in groups.items() if any(run["epochs"] for run in runs)]
        order = list(SYSTEMS)
        self.rows.sort(key=lambda row: (order.index(row.system), row.work != "u8", row.threads, row.variant))

    def systems(self) -> list[str]:
        """Those of which anything was measured, in the order of the table of systems."""
        return list(dict.fromkeys(row.system for row in self.rows))

    def some(self, work: str, **wanted: Any) -> list[Row]:
        """Rows without faults; `kinds`, `packed`, `system`, `threads` (at most) narrow them."""
        rows = [row for row in self.rows if row.work == work and not row.faults]
        if "kinds" in wanted:
            rows = [row for row in rows if row.about.kind in wanted["kinds"]]
        if "packed" in wanted:
            rows = [row for row in rows if row.about.packed == wanted["packed"]]
        if "system" in wanted:
            rows = [row for row in rows if row.system == wanted["system"]]
        return [row for row in rows if row.threads <= wanted.get("threads", row.threads)]

    def fastest(self, work: str, **wanted: Any) -> Row | None:
        return max(self.some(work, **wanted), key=lambda row: row.rate, default=None)

    def thriftiest(self, work: str, **wanted: Any) -> Row | None:
        """The one with the least processor time for an image."""
        return min(self.some(work, **wanted), key=lambda row: row.cpu, default=None)

    def size(self, name: str, genuine: bool = True) -> tuple[int, float] | None:
        """Bytes of a system's store, and their ratio to the archive's rows; of genuine images if it can."""
        kind = "sample" if genuine and self.raw["sample"] else "ingest"
        told = self.raw[kind].get(SYSTEMS[name].store or name)
        return (told["bytes"], told["bytes"] / told["raw"]) if told else None

    def others(self) -> float:
        """Median of the cores that other processes kept busy while something was measured."""
        seen = [float(run["others"]) for run in self.raw["epochs"] if "others" in run]
        return statistics.median(seen or [0.0])

    def provisional(self) -> bool:
        """Whether others used so much of the machine that ratios between systems say little."""
        return self.others() > BUSY * int(self.raw["machine"]["cores"])

    def versions(self) -> dict[str, str]:
        """Of the packages named in the requirements, over all environments."""
        named = set()
        for file in Path(__file__).parent.glob("requirements/*.txt"):
            named |= {line.partition("==")[0].replace("_", "-").lower() for line in file.read_text().split()}
        found: dict[str, set[str]] = {}
        for run in self.raw["epochs"]:
            for name, version in run.get("versions", {}).items():
                if name.replace("_", "-") in named | {"apldata"}:
                    found.setdefault(name.replace("_", "-"), set()).add(version)
        return {name: ", ".join(sorted(found[name])) for name in sorted(found)}


def row_of(key: tuple[Any, ...], runs: list[dict[str, Any]]) -> Row:
    records = sum(run["records"] for run in runs)
    size = records / sum(len(run["epochs"]) for run in runs)
    rates = [size / seconds for run in runs for seconds in run["epochs"]]
    firsts = [run["first"] for run in runs if "first" in run]
    memories = [run["memory"] for run in runs if "memory" in run]
    system, work, threads, variant = key
    return Row(
        system,
        work,
        threads,
        variant,
        rate=statistics.median(rates),
        least=min(rates),
        most=max(rates),
        epochs=len(rates),
        cpu=sum(run["cpu"] for run in runs) / records * 1e6,
        memory={name: max(memory[name] for memory in memories) for name in (memories[0] if memories else {})},
        first=statistics.median(firsts) if firsts else None,
        faults=sorted({fault for run in runs for fault in run["faults"]}),
        notes=sorted({note for run in runs for note in run["notes"]}),
    )
