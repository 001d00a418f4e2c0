"""Runs the commands in the package: `python -m apldata info DB`, `python -m apldata ingest SOURCE... DB`."""

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from apldata.ingesting import load_extension

_HELP = """python -m apldata ingest [OPTION]... SOURCE... DB
    make a store: of Parquet or Arrow files, or of a dataset saved by Hugging Face's library; aplingest reads
    any other source: images in folders, CIFAR, archives, ...
python -m apldata export --format parquet DB FILE
    write a store as a Parquet file
"""
_COMMANDS = Path(__file__).absolute().parent / "bin"


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
    """Reads what Python reads. Becomes aplingest for anything else, which needs the same libraries as the
    extension: one line says which is missing."""
    try:
        load_extension()
    except ImportError as error:
        sys.exit(str(error))
    _become("aplingest", arguments)


def aplingest() -> NoReturn:
    """The command `aplingest`."""
    _ingest(sys.argv[1:])


def _export(arguments: list[str]) -> NoReturn:
    """`export --format parquet`, which is written in Python; 0, or 1 after a line that says what is wrong."""
    from apldata import Error, export

    about = "Writes the records of a store into a Parquet file. `apldata export` writes the other formats."
    parser = argparse.ArgumentParser("python -m apldata export", description=about)
    parser.add_argument("db", help="the store")
    parser.add_argument("out", help="the file")
    parser.add_argument("--format", choices=["parquet"], required=True)
    parser.add_argument("--split", metavar="NAME", help="only this split")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    given = parser.parse_args(arguments)
    try:
        print(f"{export(given.db, given.out, split=given.split, replace=given.force):,} records")
    except Error as error:
        sys.exit(f"python -m apldata export: {error}")
    sys.exit(0)


def main() -> NoReturn:
    """`python -m apldata`: aplingest if the first word is `ingest`, else apldata."""
    if sys.argv[1:2] == ["ingest"]:
        from apldata.converting import _command

        if _command.is_ours(sys.argv[2:]):
            _command.main(sys.argv[2:])
        _ingest(sys.argv[2:])
    if sys.argv[1:2] == ["export"] and "parquet" in " ".join(sys.argv[2:]).replace("=", " ").split():
        _export(sys.argv[2:])
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(_HELP)
    apldata()


if __name__ == "__main__":
    main()
