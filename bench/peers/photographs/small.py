"""JPEGs of 32 x 32 pixels, kept as JPEG, beside libjpeg-turbo: small.py FOLDER BENCH_BOXES ROUNDS IMAGES.JSON

Cuts them out of photographs by Pillow, and prints the least CPU seconds an image of both: an epoch of APL's
reader on one thread, u8; and libjpeg-turbo alone, one decoder for all, from memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

import apldata

SIDE, EACH, BATCH = 32, 16, 256


def cut(files: list[str], folder: Path) -> list[str]:
    """Of each photograph the same number of squares, each a file."""
    made = []
    folder.mkdir(parents=True)
    for path in files:
        with Image.open(path) as image:
            whole = image.convert("RGB").resize((4 * SIDE, 4 * SIDE))
        for k in range(EACH):
            left, top = k % 4 * SIDE, k // 4 * SIDE
            made.append(str(folder / f"{len(made):06}.jpg"))
            whole.crop((left, top, left + SIDE, top + SIDE)).save(made[-1], quality=90)
    return made


def main() -> None:
    folder, tool, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    files = cut(json.loads(Path(sys.argv[4]).read_text())["files"], folder / "images" / "all" / "small")
    (folder / "boxes.txt").write_text("".join(f"0 0 {SIDE} {SIDE} {path}\n" for path in files))
    apldata.ingest(str(folder / "images"), str(folder / "db"), keep_files=True)
    transforms = [apldata.CenterCrop(SIDE)]
    loader = apldata.Loader(
        str(folder / "db"),
        split="train",
        batch_size=BATCH,
        threads=1,
        transforms=transforms,
        fields=["image"],
    )
    own, bare = [], []
    for _ in range(rounds + 1):
        begin = time.process_time()
        count = sum(len(batch["image"]) for batch in loader)
        own.append((time.process_time() - begin) / count)
        done = subprocess.run(
            [tool, "whole", str(folder / "boxes.txt")],
            input="\n\n",
            capture_output=True,
            text=True,
            check=True,
        )
        bare += [float(line.split()[0]) / count for line in done.stdout.splitlines()]
    print(json.dumps({"small apl": min(own), "small bare": min(bare)}))


if __name__ == "__main__":
    main()
