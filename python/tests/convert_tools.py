"""What the tests of apldata.convert() share."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import apldata


def made(source: Any, db: Path, **options: Any) -> apldata.Store:
    """The store that convert() makes, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apldata.IngestWarning)
        apldata.convert(source, db, threads=1, **options)
    return apldata.Store(db)


def types_of(store: apldata.Store) -> dict[str, str]:
    return {field.name: field.type for field in store.schema}
