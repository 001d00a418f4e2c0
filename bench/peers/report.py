"""Tables and a chart from results.json: report.py RESULTS FOLDER [DOCUMENT]

Prints the tables and writes them to FOLDER/results.md, the chart to FOLDER/benchmarks.svg. A DOCUMENT gets
the tables between its two marks, and the chart beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figures import Figures, Row
from systems import SYSTEMS

MARKS = ("<!-- tables: begin -->", "<!-- tables: end -->")
NONE = "-"
PEERS = ("loader", "hand")


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Markdown; all columns but the first are aligned to the right."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "---:|" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def k(rate: float) -> str:
    return f"{rate / 1e3:,.0f} k" if rate >= 1e4 else f"{rate / 1e3:.1f} k"


def mb(size: float) -> str:
    return f"{size / 1e6:,.0f}"


def rate_cell(row: Row | None) -> str:
    return f"{k(row.rate)} ({k(row.least)}..{k(row.most)})" if row else NONE


# --------------------------------------------------------------------------------------------------- tables


def speeds(figures: Figures) -> Iterator[str]:
    """Images/s of the best setting of each system, with one thread and with up to two."""
    rows = []
    for name in figures.systems():
        best = [figures.fastest(work, system=name, threads=n) for work in ("u8", "f32") for n in (1, 2)]
        rows.append([SYSTEMS[name].title, *map(rate_cell, best)])
    yield from table(
        ["images/s: median (min..max) of epochs", "u8, 1", "u8, ≤ 2", "f32, 1", "f32, ≤ 2"], rows
    )


def memory_cell(row: Row | None) -> str:
    return f"{mb(row.memory['rss'])} ({mb(row.memory['pss'])})" if row and row.memory else NONE


def costs(figures: Figures) -> Iterator[str]:
    """What the fastest setting of each system uses: processor, memory, time to the first batch, disk."""
    head = ["of the fastest setting", "CPU-s/M u8", "f32", "RSS (PSS) MB u8", "f32", "first batch ms"]
    rows = []
    for name in figures.systems():
        fast = [figures.fastest(work, system=name) for work in ("u8", "f32")]
        cells = [f"{row.cpu:.2f}" if row else NONE for row in fast] + list(map(memory_cell, fast))
        first = fast[0].first if fast[0] else None
        rows.append(
            [
                SYSTEMS[name].title,
                *cells,
                f"{first * 1e3:,.0f}" if first else NONE,
                *store_cells(figures, name),
            ]
        )
    yield from table([*head, "ingest s", "store MB", "of the images"], rows)


def store_cells(figures: Figures, name: str) -> list[str]:
    told, size = figures.raw["ingest"].get(name), figures.size(name)
    if not told:
        return [NONE, NONE, NONE]
    return [f"{told['seconds']:.2f}", f"{told['bytes'] / 1e6:,.1f}", f"{size[1]:.3f}" if size else NONE]


def every(figures: Figures) -> Iterator[str]:
    """All that was measured."""
    rows = []
    for row in figures.rows:
        check = "; ".join(["wrong: " + fault for fault in row.faults] + row.notes) or "ok"
        cells = [row.work, str(row.threads), row.variant, rate_cell(row), str(row.epochs), f"{row.cpu:.2f}"]
        first = f"{row.first * 1e3:,.0f}" if row.first else NONE
        rows.append([row.about.title, *cells, memory_cell(row), first, check])
    head = [
        "system",
        "work",
        "threads",
        "variant",
        "images/s",
        "epochs",
        "CPU-s/M",
        "RSS (PSS) MB",
        "first ms",
    ]
    yield from table([*head, "check"], rows)


# ----------------------------------------------------------------------------------------------------- bars


def bar(what: str, own: float, peer: float, whose: str, limit: float, least: bool = True) -> list[str]:
    ratio = own / peer
    met = ratio >= limit if least else ratio <= limit
    bound = f"{'≥' if least else '≤'} {limit:g}"
    return [f"{what}, {whose}", f"{ratio:.2f}", bound, "met" if met else "**missed**"]


def rate_bars(figures: Figures, work: str, threads: int) -> Iterator[list[str]]:
    own = figures.fastest(work, system="apl", threads=threads)
    if not own:
        return
    what = f"{work}, {threads} thread{'s'[: threads - 1]}: {k(own.rate)} images/s"
    for wanted, note, limit in against(work):
        peer = figures.fastest(work, threads=threads, **wanted)
        if peer:
            yield bar(what, own.rate, peer.rate, f"of {peer.about.title}{note} {k(peer.rate)}", limit)
    loop = next((row for row in figures.some(work, system="apl-c") if row.threads == own.threads), None)
    if loop:
        yield bar(what, own.rate, loop.rate, f"of the C loop {k(loop.rate)}", 0.95)


def against(work: str) -> list[tuple[dict[str, Any], str, float]]:
    """Which peers' fastest is to be beaten, a word on it, by what factor."""
    loader, hand = {"u8": (1.5, 3), "f32": (8, 5)}[work]
    found: list[tuple[dict[str, Any], str, float]] = [
        ({"kinds": ["loader"]}, ", the fastest loader,", loader)
    ]
    found += [({"system": name}, "", hand) for name, system in SYSTEMS.items() if system.kind == "hand"]
    if work == "u8":
        found.append(({"kinds": ["loader"], "packed": True}, ", the fastest that decompresses,", 20))
    return found


