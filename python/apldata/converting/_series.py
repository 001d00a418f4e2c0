"""Files that say how many they are, such as train-00001-of-00003.parquet, or that are numbered: which are
missing. By the same rules as in aplingest, in series.c."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from .._errors import IncompleteError

_SHARD = re.compile("(?<![0-9])([0-9]+)-of-(?=([0-9]+))")
_DIGITS = 9  # of a number, at most


def _shard(path: Path) -> tuple[bytes, int, int] | None:
    """What the path is up to the number, how many there are, and which it is; None: its name says nothing of
    the kind."""
    for found in _SHARD.finditer(path.name):
        number, total = found.groups()
        if max(len(number), len(total)) <= _DIGITS and int(number) <= int(total):
            return (
                os.fsencode(str(path).removesuffix(path.name) + path.name[: found.start()]),
                int(total),
                int(number),
            )
    return None


def _missing(numbers: Collection[int], total: int) -> Iterator[int]:
    """Those that are missing. Numbers begin with 0, or if the last is that of all, with 1."""
    first = int(total in numbers)
    return (number for number in range(first, first + total) if number not in numbers)


def check_series(paths: Iterable[Path]) -> None:
    """Refuses paths among which some of a series are missing: those in one folder whose names are the same up
    to the number, and end in any way.

    Raises:
        IncompleteError: some are.
    """
    series: dict[tuple[bytes, int], dict[int, Path]] = {}
    for path in paths:
        if shard := _shard(path):
            stem, total, number = shard
            series.setdefault((stem, total), {}).setdefault(number, path)
    for (_, total), known in sorted(series.items()):
        lacks = total - len(known)
        if lacks > 0:
            count = "1 shard" if total == 1 else f"{total} shards"
            raise IncompleteError(
                f"{known[min(known)]}: of the {count} that its name speaks of, {lacks} "
                f"{'is' if lacks == 1 else 'are'} missing, number {next(_missing(known, total))} first "
                "(--partial, or partial=True in Python, does without)"
            )


def gap(paths: Iterable[Path]) -> str | None:
    """What a series of files lacks between those that it has: files of one folder whose names differ only in
    a number, which has as many digits in all and zeros at its beginning."""
    series: dict[tuple[bytes, int, bytes], dict[int, Path]] = {}
    for path in paths:
        runs = list(re.finditer("[0-9]+", path.name))
        if not runs or _shard(path):
            continue
        found = max(runs, key=lambda run: (len(run[0]), run.start()))
        stem = os.fsencode(str(path).removesuffix(path.name) + path.name[: found.start()])
        if len(found[0]) <= _DIGITS:
            key = stem, len(found[0]), os.fsencode(path.name[found.end() :])
            series.setdefault(key, {}).setdefault(int(found[0]), path)
    for (stem, _, _), known in sorted(series.items()):
        first, last = min(known), max(known)
        lacks = last - first + 1 - len(known)
        if lacks and os.fsencode(known[first])[len(stem) :].startswith(b"0"):
            number = next(number for number in range(first, last) if number not in known)
            return (
                f"{known[first].name}: of the shards numbered {first} to {last}, {lacks} "
                f"{'is' if lacks == 1 else 'are'} missing, number {number} first"
            )
    return None
