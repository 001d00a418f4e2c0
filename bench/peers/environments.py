"""A virtual environment for each system, made once and kept below the build folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OWN = "apl"  # gets the package of this tree each time, or of $APL_SOURCE: a wheel or another tree
INSTALL_SECONDS = 900


class Unavailable(Exception):
    """A system that cannot be measured here; the message says why, in one line."""


def _run(command: list[str], log: Path) -> None:
    with log.open("a") as out:
        try:
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=True, timeout=INSTALL_SECONDS
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Unavailable(f"{why(log.read_text(errors='replace'), str(error))} (see {log})") from error


def why(text: str, otherwise: str) -> str:
    """The line of an output that best tells what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return [otherwise, *lines[-1:], *errors[-1:]][-1][:200]


def ready(name: str, folder: Path) -> Path:
    """The Python interpreter of an environment, with all that it needs installed. Unavailable."""
    home, wanted = folder / name, HERE / "requirements" / f"{name}.txt"
    python, stamp, log = home / "bin" / "python", home / "installed.txt", folder / f"{name}.log"
    folder.mkdir(parents=True, exist_ok=True)
    if not stamp.exists() or stamp.read_text() != wanted.read_text():
        print(f"installing {name} ...", file=sys.stderr, flush=True)
        log.unlink(missing_ok=True)
        _run([sys.executable, "-m", "venv", "--clear", str(home)], log)
        _run([str(python), "-m", "pip", "install", "-q", "-r", str(wanted)], log)
        stamp.write_text(wanted.read_text())
    if name == OWN:
        _install_own(python, log)
    return python


def _install_own(python: Path, log: Path) -> None:
    source = os.environ.get("APL_SOURCE") or str(ROOT)
    _run([str(python), "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", source], log)


def ready_in_parts(name: str, folder: Path) -> Path:
    """The same, where some packages may be missing: each is installed by itself, APL's too. Unavailable."""
    home, wanted = folder / name, HERE / "requirements" / f"{name}.txt"
    python, stamp, log = home / "bin" / "python", home / "installed.txt", folder / f"{name}.log"
    folder.mkdir(parents=True, exist_ok=True)
    if not stamp.exists() or stamp.read_text() != wanted.read_text():
        log.unlink(missing_ok=True)
        _run([sys.executable, "-m", "venv", "--clear", str(home)], log)
        for line in wanted.read_text().split():
            print(f"installing {line} ...", file=sys.stderr, flush=True)
            try:
                _run([str(python), "-m", "pip", "install", "-q", line], log)
            except Unavailable as error:
                print(f"{line}: not installed: {error}", file=sys.stderr, flush=True)
        stamp.write_text(wanted.read_text())
    _install_own(python, log)
    return python
