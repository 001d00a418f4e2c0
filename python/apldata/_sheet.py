"""Contact sheets: images, each with a caption under it, in as many columns as there is room for."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

_SIDE, LARGEST = 64, 128  # pixels on the screen that a side should have, and may have
_NARROWEST = 48  # pixels on the screen that a caption has at least
_SCALES = (6, 3, 2, 1)


def png(pixels: np.ndarray) -> bytes:
    """A PNG of the image u8 (height, width, 3): red, green, blue."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    height, width, _ = pixels.shape
    rows = pixels.reshape(height, width * 3)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    filtered = np.hstack(
        [np.full((height, 1), 2, np.uint8), rows - above]
    )  # each line starts with its filter: up
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    content = zlib.compress(filtered.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def are_images(value: Any) -> bool:
    """Is it an array of images, (rows, channels, height, width), (rows, height, width, channels) or (rows,
    height, width), or a list of such images?"""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, np.ndarray) or first.size == 0:
        return False
    if first.ndim - (not isinstance(value, list)) not in (2, 3):
        return False
    return first.dtype.kind in "uifb" and min(sorted(first.shape)[-2:]) >= 4


def _rgb(image: np.ndarray) -> np.ndarray:
    """As (height, width, 3): the first three channels, or the first if there are fewer."""
    if image.ndim == 2:
        image = image[None]
    if image.shape[2] < image.shape[0]:
        image = image.transpose(2, 0, 1)
    planes = image[:3] if len(image) >= 3 else image[[0, 0, 0]]
    step = max(1, -(-max(planes.shape[1:]) // LARGEST))
    return planes[:, ::step, ::step].transpose(1, 2, 0)


def _as_bytes(images: list[np.ndarray]) -> list[np.ndarray]:
    """Bytes as they are; other numbers from the smallest (black) to the largest (white) of all."""
    if all(image.dtype == np.uint8 for image in images):
        return images
    floats = [np.where(np.isfinite(p), p, np.nan).astype(np.float64) for p in images]
    known = np.concatenate([p[~np.isnan(p)] for p in floats])
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    scale = 255 / (high - low) if high > low else 0.0
    return [np.rint(np.nan_to_num((p - low) * scale)).astype(np.uint8) for p in floats]


def _caption(text: str) -> str:
    style = (
        "display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font:11px/16px sans-serif"
    )
    text = html.escape(text)
    return f'<span style="{style}" title="{text}">{text}</span>'


def _tile(pixels: np.ndarray, caption: str, scale: int) -> str:
    height, width, _ = pixels.shape
    data = base64.b64encode(png(pixels)).decode()
    style = f"width:{width * scale}px;height:{height * scale}px;max-width:none;margin:0 auto;display:block"
    alt = f'alt="{html.escape(caption)}" src="data:image/png;base64,{data}"'
    return f'<img {alt} style="{style};image-rendering:pixelated">' + (_caption(caption) if caption else "")


def sheet(images: Sequence[np.ndarray], captions: Sequence[str] = ()) -> str:
    """HTML of images, any number of any sizes, with captions for as many as have some."""
    tiles = _as_bytes([_rgb(image) for image in images])
    height, width = (max(tile.shape[axis] for tile in tiles) for axis in (0, 1))
    scale = next(s for s in _SCALES if s == 1 or s * max(height, width) <= _SIDE)
    style = f"width:{max(width * scale, _NARROWEST if captions else 0)}px;text-align:center"
    shown = zip(tiles, chain(captions, repeat("")), strict=False)
    body = "".join(f'<div style="{style}">{_tile(tile, text, scale)}</div>' for tile, text in shown)
    return f'<div style="display:flex;flex-wrap:wrap;align-items:end;gap:6px;margin-top:8px">{body}</div>'
