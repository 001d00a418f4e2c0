"""Masks that the tests draw."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


def numbers(height: int, width: int) -> np.ndarray:
    """A slope, which no flip and no turn leaves as it is."""
    y, x = np.mgrid[:height, :width]
    return (x * 150 // width + y * 90 // height).astype("u1")


def with_palette(pixels: np.ndarray) -> Any:
    mask = Image.fromarray(pixels)
    mask.putpalette(bytes(range(255, -1, -1)) * 3)
    return mask


def file_of(image: Any, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()
