"""The bytes of files that values are or name, and what the header of an image says."""

from __future__ import annotations

from typing import Any

from .._arguments import shown
from .._errors import Error, InvalidTypeError, SourceError
from ._decoding import header, mask_header
from ._images import DecodedImage, File, Header
from ._told import Column


def files_of(values: Column) -> list[Any]:
    """Values of which texts are where files lie."""
    return [File(None, value, value) if isinstance(value, str) else value for value in values]


def bytes_of(value: Any, outside: bool) -> bytes:
    """Those of a file; none for what is missing."""
    if isinstance(value, File) and value.data is None and not outside:
        raise SourceError(
            f"names the file {shown(value.name)} and does not hold it: types={{...: 'file'}} reads it"
        )
    if isinstance(value, File):
        return value.read()
    if isinstance(value, DecodedImage):
        raise InvalidTypeError("is an image that has been decoded, where files are kept")
    if value is not None and not isinstance(value, bytes):
        raise InvalidTypeError(f"must be bytes; got {shown(value)} ({type(value).__name__})")
    return value or b""


def file_of_image(value: Any, outside: bool) -> bytes:
    data = bytes_of(value, outside)
    if not data:
        raise SourceError("is empty")
    return data


def header_of(
    value: Any, outside: bool, as_mask: bool, allow_warnings: bool
) -> Header | DecodedImage | str | None:
    """What an image is, or a mask; or why it cannot be told."""
    try:
        if isinstance(value, DecodedImage):
            return value.as_mask() if as_mask else value
        if value is None:
            return None
        return (mask_header if as_mask else header)(file_of_image(value, outside), allow_warnings)
    except Error as error:
        return str(error)
