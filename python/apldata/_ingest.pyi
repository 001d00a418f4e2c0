"""The C library libaplingest. Use apldata.ingest instead."""

import os
from collections.abc import Callable

def ingest(
    source: str | bytes | os.PathLike[str],
    db: str | bytes | os.PathLike[str],
    codec: str | None,
    level: int,
    threads: int,
    block_records: int,
    shuffle: bool,
    seed: int,
    force: bool,
    partial: bool,
    format: str | None,
    skip_bad: int,
    unchecked: bool,
    keep_files: bool,
    allow_warnings: bool,
    more: list[bytes],
    classes: list[bytes],
    image_column: str | None,
    label_column: str | None,
    types: list[bytes],
    outside: bool,
    tokens: int,
    chunk: int,
    document_end: int,
    images: str | None,
    jpeg: int,
    sizes: tuple[int, int, int, int],
    orient: bool,
    map: list[bytes],
    map_name: str | None,
    follow_links: bool,
    more_image_columns: list[bytes],
    mask_columns: list[bytes],
    progress: Callable[[int, int, int, int, int, int], object] | None,
    notice: Callable[[str], object] | None,
    /,
) -> tuple[str, int, int, int, int, bytes]:
    """apl_ingest().

    progress gets (phase, records, source_bytes, source_size, raw_bytes, stored_bytes), at most ten times a
    second and at each change of phase; notice gets one line. What they raise cancels and is raised.

    Returns (format, records, raw_bytes, source_bytes, file_bytes, source_digest: 32 bytes).
    """

_Image = tuple[str, tuple[int, int, int], int, int, bool, bytes, tuple[str, ...], str | None]

def image_decode(file: bytes, bits: int, allow_warnings: bool, /) -> _Image:
    """apl_image_decode(): kind, shape, bits, orientation, palette, samples, remarks, first warning."""

def image_to_jpeg(file: bytes, unchecked: bool, allow_warnings: bool, /) -> _Image:
    """apl_image_to_jpeg(): as image_decode(), with a JPEG file for samples."""

def mask_decode(file: bytes, header: bool, allow_warnings: bool, /) -> _Image:
    """apl_mask_decode(): as image_decode()."""
