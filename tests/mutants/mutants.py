"""Do the tests in C find bugs? Plants each of those listed here, and runs the tests that should fail.

    mutants.py [ROOM/FILE.c...]   all, or those of these files; what was judged before is not judged again
    mutants.py --fits             are the lists of this source?
    mutants.py --sample           a dozen of them
    mutants.py --so-far           those that have been judged
    mutants.py --update           and writes the table in docs/RELIABILITY.md

Everything must have been built (make all tests); `make mutants` does that.
Results are kept in $BUILD/mutants/results.tsv.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path

from planted import KINDS, Mutant, read_all
from workshop import CannotBuild, Workshop

BUILD = os.environ.get("BUILD", "build")
RESULTS = Path(BUILD) / "mutants" / "results.tsv"
PAGE = Path("docs/RELIABILITY.md")
BEGIN, END = "<!-- planted bugs -->", "<!-- end of planted bugs -->"
GOAL = 0.95


@cache
def test_source(name: str) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(Path("tests").glob(f"**/test_{name}.c")))


def identity(text: str, tests: list[str]) -> str:
    """Changes when the file with the bug or one of these tests does."""
    parts = [text.encode(), *(name.encode() + test_source(name) for name in tests)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]


def known_results() -> dict[str, str]:
    """By identity, with the test that killed it or all that did not: how it died, or an empty string."""
    if not RESULTS.exists():
        return {}
    rows = (line.split("\t") for line in RESULTS.read_text().splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 3}


class Run:
    """Judges mutants, and keeps each result as soon as it is there."""

    def __init__(self, mutants: list[Mutant]) -> None:
        self.known = known_results()
        self.killers: dict[int, str] = {}
        self.broken: list[str] = []
        self.shop: Workshop | None = None
        self.waiting: list[tuple[Mutant, str]] = []
        for mutant in mutants:
            try:
                text = mutant.planted(Path(mutant.file).read_text())
                missing = [test for test in mutant.tests if not test_source(test)]
                if missing:
                    raise ValueError(f"{mutant.place}: there is no test_{missing[0]}.c")
            except (OSError, ValueError) as error:
                self.broken.append(str(error))
                continue
            names = [identity(text, tests) for tests in [*([test] for test in mutant.tests), mutant.tests]]
            found = [self.known[name] for name in names if name in self.known]
            if any(found) or names[-1] in self.known:
                self.killers[id(mutant)] = max(found)
            elif not mutant.equivalent:
                self.waiting.append((mutant, text))

    def judge(self, jobs: int) -> None:
        if not self.waiting:
            return
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        self.shop = Workshop(BUILD, os.environ.get("MAKE", "make"))
        with RESULTS.open("a") as results, ThreadPoolExecutor(jobs) as pool:
            for future in as_completed([pool.submit(self.judged, *waiting) for waiting in self.waiting]):
                mutant, text, killer, failure, seconds = future.result()
                if failure:
                    self.broken.append(f"{mutant.place}: {failure}")
                    continue
                self.killers[id(mutant)] = killer
                name = identity(text, killer.split()[:1] or mutant.tests)
                print(name, killer, f"{mutant.file}: {mutant.words}", sep="\t", file=results, flush=True)
                print(f"{'killed' if killer else 'SURVIVED'} {seconds:.1f} s {mutant.place} {mutant.file}: "
                      f"{mutant.words}{' by ' + killer if killer else ''}", flush=True)  # fmt: skip

    def judged(self, mutant: Mutant, text: str) -> tuple[Mutant, str, str, str, float]:
        """Itself, what kills it, why it cannot be judged, and how long that took."""
        assert self.shop is not None
        began = time.monotonic()
        try:
            killer, failure = self.shop.killer(mutant.file, text, mutant.tests), ""
        except CannotBuild as error:
            killer, failure = "", str(error)
        return mutant, text, killer, failure, time.monotonic() - began


def cell(run: Run, mutants: list[Mutant]) -> str:
    """How many of them were killed, of how many."""
    counted = [mutant for mutant in mutants if not mutant.equivalent]
    killed = sum(bool(run.killers.get(id(mutant))) for mutant in counted)
    return f"{killed} of {len(counted)}" if counted else ""


def table(run: Run, mutants: list[Mutant]) -> list[str]:
    """In Markdown: by room and kind, then those that survive, and those that nobody can see."""
    lines = ["| killed | " + " | ".join(KINDS) + " | all |", "|---" * (len(KINDS) + 2) + "|"]
    rooms = sorted({mutant.room for mutant in mutants})
    for room in [*rooms, ""]:
        own = [mutant for mutant in mutants if room in ("", mutant.room)]
        cells = [cell(run, [mutant for mutant in own if mutant.kind == kind]) for kind in KINDS]
        lines.append(f"| {room + '/' if room else 'all'} | " + " | ".join([*cells, cell(run, own)]) + " |")
    survivors = [mutant for mutant in mutants if not mutant.equivalent and run.killers.get(id(mutant)) == ""]
    equivalents = [mutant for mutant in mutants if mutant.equivalent]
    if survivors:
        lines += ["", "Not found:", ""] + [f"- `{m.file}`: `{m.words}`" for m in survivors]
    if equivalents:
        lines += ["", "Not counted, as nobody can see the difference:", ""]
        lines += [f"- `{m.file}`: `{m.words}`: {m.equivalent}" for m in equivalents]
    return lines


def update_page(lines: list[str]) -> None:
    """Renews what is between the marks."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    tail = rest.partition(END)[2]
    said = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout
    made = f"Version {said.strip()}, {time.strftime('%Y-%m-%d', time.gmtime())}."
    text = "\n".join(["", "", made, "", *lines, "", ""])
    PAGE.write_text(head + BEGIN + text + END + tail)


def chosen(mutants: list[Mutant], files: list[str], sample: bool) -> list[Mutant]:
    if files:
        mutants = [mutant for mutant in mutants if any(mutant.file.startswith(file) for file in files)]
    if sample:
        counted = [mutant for mutant in mutants if not mutant.equivalent]
        mutants = counted[:: max(1, len(counted) // 12)]
    return mutants


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("files", nargs="*", metavar="ROOM/FILE.c")
    parser.add_argument("--fits", action="store_true")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--so-far", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    mutants = chosen(read_all(Path(os.path.relpath(Path(__file__).parent))), asked.files, asked.sample)
    run = Run(mutants)
    if asked.so_far:
        left = {id(mutant) for mutant, _ in run.waiting}
        mutants = [mutant for mutant in mutants if id(mutant) not in left]
    elif not asked.fits:
        run.judge(asked.jobs)
    for line in run.broken:
        print(line, file=sys.stderr)
    counted = [mutant for mutant in mutants if not mutant.equivalent]
    if asked.fits or run.broken:
        print(f"{len(mutants)} planted bugs, of which {len(run.broken)} do not fit")
        return 1 if run.broken else 0
    killed = sum(bool(run.killers[id(mutant)]) for mutant in counted)
    score = killed / len(counted) if counted else 1
    lines = table(run, mutants)
    if asked.so_far and run.waiting:
        lines += ["", f"{len(run.waiting)} more have not been judged yet."]
    print(*lines, f"{killed} of {len(counted)} planted bugs found: {100 * score:.1f} %", sep="\n")
    if asked.update:
        update_page(lines)
    return 0 if score >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