def other_bars(figures: Figures) -> Iterator[list[str]]:
    for work in ("u8", "f32"):
        own, peer = figures.thriftiest(work, system="apl"), figures.thriftiest(work, kinds=PEERS)
        if own and peer:
            what = f"{work} CPU-s/M: {own.cpu:.2f}"
            yield bar(what, own.cpu, peer.cpu, f"of {peer.about.title} {peer.cpu:.2f}", 0.5, least=False)
    first = next((row.first for row in figures.some("u8", system="apl") if row.threads == 2), None)
    if first:
        yield bar("first batch in ms, 2 threads", first * 1e3, 1, "u8", 60, least=False)
    sizes = {name: figures.size(name) for name in figures.systems() if SYSTEMS[name].kind in PEERS}
    peers = {name: size[1] for name, size in sizes.items() if size}
    own_size = figures.size("apl")
    if own_size and peers:
        least = min(peers, key=lambda name: peers[name])
        what, whose = (
            f"store: {own_size[1]:.3f} of the images",
            f"of {SYSTEMS[least].title} {peers[least]:.3f}",
        )
        yield bar(what, own_size[1], peers[least], whose, 0.6, least=False)


def bars(figures: Figures) -> Iterator[str]:
    """APL's aims, as ratios within this run."""
    rows = [row for work in ("u8", "f32") for n in (1, 2) for row in rate_bars(figures, work, n)]
    yield from table(["APL", "ratio", "aim", ""], rows + list(other_bars(figures)))


# ----------------------------------------------------------------------------------------------------- text


def about(figures: Figures) -> Iterator[str]:
    m = figures.raw["machine"]
    yield f"Machine: {m['cpu']}, {m['cores']} cores, {m['memory'] / 2**30:.0f} GiB; {m['system']}; "
    yield f"Python {m['python']}; {m['date']}, commit {m['commit']}. All stores in the page cache."
    yield f"Other processes kept {figures.others():.1f} cores busy meanwhile (median)."
    if figures.provisional():
        yield ""
        yield "**Provisional: the machine was not left alone. Ratios between systems may be far off.**"
    yield ""
    yield "Versions: " + "; ".join(f"{name} {version}" for name, version in figures.versions().items()) + "."
    if figures.raw["left_out"]:
        yield ""
        yield "Left out:"
        yield ""
        for name, reason in figures.raw["left_out"].items():
            yield f"- {name}: {reason}"


def text(figures: Figures) -> str:
    parts = [about(figures), bars(figures), speeds(figures), costs(figures)]
    titles = ["", "### Aims\n\n", "### Speed\n\n", "### Cost\n\n"]
    done = [title + "\n".join(part) for title, part in zip(titles, parts, strict=True)]
    folded = "<details><summary>Every setting</summary>\n\n" + "\n".join(every(figures)) + "\n\n</details>"
    return "\n\n".join([*done, folded]) + "\n"


def publish(document: Path, tables: str) -> None:
    """Puts the tables between the marks of a document. ValueError if they are missing."""
    old = document.read_text()
    if old.count(MARKS[0]) != 1 or old.count(MARKS[1]) != 1:
        raise ValueError(f"{document}: must have {MARKS[0]} and {MARKS[1]} once each")
    before, after = old.partition(MARKS[0])[0], old.partition(MARKS[1])[2]
    document.write_text(f"{before}{MARKS[0]}\n{tables}{MARKS[1]}{after}")


def main() -> None:
    figures, folder = Figures(Path(sys.argv[1])), Path(sys.argv[2])
    tables = text(figures)
    (folder / "results.md").write_text(tables)
    targets = [folder]
    if len(sys.argv) > 3:
        publish(Path(sys.argv[3]), tables)
        targets.append(Path(sys.argv[3]).parent)
    print(tables)
    try:
        from chart import draw
    except ImportError as error:
        print(f"no chart: {error}", file=sys.stderr)
        return
    for target in targets:
        draw(figures, target / "benchmarks.svg")


if __name__ == "__main__":
    main()
