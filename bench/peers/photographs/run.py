"""Measures APL and other loaders side by side on photographs; `run.py --help` tells how.

Each loader is a process of its own that stays; in each round each of them takes one epoch, in turn, so
that a machine that becomes slower for a while slows all of them. Of the rounds the least CPU time
counts. Before that, the images that each makes of the same boxes are compared with what Pillow makes of
them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
from jpeg_size import jpeg_size
from machine import machine
from peers import PEERS, SETTINGS, Skipped, Worker
from report import report

SEED = 1
LOWEST = 25  # decibels: what does not antialias has about 30
WORKS = ("random", "centre")
REFERENCE = "torchvision_pillow"  # the first of PEERS; images are compared with its own
QUEUED, BATCHES = 6, 4  # batches that may have been made ahead, and that are timed then


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


# -------------------------------------------------------------------------------------------------- images


def choose(photos: Path, most: int) -> list[tuple[Path, int, int]]:
    """JPEG files of one or three components, with width and height: what every loader here can decode."""
    found = []
    for path in sorted(p for p in photos.rglob("*") if p.is_file()):
        size = jpeg_size(path.read_bytes())
        if size:
            found.append((path, *size))
        if len(found) == most:
            break
    return found


def copy_images(home: Path, chosen: list[tuple[Path, int, int]]) -> None:
    """Copies of the files, numbered, in one class: the order of names is that of numbers."""
    folder = home / "images" / "all" / "photographs"
    folder.mkdir(parents=True)
    files = [folder / f"{number:05}.jpg" for number in range(len(chosen))]
    for (path, *_), file in zip(chosen, files, strict=True):
        shutil.copyfile(path, file)
    told = {"files": list(map(str, files)), "sizes": [[width, height] for _, width, height in chosen]}
    (home / "images.json").write_text(json.dumps(told))


def draw(home: Path, tool: Path, rounds: int) -> None:
    """Writes the boxes of each round, as the reader draws them, and those in the middle."""
    import numpy as np

    told = json.loads((home / "images.json").read_text())
    lines = "".join(f"{i} {w} {h}\n" for i, (w, h) in enumerate(told["sizes"]))
    for epoch in range(rounds + 1):
        done = subprocess.run(
            [str(tool), "draw", str(SEED), str(epoch)],
            input=lines,
            capture_output=True,
            text=True,
            check=True,
        )
        boxes = np.array([line.split() for line in done.stdout.splitlines()], np.int64)
        np.save(home / f"boxes-{epoch}.npy", boxes)
        list_boxes(home / f"boxes-{epoch}.txt", boxes, told["files"])
    sizes = np.array(told["sizes"], np.int64)
    side = np.rint(sizes.min(1) * 224 / 256).astype(np.int64)
    middle = np.stack([(sizes[:, 0] - side) // 2, (sizes[:, 1] - side) // 2, side, side], 1)
    np.save(home / "centre.npy", middle)


def list_boxes(file: Path, boxes: Any, files: list[str]) -> None:
    """For bench_boxes."""
    rows = zip(boxes.tolist(), files, strict=True)
    file.write_text("".join(f"{' '.join(map(str, box))} {path}\n" for box, path in rows))


# --------------------------------------------------------------------------------------------------- rounds


class Bench:
    """The loaders that run here, and what has been measured of them."""

    def __init__(self, home: Path, tool: Path, names: list[str], count: int) -> None:
        self.home, self.tool, self.count = home, tool, count
        self.workers: dict[str, Worker] = {}
        self.results: dict[str, Any] = {
            "images": count,
            "skipped": {},
            "versions": {},
            "quality": {},
            "cpu": {},
            "rows": {},
        }
        for name in names:
            self.attempt(name, self.start)

    def attempt(self, name: str, do: Any) -> None:
        """Leaves a loader out as soon as it fails."""
        try:
            do(name)
        except Skipped as error:
            say(f"{name}: skipped: {error}")
            self.results["skipped"][name] = str(error)
            if name in self.workers:
                self.workers.pop(name).end()

    def start(self, name: str) -> None:
        say(f"{name}: prepares")
        worker = Worker(name, self.home)
        self.workers[name] = worker
        self.results["versions"][name] = worker.versions
        worker.ask(do="prepare")

    def check(self, count: int) -> None:
        """Compares what each makes of the same boxes with what the first makes of them."""
        import numpy as np

        for work in WORKS:
            wanted: Any = None

            def one(name: str, work: str = work) -> None:
                nonlocal wanted
                if PEERS[name].draws and work == "random":
                    return  # boxes of its own
                file = self.home / f"check-{name}.npy"
                self.workers[name].ask(do="check", work=work, epoch=0, count=count, file=str(file))
                images = np.load(file).clip(0, 255)
                file.unlink()
                wanted = images if wanted is None else wanted
                errors = ((images - wanted) ** 2).mean((1, 2, 3)).clip(1e-6)
                levels = 10 * np.log10(255**2 / errors)
                self.results["quality"].setdefault(name, {})[work] = [
                    float(levels.mean()),
                    float(levels.min()),
                ]
                if levels.mean() < LOWEST:
                    raise Skipped(f"its images are not those of the boxes: {levels.mean():.1f} dB")

            for name in list(self.workers):
                self.attempt(name, one)

    def rounds(self, count: int) -> None:
        """Each loader once a round; the first round warms up."""
        for turn in range(count + 1):
            say(f"round {turn} of {count}")
            self.limit(turn)
            for name in list(self.workers):
                self.attempt(name, lambda name, turn=turn: self.epochs(name, turn))
            self.save()

    def save(self) -> str:
        """Writes down what there is, so that a run that is stopped has not been for nothing; the tables."""
        text = report(self.results)
        (self.home / "results.json").write_text(json.dumps(self.results, indent=1))
        (self.home / "results.md").write_text(text)
        return text

    def epochs(self, name: str, turn: int) -> None:
        for work in WORKS:
            found = self.workers[name].ask(do="epoch", work=work, epoch=turn)
            if found["faults"]:
                raise Skipped("; ".join(found["faults"]))
            if turn:
                self.results["cpu"].setdefault(name, {}).setdefault(work, []).append(
                    found["cpu"] / self.count * 1e3
                )

    def limit(self, turn: int) -> None:
        """libjpeg-turbo alone, of the same boxes."""
        found = self.loop("crop", self.home / f"boxes-{turn}.txt", 1)
        if turn:
            self.results["cpu"].setdefault("bare", {}).setdefault("random", []).append(
                found[0][0] / self.count * 1e3
            )

    def loop(self, what: str, boxes: Path, times: int) -> list[list[float]]:
        """CPU and wall seconds of each pass of a loop in C."""
        done = subprocess.run(
            [str(self.tool), what, str(boxes)], input="\n" * times, capture_output=True, text=True, check=True
        )
        return [list(map(float, line.split())) for line in done.stdout.splitlines()]


# ------------------------------------------------------------------------------------------------- APL alone


def rows_of_apl(bench: Bench, rounds: int) -> None:
    """First batch, two threads beside one, late loading beside a plain loop: the least of the rounds."""
    rows: dict[str, list[float]] = {}
    names = [name for name in ("apl", "apl_files") if name in bench.workers]
    for turn in range(1, rounds + 1):
        for name, threads in itertools.product(names, (1, 2)):
            words = {"do": "ahead", "work": "random", "epoch": turn, "skip": QUEUED, "batches": BATCHES}
            found = bench.workers[name].ask(threads=threads, **words)
            for what, seconds in found.items():
                rows.setdefault(f"{name} {what} {threads}", []).append(seconds)
        loops = bench.loop("loop", bench.home / f"boxes-{turn}.txt", 1)
        late = bench.workers["apl_files"].ask(do="epoch", work="random", epoch=turn)
        rows.setdefault("loop cpu", []).append(loops[0][0] / bench.count)
        rows.setdefault("late cpu", []).append(late["cpu"] / bench.count)
    bench.results["rows"] |= {name: min(values) for name, values in rows.items()}


def small_rows(bench: Bench, rounds: int) -> None:
    """JPEGs of 32 x 32, kept as JPEG, over libjpeg-turbo alone."""
    words = [str(bench.home / "small"), str(bench.tool), str(rounds), str(bench.home / "images.json")]
    done = subprocess.run(
        [sys.executable, "-B", str(Path(__file__).parent / "small.py"), *words],
        stdout=subprocess.PIPE,
        env=SETTINGS,
    )
    if done.returncode:
        say("JPEGs of 32 x 32: skipped")
    else:
        bench.results["rows"] |= json.loads(done.stdout)


# ------------------------------------------------------------------------------------------------------ main


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="APL beside other loaders, on photographs.")
    parser.add_argument("photos", type=Path, help="a folder with JPEG files, at any depth")
    parser.add_argument(
        "--build", type=Path, required=True, help="with release/bench/bench_boxes; results lie below it"
    )
    parser.add_argument("--only", default=",".join(PEERS), help=f"some of {','.join(PEERS)}")
    parser.add_argument("--most", type=int, default=1024, help="files taken (1024)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved (5)")
    parser.add_argument("--check", type=int, default=256, help="files whose images are compared (256)")
    return parser.parse_args()


def measure(bench: Bench, options: argparse.Namespace) -> None:
    bench.check(min(options.check, bench.count))
    bench.rounds(options.rounds)
    if "apl_files" in bench.workers:
        rows_of_apl(bench, options.rounds)
    small_rows(bench, options.rounds)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended too
    options = parse()
    home, tool = (
        (options.build / "peers" / "photographs").resolve(),
        options.build / "release" / "bench" / "bench_boxes",
    )
    shutil.rmtree(home, ignore_errors=True)
    chosen = choose(options.photos, options.most)
    if not chosen:
        sys.exit(f"{options.photos}: no JPEG files")
    copy_images(home, chosen)
    draw(home, tool.resolve(), options.rounds)
    mean = sum(path.stat().st_size for path, *_ in chosen) / len(chosen)
    names = [name for name in PEERS if name in [REFERENCE, *options.only.split(",")]]
    bench = Bench(home, tool.resolve(), names, len(chosen))
    bench.results |= {"mean_bytes": mean, "rounds": options.rounds, "machine": machine(Path(__file__).parent)}
    try:
        measure(bench, options)
    finally:
        for worker in bench.workers.values():
            worker.end()
    print(bench.save())


if __name__ == "__main__":
    main()
