"""Batches and tables of Arrow that are what they say. Who makes them need not have checked that, and Arrow reads
what offsets and lengths say, wherever in memory that is."""

from __future__ import annotations

from typing import Any, TypeVar

import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .._arguments import brief
from .._errors import SourceError

# What Arrow raises where a file is damaged: some names are no text, some lengths none of memory.
DAMAGED = (pa.ArrowException, OSError, SystemError, UnicodeDecodeError, OverflowError)
_Checked = TypeVar("_Checked")


def checked(batch: _Checked) -> _Checked:
    """A batch or a table, all of whose offsets, lengths, texts and codes have been looked at.

    Raises:
        SourceError: one of them cannot be.
    """
    whole: Any = batch
    try:
        whole.validate(full=True)
    except DAMAGED as error:
        raise SourceError(
            f"the table is invalid ({brief(str(error), 200)}): a damaged file, or what made it is at fault, "
            "as pyarrow.json.read_json() is where a list begins with null"
        ) from None
    return batch
