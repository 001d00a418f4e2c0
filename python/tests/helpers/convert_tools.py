"""What the tests of apldata.convert() share."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import apldata


def made(source: Any, db: Path, **options: Any) -> apldata.Store:
    """The store that convert() makes, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apldata.IngestWarning)
        apldata.convert(source, db, threads=1, **options)
    return apldata.Store(db)


def types_of(store: apldata.Store) -> dict[str, str]:
    return {field.name: field.type for field in store.schema}


def pixels(number: int, width: int = 20, channels: int = 3) -> np.ndarray:
    """An image of 16 rows, with channels last."""
    y, x = np.mgrid[:16, :width]
    found = np.stack([x * 7 + number, y * 9, x + y + number], -1).astype(np.uint8)
    return found[..., 0] if channels == 1 else found


def file(number: int, kind: str = "JPEG", **more: Any) -> bytes:
    """The same as a file."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(pixels(number, **more)).save(out, kind)
    return out.getvalue()
