"""A second perceptual hash, written from docs/THEORY.md alone, against that of `apldata check`.

    near_images.py APLDATA DB [--alter]

Compares what the splits "train" and "test" of a store of images are said to share with a search by NumPy
that looks at every pair, for 500 images of "test". With --alter (needs Pillow): how far the hashes of 1,500
images move when they are compressed, brightened, scaled, cropped. Exits with 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BITS = 12


def weights(pixels: int, cells: int) -> np.ndarray:
    """How much of each pixel is in each cell, in units of 1 / cells of a pixel: int64[cells, pixels]."""
    low = np.maximum(cells * np.arange(pixels)[None], pixels * np.arange(cells)[:, None])
    high = np.minimum(cells * np.arange(1, pixels + 1)[None], pixels * np.arange(1, cells + 1)[:, None])
    return np.maximum(high - low, 0)


def cells(luma: np.ndarray, across: int, down: int) -> np.ndarray:
    """int64[n, height, width] to sums over cells, int64[n, down, across]."""
    return np.einsum("yh,nhw,xw->nyx", weights(luma.shape[1], down), luma, weights(luma.shape[2], across))


def hashes(images: np.ndarray) -> np.ndarray:
    """uint8[n, 3, height, width] to uint64[n, 2]."""
    red, green, blue = images.astype(np.int64).transpose(1, 0, 2, 3)
    luma = (77 * red + 150 * green + 29 * blue + 128) >> 8
    rows, columns = cells(luma, 9, 8), cells(luma, 8, 9)
    bits = [rows[:, :, 1:] > rows[:, :, :-1], columns[:, 1:] > columns[:, :-1]]
    packed = [np.packbits(b.reshape(len(b), -1), axis=1, bitorder="little").view(np.uint64) for b in bits]
    return np.concatenate(packed, axis=1)


def distances(one: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The bits in which a hash differs from each of others: uint64[2], uint64[n, 2] to int[n]."""
    return np.unpackbits((one ^ many).view(np.uint8), axis=1).sum(axis=1, dtype=int)


def search(train: np.ndarray, test: np.ndarray, chosen: np.ndarray) -> dict[int, tuple[int, int]]:
    """Of each chosen image of `test` the nearest of `train`, and of several the first, if it is near."""
    found = {}
    for i in chosen:
        apart = distances(test[i], train)
        if apart.min() <= BITS:
            found[int(i)] = int(apart.argmin()), int(apart.min())
    return found


def alterations() -> dict[str, Callable[[Any], Any]]:
    from PIL import Image, ImageEnhance

    def jpeg(image: Any, quality: int) -> Any:
        data = io.BytesIO()
        image.save(data, "JPEG", quality=quality)
        return Image.open(data).convert("RGB")

    def scaled(image: Any, size: int) -> Any:
        return image.resize((size, size), Image.Resampling.BILINEAR).resize(
            image.size, Image.Resampling.BILINEAR
        )

    def cropped(image: Any, by: int) -> Any:
        box = (by, by, image.width - by, image.height - by)
        return image.crop(box).resize(image.size, Image.Resampling.BILINEAR)

    return {
        "JPEG, quality 75": lambda p: jpeg(p, 75),
        "JPEG, quality 40": lambda p: jpeg(p, 40),
        "contrast x 0.7": lambda p: ImageEnhance.Contrast(p).enhance(0.7),
        "brightness x 1.2": lambda p: ImageEnhance.Brightness(p).enhance(1.2),
        "scaled to 24 x 24 and back": lambda p: scaled(p, 24),
        "a pixel cut off at each side": lambda p: cropped(p, 1),
        "two pixels cut off at each side": lambda p: cropped(p, 2),
        "mirrored": lambda p: p.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    }


def alter(images: np.ndarray) -> None:
    from PIL import Image

    chosen = images[np.random.default_rng(0).choice(len(images), min(1500, len(images)), replace=False)]
    before = hashes(chosen)
    for name, change in alterations().items():
        changed = [
            np.asarray(change(Image.fromarray(p.transpose(1, 2, 0)))).transpose(2, 0, 1) for p in chosen
        ]
        moved = np.unpackbits((before ^ hashes(np.stack(changed))).view(np.uint8), axis=1).sum(
            axis=1, dtype=int
        )
        middle, most = np.percentile(moved, [50, 90])
        near = np.mean(moved <= BITS)
        print(f"{name}: {middle:.0f} bits in the middle, nine in ten at most {most:.0f}; {near:.0%} near")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("apldata")
    parser.add_argument("db")
    parser.add_argument("--alter", action="store_true")
    args = parser.parse_args()
    said = subprocess.run(
        [args.apldata, "check", "--json", "--near", str(BITS), args.db, "train", "test"],
        stdout=subprocess.PIPE,
    )
    pair = json.loads(said.stdout)["pairs"][0]
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([args.apldata, "export", "-q", "--format", "npy", args.db, f"{place}/npy"], check=True)
        train, test = (np.load(Path(place, "npy", f"{split}_image.npy")) for split in ("train", "test"))
    step = max(1, len(test) // 500)
    chosen = np.arange(0, len(test), step)
    due = search(hashes(train), hashes(test), chosen)
    is_there = {i - len(train): (other, bits) for i, other, bits in pair["near_duplicates"]}
    agree = due == {i: found for i, found in is_there.items() if i % step == 0}
    verdict = "the same" if agree else "NOT the same"
    print(f"{len(chosen)} of {len(test)} images looked at, {len(due)} near: {verdict}")
    if args.alter:
        alter(np.concatenate([train, test]))
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
