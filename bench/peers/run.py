"""Measures APL and other loaders side by side; `run.sh --help` tells how.

Every measurement is a process of its own in the environment of its system. The rounds are interleaved, so
that a machine that becomes slower for a while slows all of them. Results are kept in results.json, and
replaced system by system.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

from environments import HERE, ROOT, Unavailable, ready, why
from machine import machine
from systems import SYSTEMS, Setting, System

PROCESS_SECONDS = 240  # no measurement may take longer
SAMPLE = ROOT.parent / "shared" / "data" / "cifar-10-binary-sample.tar.gz"


class Bench:
    """The folders, the results so far, and how to add to them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.home = Path(options.build).resolve() / "peers"
        self.home.mkdir(parents=True, exist_ok=True)
        self.file = self.home / "results.json"
        self.expected = self.home / "expected.json"
        self.pythons: dict[str, Path] = {}
        empty: dict[str, Any] = {"ingest": {}, "sample": {}, "epochs": [], "left_out": {}}
        self.results = json.loads(self.file.read_text()) if self.file.exists() else empty

    def save(self) -> None:
        self.results["machine"] = machine(ROOT)
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.results, indent=1))
        part.replace(self.file)

    def worker(self, system: System, threads: int, *words: str) -> dict[str, Any]:
        """Runs worker.py in the environment of the system. Unavailable."""
        if system.environment not in self.pythons:
            self.pythons[system.environment] = ready(system.environment, self.home / "env")
        command = [str(self.pythons[system.environment]), "-B", str(HERE / "worker.py"), *words]
        return last_object(run(command, threads, self.home))

    def store(self, name: str) -> Path:
        return self.home / "store" / (SYSTEMS[name].store or name)

    # ---------------------------------------------------------------------------------------- ingest

    def ingest(self, name: str) -> None:
        """Makes the store of a system, if it has one of its own or the other's is not there."""
        system, store = SYSTEMS[name], self.store(name)
        if system.store and store.exists():
            return
        owner = SYSTEMS[system.store or name]
        for archive, kind in ((self.options.sample, "sample"), (self.options.archive, "ingest")):
            shutil.rmtree(store, ignore_errors=True)
            store.mkdir(parents=True)
            if archive:
                told = self.worker(
                    owner, os.cpu_count() or 1, "ingest", owner.loader, str(archive), str(store)
                )
                self.results[kind][system.store or name] = told | {"raw": rows_size(archive)}
        os.sync()

    def prepare(self, names: list[str]) -> list[str]:
        """Installs and ingests; the systems with which that worked."""
        able = []
        for name in names:
            say(f"{name}: ingest")
            try:
                self.ingest(name)
                able.append(name)
                self.results["left_out"].pop(name, None)
            except Unavailable as error:
                self.leave_out(name, str(error))
                shutil.rmtree(self.store(name), ignore_errors=True)
        return able

    def leave_out(self, name: str, reason: str) -> None:
        say(f"{name}: left out: {reason}")
        self.results["left_out"][name] = reason

    # ---------------------------------------------------------------------------------------- epochs

    def epochs(self, name: str, setting: Setting) -> dict[str, Any]:
        """One measurement. Unavailable."""
        system, seconds = SYSTEMS[name], str(self.options.seconds)
        if system.kind == "limit":
            return c_loop(Path(self.options.build), self.store(name), setting, seconds, self.home)
        words = [system.loader, str(self.store(name) / "train"), str(self.expected)]
        words += [setting.work, str(setting.threads), setting.variant, seconds]
        return self.worker(system, setting.threads, "epochs", *words, str(system.epochs))

    def rounds(self, names: list[str]) -> None:
        """All settings of all systems, several times over."""
        todo = [(name, setting) for name in names for setting in SYSTEMS[name].settings]
        for turn in range(self.options.rounds):
            todo = [(name, setting) for name, setting in todo if self.once(turn, name, setting)]

    def once(self, turn: int, name: str, setting: Setting) -> bool:
        """Measures one setting; false if that is not possible."""
        what = f"{name} {setting.work} x{setting.threads} {setting.variant}"
        try:
            found = self.epochs(name, setting)
        except Unavailable as error:
            self.leave_out(what, str(error))
            return False
        self.results["epochs"].append({"system": name, "round": turn, **setting._asdict(), **found})
        self.save()
        say(f"{turn + 1} {what}: {found['records'] / sum(found['epochs']) / 1e3:,.0f} k/s")
        return True

    def forget(self, names: list[str]) -> None:
        """Drops what was measured of these systems before."""
        self.results["epochs"] = [row for row in self.results["epochs"] if row["system"] not in names]
        for gone in [key for key in self.results["left_out"] if key.split()[0] in names]:
            del self.results["left_out"][gone]

    def expect(self) -> None:
        """Writes down what the epochs must add up to."""
        self.worker(SYSTEMS["by-hand"], 1, "expect", str(self.options.archive), str(self.expected))


