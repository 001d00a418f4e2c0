"""Compiles a file with a bug in it, links the tests with it, and runs them."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock

# A bug may ask for all there is: no test needs as much. (Servers share files that are large, and have holes.)
LIMITED = ["prlimit", f"--data={4 << 30}", f"--fsize={16 << 30}", "--core=0"]


class CannotBuild(Exception):
    """A mutant does not compile, or tests do not link with it."""


def run_limited(command: list[str], seconds: float) -> str:
    """Runs a test; returns how it failed, or an empty string."""
    environment = os.environ | {"APL_SPARSE": "3"}
    none = subprocess.DEVNULL
    process = subprocess.Popen(
        [*LIMITED, *command], stdin=none, stdout=none, stderr=none, env=environment, start_new_session=True
    )
    try:
        code = process.wait(seconds)
        return "" if code == 0 else f"exit status {code}"
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
        process.wait()


class Workshop:
    """What make would run to compile each source and link each test, and how long each test takes."""

    def __init__(self, build: str, make: str) -> None:
        self.objects = f"{build}/release"
        self.compiling: dict[str, list[str]] = {}
        self.linking: dict[str, list[str]] = {}
        self.limits: dict[str, float] = {}
        self.lock, self.locks = Lock(), dict[str, Lock]()
        makes = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
        quiet = {name: value for name, value in os.environ.items() if name not in makes}
        ask = [*shlex.split(make), "-s", "-n", "-B", "V=1", f"BUILD={build}", "objs", "tests"]
        said = subprocess.run(ask, env=quiet, capture_output=True, text=True, check=True).stdout
        for line in said.replace("\\\n", " ").splitlines():
            if " -o " not in line or line.startswith(":"):
                continue
            words = shlex.split(line)
            if "-c" in words:
                self.compiling[words[words.index("-c") + 1]] = words
            elif "-o" in words:
                out = words[words.index("-o") + 1]
                self.linking[out.rpartition("/test_")[2]] = words

    def compiled(self, file: str, text: str, place: Path) -> Path:
        """The object of a file whose text is this one."""
        if file not in self.compiling:
            raise CannotBuild(f"make does not compile {file}")
        source, out = place / Path(file).name, place / "mutant.o"
        source.write_text(text)
        words = [word for word in self.compiling[file] if word not in ("-MMD", "-MP")]
        words[words.index("-c") + 1], words[words.index("-o") + 1] = str(source), str(out)
        self.build([*words, "-w", f"-I{Path(file).parent}"])  # it may leave a variable unused
        return out

    def linked(self, test: str, file: str, mutant: Path, place: Path) -> Path:
        """A test in which this object comes before its like."""
        if test not in self.linking:
            raise CannotBuild(f"there is no test_{test}.c")
        out, own = place / f"test_{test}", f"{self.objects}/{file[:-2]}.o"
        words = [word for word in self.linking[test] if word != own]
        words[words.index("-o") + 1] = str(out)
        words.insert(words.index(f"{self.objects}/insides.a"), str(mutant))
        self.build([*words, "-Wl,-S"])
        return out

    def build(self, words: list[str]) -> None:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotBuild((done.stderr.strip() or "the compiler failed").splitlines()[0])

    def limit(self, test: str) -> float:
        """How long a test may take, from how long it takes without a bug, where it must pass."""
        with self.lock:
            own = self.locks.setdefault(test, Lock())
        with own:
            if test not in self.limits:
                self.limits[test] = 20 + 10 * self.seconds_of(test)
            return self.limits[test]

    def seconds_of(self, test: str) -> float:
        """How long it takes without a bug; on a busy machine it may fail once or twice."""
        for _ in range(3):
            began = time.monotonic()
            failure = run_limited([f"{self.objects}/tests/test_{test}", "-j1"], 900)
            if not failure:
                return time.monotonic() - began
        raise CannotBuild(f"test_{test} fails without a bug: {failure}")

    def killer(self, file: str, text: str, tests: list[str]) -> str:
        """Which test fails with this text of a file, and how; an empty string if all pass."""
        with tempfile.TemporaryDirectory(prefix="apl-mutant-") as folder:
            place = Path(folder)
            mutant = self.compiled(file, text, place)
            for test in tests:
                limit = self.limit(test)
                program = str(self.linked(test, file, mutant, place))
                failure = run_limited([program, "-j1", "--fail-fast"], limit)
                if failure:
                    return f"{test} ({failure})"
        return ""
