"""python -m apldata ingest, of files that are read in Python: Parquet, Arrow, saved datasets."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

from .._errors import Error
from .._units import share, size
from . import convert
from ._files import kind_of

_PROG = "python -m apldata ingest"
_ABOUT = """Makes a store of Parquet or Arrow files, directories of such, or a dataset saved by Hugging
Face's library. aplingest reads any other source: see `aplingest --help`."""


def is_ours(arguments: list[str]) -> bool:
    """Is one of the sources of a kind that Python reads? Options of unknown meaning are passed over."""
    return any(not one.startswith("-") and kind_of(Path(one)) for one in arguments[:-1])


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r}: NAME=... is needed")
    return name, value


def _classes(text: str) -> tuple[str, list[str] | None]:
    name, equals, value = text.partition("=")
    return name, value.split(",") if equals else None


def _type(text: str) -> tuple[str, Any]:
    """f32, or f32[3,-1], of a field."""
    name, value = _pair(text)
    dtype, bracket, shape = value.partition("[")
    if not bracket:
        return name, dtype
    try:
        return name, (dtype, tuple(int(one) for one in shape.removesuffix("]").split(",") if one))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: a type is written as f32 or f32[3,-1]") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(_PROG, description=_ABOUT, allow_abbrev=False)
    add = parser.add_argument
    add("source", nargs="+", help="files, or directories")
    add("db", help="the directory of the store, which is created")
    add("--split", metavar="NAME", help="the split that the records belong to, or the only one to take")
    add("--fields", metavar="A,B=C", help="the columns that become fields; B=C: B becomes the field C")
    add("--type", metavar="NAME=TYPE", type=_type, action="append", default=[],
        help="the type of a field, such as f32, u8[-1,-1,3], file or json")  # fmt: skip
    add("--classes", metavar="NAME[=A,B]", type=_classes, action="append", default=[],
        help="the names of the classes; without them, the sorted values of a text column")  # fmt: skip
    add("--missing", choices=["skip"], help="leave out rows that lack a value")
    add("--fill", metavar="NAME=JSON", type=_pair, action="append", default=[],
        help="a value for rows that lack one in this field")  # fmt: skip
    add("--keep-bytes", action="store_true", help="keep all files as they are, even images other than JPEG")
    add("--keep-files", action="store_true", help="store JPEGs as they came, without an index for crops")
    add("--decode", action="store_true", help="store the pixels of all images")
    add("--skip-bad", metavar="N", type=int, default=0, help="leave out up to N bad images")
    add("--partial", action="store_true", help="accept a series of files of which some are missing")
    add("--allow-warnings", action="store_true", help="keep images that their library only warns of")
    add("--no-check", action="store_true", help="keep images without decoding each once")
    add("-j", "--threads", metavar="N", type=int, help="threads that encode (default: one per core)")
    more = "records in a block (default: 128; more of small, fewer of large ones)"
    add("-b", "--block-records", metavar="N", type=int, default=0, help=more)
    add("-l", "--level", metavar="N", type=int, default=0, help="zstd level (default: the smallest result)")
    add("--codec", metavar="NAME", help="codec of the inputs (default: the smallest result)")
    add(
        "--shuffle",
        metavar="SEED",
        type=int,
        nargs="?",
        const=0,
        help="store records in a keyed random order; --shuffle=SEED",
    )
    add("--force", action="store_true", help="replace an existing store")
    add("--json", action="store_true", help="print one JSON object instead of the summary")
    add("--no-progress", action="store_true", help="no progress bar")
    add("-q", "--quiet", action="store_true", help="print errors only")
    return parser


def _fields(text: str | None) -> Any:
    if text is None:
        return None
    pairs = [one.partition("=") for one in text.split(",")]
    return {old: new or old for old, _, new in pairs}


def _options(parser: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    if given.keep_bytes and given.decode:
        parser.error("--keep-bytes and --decode exclude each other")
    if given.missing and given.fill:
        parser.error("--missing and --fill exclude each other")
    try:
        fill = {name: json.loads(value) for name, value in given.fill}
    except ValueError as error:
        parser.error(f"--fill: {error}; text is written as NAME='\"text\"'")
    classes = dict(given.classes)
    named = {name: found for name, found in classes.items() if found is not None}
    if named and len(named) < len(classes):
        parser.error("--classes: name the classes of all fields, or of none")
    return {
        "split": given.split, "fields": _fields(given.fields), "types": dict(given.type) or None,
        "classes": named or list(classes) or None, "missing": given.missing or fill or None,
        "keep_bytes": True if given.keep_bytes else False if given.decode else None,
        "skip_bad": given.skip_bad, "check": not given.no_check,
        "allow_warnings": given.allow_warnings, "keep_files": given.keep_files,
        "partial": given.partial,
        "threads": given.threads, "block_records": given.block_records, "level": given.level,
        "codec": given.codec, "shuffle": given.shuffle, "replace": given.force,
    }  # fmt: skip


def main(arguments: list[str]) -> NoReturn:
    """Does it, and ends the process: 0, or 1 after a line that says what is wrong; 2: wrong arguments."""
    parser = _parser()
    given = parser.parse_args(arguments)
    options = _options(parser, given)
    loud = not (given.quiet or given.no_progress) and sys.stderr.isatty()

    def notice(message: Warning | str, *_: Any, **__: Any) -> None:
        if not given.quiet:
            print(f"{_PROG}: {message}", file=sys.stderr)

    warnings.showwarning = notice
    source = given.source[0] if len(given.source) == 1 else given.source
    try:
        done = convert(source, given.db, progress=loud, **options)
    except Error as error:
        if given.json:
            print(json.dumps({"ok": False, "status": error.status, "error": str(error)}))
        sys.exit(f"{_PROG}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    if given.json:
        print(json.dumps({"ok": True, "source": given.source, **dataclasses.asdict(done)}))
    elif not given.quiet and not loud:
        print(f"{done.records:,} records, {size(done.raw_bytes)} -> {size(done.file_bytes)} "
              f"({share(done.file_bytes, done.raw_bytes)}), {done.seconds:.1f} s")  # fmt: skip
    sys.exit(0)