@functools.cache
def rows_size(archive: Path) -> int:
    """Bytes of all the rows in an archive in the binary layout."""
    with tarfile.open(archive) as tar:
        return sum(member.size for member in tar if "_batch" in member.name)


def run(command: list[str], threads: int, home: Path) -> str:
    """Standard output of a process, which is ended with all its children. Unavailable."""
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads))
    scratch = home / "tmp"
    scratch.mkdir(exist_ok=True)
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    env = os.environ | limits | quiet | {"TMPDIR": str(scratch), "HF_HOME": str(scratch / "hf")}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    try:
        process = subprocess.Popen(command, env=env, start_new_session=True, **pipes)
    except OSError as error:
        raise Unavailable(str(error)) from error
    try:
        out: str
        out, err = process.communicate(timeout=PROCESS_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"took more than {PROCESS_SECONDS} s") from error
    finally:
        end(process)
        shutil.rmtree(scratch, ignore_errors=True)
    if process.returncode:
        raise Unavailable(why(err, f"exit status {process.returncode}"))
    return out


def end(process: subprocess.Popen[str]) -> None:
    """Ends what is left of a process and of those it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_object(text: str) -> dict[str, Any]:
    """The JSON object in the last line. Unavailable."""
    try:
        found: dict[str, Any] = json.loads(text.rstrip().rpartition("\n")[2])
    except ValueError as error:
        raise Unavailable("gave no result") from error
    return found


def c_loop(build: Path, store: Path, setting: Setting, seconds: str, home: Path) -> dict[str, Any]:
    """The same work by `apldata bench`: what a loop in C gets, the limit of what Python can."""
    words = ["bench", "--json", "--split", "train", "--batch-size", "512", "--threads", str(setting.threads)]
    if setting.work == "f32":
        words += [
            "--pad",
            "4",
            "--crop",
            "32x32",
            "--flip",
            "random",
            "--scale",
            "normalise",
            "--dtype",
            "f32",
        ]
    words += ["--seconds", str(float(seconds) + 1)]  # the first epoch, which decodes, is among them
    told = json.loads(run([str(build / "apldata"), *words, str(store / "db")], 1, home))
    row = told["rows"][0]
    epochs = [epoch for epoch in row["epochs"][1:] if epoch["records"] == row["epochs"][0]["records"]]
    if not epochs:
        raise Unavailable("no second epoch in so short a time")
    return {
        "epochs": [epoch["seconds"] for epoch in epochs],
        "records": sum(epoch["records"] for epoch in epochs),
        "cpu": sum(epoch["cpu_seconds"] for epoch in epochs),
        "faults": [],
        "notes": [],
    }


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.sh", description="APL beside other loaders, on CIFAR-10.")
    parser.add_argument(
        "archive", nargs="?", type=Path, help="cifar-10-binary.tar.gz; without it, only report"
    )
    parser.add_argument("--only", default=",".join(SYSTEMS), help=f"some of {','.join(SYSTEMS)}")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved, each a new process (3)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of epochs timed in each process (1)")
    parser.add_argument("--keep", action="store_true", help="use the stores that are there")
    parser.add_argument(
        "--sample", type=Path, default=SAMPLE if SAMPLE.exists() else None, help="genuine images"
    )
    parser.add_argument("--publish", action="store_true", help="put tables and chart into docs/")
    parser.add_argument("--build", default="build", help="folder for environments, stores, results (build)")
    options = parser.parse_args()
    options.names = options.only.split(",")
    unknown = set(options.names) - set(SYSTEMS)
    if unknown:
        parser.error(f"no such system: {', '.join(sorted(unknown))}")
    if options.archive and not options.archive.is_file():
        parser.error(f"no such archive: {options.archive}")
    return options


def measure(bench: Bench, names: list[str]) -> None:
    bench.forget(names)
    bench.expect()
    if not bench.options.keep:
        for name in names:
            if not SYSTEMS[name].store:
                shutil.rmtree(bench.store(name), ignore_errors=True)
    missing = [name for name in names if not bench.store(name).exists()]
    able = bench.prepare(missing)
    bench.rounds([name for name in names if name in able or name not in missing])
    bench.save()


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended too
    options = parse()
    bench = Bench(options)
    if options.archive:
        measure(bench, options.names)
    try:
        python = ready("report", bench.home / "env")
    except Unavailable as error:
        say(f"no chart: {error}")
        python = Path(sys.executable)
    document = [str(ROOT / "docs" / "BENCHMARKS.md")] if options.publish else []
    subprocess.run(
        [str(python), "-B", str(HERE / "report.py"), str(bench.file), str(bench.home), *document], check=True
    )


if __name__ == "__main__":
    main()
