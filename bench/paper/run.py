"""Runs the trials, interleaved, and tells what came of them: run.py --build BUILD [OPTION]...

Each trial is a process of its own. Results are kept in BUILD/paper/results.json, the table in results.md, the
plots beside them. With --table, nothing is run: the table of the results that are there is printed once more.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paper_table
from settings import BATCH, LOADERS, NETWORKS, OVERLAP_AHEAD, OVERLAP_BLOCKS, OVERLAPS, Trial

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(1, str(ROOT / "bench" / "peers"))
from machine import machine  # noqa: E402

SPARE_SECONDS = 300  # for opening, and for the test split


class Paper:
    """Where the records lie, and how a trial is run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        home = Path(options.home)
        data = ["--db", options.db, "--raw", str(home / "raw"), "--lmdb", str(home / "lmdb")]
        data += ["--staging", options.staging]
        self.command = [options.program, "--batch-size", str(BATCH), *data]

    def trial(self, seconds: float, *words: str) -> Trial:
        """Runs one. Ends the program if it fails: figures of what does not work are worth nothing."""
        command = [*self.command, "--seconds", str(seconds), *words]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=False, timeout=seconds + SPARE_SECONDS
        )
        if done.returncode:
            sys.exit(f"failed: {' '.join(command)}")
        return json.loads(done.stdout)

    def trials(self) -> list[Trial]:
        """The loaders by turns, in an order drawn for each turn."""
        found: list[Trial] = []
        draw = random.Random(1)
        for turn in range(self.options.trials):
            todo = [(network, loader) for network in NETWORKS for loader in LOADERS]
            draw.shuffle(todo)
            for network, loader in todo:
                say(f"trial {turn + 1} of {self.options.trials}: {network}, {loader}")
                words = [*LOADERS[loader].words, "--blocks", str(NETWORKS[network].blocks)]
                trial = self.trial(self.options.seconds, "--cold", *words)
                found.append({"network": network, "name": loader, **trial})
        return found

    def overlaps(self) -> list[dict[str, Any]]:
        """Loading and computing by themselves, one after the other, and at once; training by one thread."""
        found: list[dict[str, Any]] = []
        for turn in range(self.options.overlap_trials):
            say(f"overlap {turn + 1} of {self.options.overlap_trials}")
            for name, what, words in overlap_settings():
                trial = self.trial(self.options.seconds / 20, "--threads", "1", *words)
                found.append({"name": name, **what, "step": step_seconds(what, trial)})
        return found


def step_seconds(what: dict[str, Any], trial: Trial) -> float:
    """Of a trial that only loads, only computes, or does both; in later epochs than the first."""
    steady = trial["steady"]
    return (steady["computed"] + (0.0 if what["only"] == "compute" else steady["waited"])) / steady["steps"]


def overlap_settings() -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    for blocks in OVERLAP_BLOCKS:
        words = [*OVERLAPS["plain"].words, "--ahead", "0", "--only", "compute", "--blocks", str(blocks)]
        yield "compute", {"only": "compute", "blocks": blocks}, words
    for name, overlap in OVERLAPS.items():
        yield name, {"only": "load"}, [*overlap.words, "--ahead", "0", "--only", "load"]
        for blocks in OVERLAP_BLOCKS:
            for ahead in OVERLAP_AHEAD:
                words = [*overlap.words, "--ahead", str(ahead), "--blocks", str(blocks)]
                yield name, {"only": "", "blocks": blocks, "ahead": ahead}, words


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    paper = Paper(options)
    results = {
        "data": options.data,
        "seconds": options.seconds,
        "trials": options.trials,
        "batch": BATCH,
    }
    return results | {"found": paper.trials(), "overlaps": paper.overlaps(), "machine": machine(ROOT)}


def draw(results: dict[str, Any], folder: Path) -> None:
    try:
        import paper_plots
    except ImportError as error:
        say(f"no plots: {error}")
        return
    for file in paper_plots.draw(results, folder):
        say(f"drawn: {file}")


def count(text: str) -> int:
    if not 1 <= int(text) <= 1000:
        raise ValueError
    return int(text)


def duration(text: str) -> float:
    if not 0.01 <= float(text) <= 3600:
        raise ValueError
    return float(text)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", required=True, help="the folder of raw/, lmdb/ and the results")
    parser.add_argument("--program", default="", help="the program of one trial")
    parser.add_argument("--db", default="", help="a store of CIFAR-10")
    parser.add_argument("--data", default="", help="what is in it, for the table")
    parser.add_argument("--staging", default="/dev/shm", help="where the burst buffer is: a folder in memory")
    parser.add_argument("--trials", type=count, default=5)
    parser.add_argument("--overlap-trials", type=count, default=3)
    parser.add_argument("--seconds", type=duration, default=10)
    parser.add_argument("--check", action="store_true", help="run nothing: are the options right?")
    parser.add_argument("--table", action="store_true", help="run nothing, print the table again")
    parser.add_argument("--publish", help="put the table between the marks of this document")
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.check:
        return
    folder = Path(options.home)
    file = folder / "results.json"
    if not options.table:
        file.write_text(json.dumps(measure(options), indent=1))
    results = json.loads(file.read_text())
    table = paper_table.text(results)
    (folder / "results.md").write_text(table)
    draw(results, folder)
    if options.publish:
        paper_table.publish(Path(options.publish), table)
    print(table, end="")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
