"""What verifying a store has found."""

from __future__ import annotations

from collections.abc import Iterable

from ._errors import CorruptError
from .schema import BadBlock


def bad_blocks(found: Iterable[tuple[str, int, int, int, list[int], str]]) -> list[BadBlock]:
    """As the extension tells of them, in the order of their records."""
    blocks = (BadBlock(*block[:4], tuple(block[4]), block[5]) for block in found)
    return sorted(blocks, key=lambda block: block.first)


def corrupt(path: str, bad: list[BadBlock]) -> CorruptError:
    """The error that names the first of the bad blocks, of which there is one at least."""
    first, more = bad[0], len(bad) - 1
    place = f"{path}: {first.member}: block {first.block} (records {first.first} to "
    place += f"{first.first + first.records - 1}): {first.message}"
    others = f" (and {more} more block{'s' if more > 1 else ''})" if more else ""
    return CorruptError(place + others, 0, first.first, first.records)
