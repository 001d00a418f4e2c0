"""How near the crops of reader/photo/ are to Pillow's:  photo_quality.py BENCH_PHOTO FOLDER [IMAGES]

Of each image below FOLDER one box, drawn as RandomResizedCrop draws it, is resized to 224 x 224 pixels by
both. Prints the mean and the worst peak signal-to-noise ratio over images, and the mean difference in
levels, beside the bars. Needs numpy and pillow.
"""

import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

SIDE = 224


def box(width: int, height: int, r: random.Random) -> tuple[int, int, int, int]:
    for _ in range(10):
        area = width * height * r.uniform(0.08, 1)
        ratio = math.exp(r.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return r.randint(0, width - w), r.randint(0, height - h), w, h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side


def theirs(path: Path, crop: tuple[int, int, int, int]) -> np.ndarray:
    left, top, width, height = crop
    with Image.open(path) as image:
        part = image.convert("RGB").crop((left, top, left + width, top + height))
    return np.asarray(part.resize((SIDE, SIDE), Image.Resampling.BILINEAR)).transpose(2, 0, 1)


def measure(bench: str, crops: list[tuple[Path, tuple[int, int, int, int]]], *options: str) -> None:
    lines = "".join(f"{path} {' '.join(map(str, crop))} {SIDE} {SIDE}\n" for path, crop in crops)
    done = subprocess.run(
        [bench, "--pixels", *options], input=lines.encode(), stdout=subprocess.PIPE, check=True
    )
    ours = np.frombuffer(done.stdout, np.uint8).reshape(len(crops), 3, SIDE, SIDE)
    psnr, levels = [], []
    for pixels, (path, crop) in zip(ours, crops, strict=True):
        difference = pixels.astype(np.float64) - theirs(path, crop)
        levels.append(np.abs(difference).mean())
        psnr.append((10 * math.log10(255**2 / max(1e-9, (difference**2).mean())), str(path)))
    mean, worst = np.mean([p for p, _ in psnr]), min(psnr)
    bars = (56, None) if options else (50, 39)
    name = "exact chroma" if options else "planes"
    print(f"{name:13} mean {mean:.1f} dB (>= {bars[0]}), {np.mean(levels):.2f} levels;", end=" ")
    print(f"worst {worst[0]:.1f} dB{f' (>= {bars[1]})' if bars[1] else ''}: {worst[1]}")


def main() -> None:
    bench, folder = sys.argv[1], Path(sys.argv[2])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 10**9
    r, crops = random.Random(1), []
    for path in sorted(p for p in folder.rglob("*") if p.is_file())[:most]:
        with Image.open(path) as image:
            if image.format == "JPEG":
                crops.append((path, box(*image.size, r)))
    print(f"{len(crops)} images")
    measure(bench, crops)
    measure(bench, crops, "exact")


main()
