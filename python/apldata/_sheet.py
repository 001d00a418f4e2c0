"""Contact sheets: some pictures as one PNG with room for a caption under each."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

_COLUMNS = 8  # pictures in a row
_SIDE, LARGEST = 64, 128  # pixels on the screen that a side should have, and may have
_GAP, _CAPTION = 6, 18  # pixels on the screen; multiples of every scale
_SCALES = (6, 3, 2, 1)


def png(pixels: np.ndarray) -> bytes:
    """A PNG of the picture u8 (height, width, 4): red, green, blue, opacity."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    height, width, _ = pixels.shape
    rows = pixels.reshape(height, width * 4)
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    filtered = np.hstack(
        [np.full((height, 1), 2, np.uint8), rows - above]
    )  # each line starts with its filter: up
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    content = zlib.compress(filtered.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def is_picture(value: Any) -> bool:
    """Is it an array of pictures, (rows, channels, height, width), (rows, height, width, channels) or (rows,
    height, width), or a list of such pictures?"""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, np.ndarray) or first.size == 0:
        return False
    if first.ndim - (not isinstance(value, list)) not in (2, 3):
        return False
    return first.dtype.kind in "uifb" and min(sorted(first.shape)[-2:]) >= 4


def _rgb(picture: np.ndarray) -> np.ndarray:
    """As (height, width, 3): the first three channels, or the first if there are fewer."""
    if picture.ndim == 2:
        picture = picture[None]
    if picture.shape[2] < picture.shape[0]:
        picture = picture.transpose(2, 0, 1)
    planes = picture[:3] if len(picture) >= 3 else picture[[0, 0, 0]]
    step = max(1, -(-max(planes.shape[1:]) // LARGEST))
    return planes[:, ::step, ::step].transpose(1, 2, 0)


def _as_bytes(pictures: list[np.ndarray]) -> list[np.ndarray]:
    """Bytes as they are; other numbers from the smallest (black) to the largest (white) of all."""
    if all(picture.dtype == np.uint8 for picture in pictures):
        return pictures
    floats = [np.where(np.isfinite(p), p, np.nan).astype(np.float64) for p in pictures]
    known = np.concatenate([p[~np.isnan(p)] for p in floats])
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    scale = 255 / (high - low) if high > low else 0.0
    return [np.rint(np.nan_to_num((p - low) * scale)).astype(np.uint8) for p in floats]


def _caption(text: str, left: int, top: int, width: int) -> str:
    style = (
        f"position:absolute;left:{left}px;top:{top}px;width:{width}px;overflow:hidden;text-overflow:ellipsis;"
        "white-space:nowrap;text-align:center;font:11px/16px sans-serif"
    )
    text = html.escape(text)
    return f'<span style="{style}" title="{text}">{text}</span>'


def sheet(pictures: Sequence[np.ndarray], captions: Sequence[str] = ()) -> str:
    """HTML of pictures, any number of any sizes, with captions for as many as have some."""
    tiles = _as_bytes([_rgb(picture) for picture in pictures])
    height, width = (max(tile.shape[axis] for tile in tiles) for axis in (0, 1))
    scale = next(s for s in _SCALES if s == 1 or s * max(height, width) <= _SIDE)
    down, right = height + (_GAP + (_CAPTION if captions else 0)) // scale, width + _GAP // scale
    rows, columns = -(-len(tiles) // _COLUMNS), min(len(tiles), _COLUMNS)
    pixels, texts = np.zeros((rows * down, columns * right, 4), np.uint8), []
    for number, tile in enumerate(tiles):
        top, left = number // _COLUMNS * down, number % _COLUMNS * right
        place = pixels[top : top + tile.shape[0], left : left + tile.shape[1]]
        place[..., :3], place[..., 3] = tile, 255
        if number < len(captions):
            texts.append(_caption(captions[number], left * scale, (top + height) * scale, width * scale))
    data = base64.b64encode(png(pixels)).decode()
    size = f"width:{pixels.shape[1] * scale}px;height:{pixels.shape[0] * scale}px"
    style = f"{size};max-width:none;margin:0;image-rendering:pixelated"
    image = f'<img alt="" src="data:image/png;base64,{data}" style="{style}">'
    return f'<div style="position:relative;{size};margin-top:8px">{image}{"".join(texts)}</div>'
