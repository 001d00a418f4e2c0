"""Runs the commands in the package: `python -m apldata info DB`, `python -m apldata ingest SRC DB`."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from apldata.ingesting import load_extension

_COMMANDS = Path(__file__).resolve().parent / "bin"


def _become(command: str, arguments: list[str]) -> NoReturn:
    """Becomes the command, so that signals, exit status and terminal are its own."""
    path = _COMMANDS / command
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(path, [command, *arguments])
    except OSError as error:
        sys.exit(f"{command}: {path}: {error.strerror}")


def apldata() -> NoReturn:
    """The command `apldata`."""
    _become("apldata", sys.argv[1:])


def _ingest(arguments: list[str]) -> NoReturn:
    """Becomes aplingest, which needs the same libraries as the extension: one line says which is missing."""
    try:
        load_extension()
    except ImportError as error:
        sys.exit(str(error))
    _become("aplingest", arguments)


def aplingest() -> NoReturn:
    """The command `aplingest`."""
    _ingest(sys.argv[1:])


def main() -> NoReturn:
    """`python -m apldata`: aplingest if the first word is `ingest`, else apldata."""
    if sys.argv[1:2] == ["ingest"]:
        _ingest(sys.argv[2:])
    if sys.argv[1:] in (["--help"], ["-h"]):
        print("python -m apldata ingest [OPTION]... SOURCE DB    make a store of an archive: aplingest\n")
    apldata()


if __name__ == "__main__":
    main()
