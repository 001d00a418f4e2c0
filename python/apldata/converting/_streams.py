"""Streams of Arrow in files: those that were cut short between two batches, which reading does not tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .._arguments import brief
from .._errors import SourceError
from ._valid import DAMAGED

_END = b"\xff\xff\xff\xff\0\0\0\0"


def check_whole(path: Path) -> None:
    """Refuses a stream without the mark at its end; only the headers of its batches are read."""
    mapped = pa.memory_map(str(path))
    reader, end = pa.ipc.MessageReader.open_stream(mapped), 0
    with suppress(StopIteration):
        while True:
            reader.read_next_message()
            end = mapped.tell()
    mapped.seek(end)
    if mapped.read(len(_END)) != _END:
        raise SourceError(
            f"{path}: is cut short: the mark at the end of the stream is missing; if all batches are there, "
            "give them as a table, pyarrow.ipc.open_stream(path).read_all()"
        )


def _saved_files(path: Path) -> Iterator[Path]:
    """Those of a dataset that Hugging Face's library saved, or of each split of one."""
    for state in sorted([*path.glob("state.json"), *path.glob("*/state.json")]):
        with suppress(OSError, ValueError, KeyError, TypeError):  # loading it tells what is wrong
            names = [file["filename"] for file in json.loads(state.read_text())["_data_files"]]
            yield from (state.parent / name for name in names)


def check_saved(path: Path) -> None:
    """Refuses a saved dataset of which a file has been cut short."""
    for file in filter(Path.is_file, _saved_files(path)):
        try:
            check_whole(file)
        except DAMAGED as error:
            raise SourceError(f"{file}: {brief(str(error), 300)}") from None
