"""Tables of what run.py has measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from peers import PEERS

NONE = "-"
LIMIT = "libjpeg-turbo alone, rows and columns of the box"


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Markdown; all columns but the first are aligned to the right."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "---:|" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def least(results: dict[str, Any], name: str, work: str) -> float | None:
    found = results["cpu"].get(name, {}).get(work)
    return min(found) if found else None


def cell(value: float | None, form: str = "{:.2f}") -> str:
    return NONE if value is None else form.format(value)


def over(a: float | None, b: float | None) -> float | None:
    return a / b if a and b else None


def quality(results: dict[str, Any], name: str, work: str) -> str:
    found = results["quality"].get(name, {}).get(work)
    if not found or PEERS[name].smooth.endswith("reference"):
        return NONE
    return f"{found[0]:.1f} ({found[1]:.1f})"


def loaders(results: dict[str, Any]) -> Iterator[str]:
    bare, own = least(results, "bare", "random"), least(results, "apl", "random")
    rows = [[LIMIT, cell(bare), "1", NONE, NONE, NONE, NONE]]
    for name, peer in PEERS.items():
        random, centre = least(results, name, "random"), least(results, name, "centre")
        if random is None:
            continue
        ratio = over(own, random) if not name.startswith("apl") else None
        rows.append(
            [
                peer.title,
                cell(random),
                cell(over(random, bare)),
                cell(ratio) + (f" (≤ {peer.bar:g})" if peer.bar and ratio else ""),
                cell(centre),
                peer.smooth,
                quality(results, name, "random"),
            ]
        )
    rows[1:] = sorted(rows[1:], key=lambda row: float(row[1]))
    head = ["", "CPU ms", "of libjpeg-turbo", "APL, indexed, over it (bar)", "Resize, CenterCrop: CPU ms"]
    yield from table([*head, "antialiased", "PSNR, dB: mean (worst)"], rows)


def bar(what: str, value: float | None, limit: float, least: bool = False) -> list[str]:
    if value is None:
        return [what, NONE, NONE, "not measured"]
    met = value >= limit if least else value <= limit
    return [what, f"{value:.2f}", f"{'≥' if least else '≤'} {limit:g}", "met" if met else "**missed**"]


def own_rows(results: dict[str, Any]) -> Iterator[str]:
    rows, bare = results["rows"], least(results, "bare", "random")
    peers = [least(results, name, "centre") for name in PEERS if not name.startswith("apl")]
    fastest = min((ms for ms in peers if ms), default=None)
    simple = least(results, "simplejpeg_opencv", "random")
    yield from table(
        ["", "ratio", "bar", ""],
        [
            bar("indexed, over libjpeg-turbo alone", over(least(results, "apl", "random"), bare), 0.55),
            bar(
                "`--keep-files`, over libjpeg-turbo alone",
                over(least(results, "apl_files", "random"), bare),
                1.2,
            ),
            bar(
                "`--keep-files`, over simplejpeg + OpenCV",
                over(least(results, "apl_files", "random"), simple),
                0.75,
            ),
            bar(
                "Resize(256) and CenterCrop(224), over the fastest peer",
                over(least(results, "apl", "centre"), fastest),
                0.4,
            ),
            bar(
                "32 x 32 JPEGs, over libjpeg-turbo alone",
                over(rows.get("small apl"), rows.get("small bare")),
                1.1,
            ),
            *first_rows(rows),
            bar(
                "late loading, of a plain loop over the files",
                over(rows.get("loop cpu"), rows.get("late cpu")),
                0.97,
                True,
            ),
        ],
    )


def first_rows(rows: dict[str, float]) -> Iterator[list[str]]:
    for name in ("apl", "apl_files"):
        title = PEERS[name].title.removeprefix("APL, ")
        wall, cpu = (
            over(rows.get(f"{name} {what} 1"), rows.get(f"{name} {what} 2")) for what in ("wall", "cpu")
        )
        first, two = rows.get(f"{name} first 2"), rows.get(f"{name} wall 2")
        yield bar(
            f"{title}: first batch of 256, over 256 images' time, two threads",
            over(first, two and 256 * two),
            1.2,
        )
        yield bar(f"{title}: images/s on two threads, of those on one", wall, 1.9, True)
        yield [f"{title}: CPU an image on one thread, of that on two", cell(cpu), NONE, ""]


def report(results: dict[str, Any]) -> str:
    m = results["machine"]
    lines = [
        f"Machine: {m['cpu']}, {m['cores']} cores; {m['system']}; Python {m['python']}; "
        f"{m['date']}, commit {m['commit']}.",
        f"{results['images']} photographs, {results['mean_bytes'] / 1e3:.0f} kB on average; "
        f"the least of {results['rounds']} interleaved rounds; load of the machine: {m['load']}.",
        "",
        "Versions: " + "; ".join(sorted(set("; ".join(results["versions"].values()).split("; ")))) + ".",
        "",
        *loaders(results),
        "",
        *own_rows(results),
    ]
    if results["skipped"]:
        lines += ["", *(f"- {PEERS[name].title}: skipped: {why}" for name, why in results["skipped"].items())]
    return "\n".join(lines) + "\n"
