"""`apldata check` compares the images of kept files like those of pixels."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND

from apldata import Field, Writer

Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")

KEPT = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}


def photograph(seed: int) -> Any:
    """Light and dark areas, some fine structure, and a little noise."""
    random = np.random.default_rng(seed)
    coarse, fine = (
        Image.fromarray(random.integers(0, 255, (n, n, 3), "u1")).resize((320, 240), Image.Resampling.BICUBIC)
        for n in (6, 40)
    )
    noise = random.normal(0, 4, (240, 320, 3))
    mixed = 0.75 * np.asarray(coarse, "f4") + 0.25 * np.asarray(fine, "f4") + noise
    return Image.fromarray(mixed.clip(0, 255).astype("u1"))


def encoded(image: Any, kind: str, quality: int) -> bytes:
    data = io.BytesIO()
    image.save(data, kind, quality=quality)
    return data.getvalue()


def make(db: Path, kind: str) -> Path:
    """Twelve in "train"; in "test" six of them at half their size and a low quality, and six others."""
    kept = [Field("image", "u8", media=KEPT[kind])] if kind in KEPT else [Field("image", "u8", (-1, -1, -1))]

    def value(image: Any, quality: int) -> Any:
        if kind in KEPT:
            return encoded(image, kind, quality)
        through = Image.open(io.BytesIO(encoded(image, "JPEG", quality)))
        return np.ascontiguousarray(np.asarray(through).transpose(2, 0, 1))

    with Writer(str(db), kept) as writer:
        writer.begin("train")
        for i in range(12):
            writer.append(image=value(photograph(i), 92))
        writer.begin("test")
        for i in range(6, 18):
            image = photograph(i)
            writer.append(image=value(image.resize((160, 120)) if i < 12 else image, 50))
    return db


def check(db: Path, *options: str) -> tuple[int, dict[str, Any]]:
    command = [str(COMMAND), "check", "--leaks", "--json", *options, str(db)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "pixels"])
def test_smaller_copies_are_found_and_others_are_not(tmp_path: Path, kind: str) -> None:
    status, report = check(make(tmp_path / "db", kind))
    assert status == 0
    assert report["images"] == {
        "field": "image",
        "media": KEPT.get(kind),
        "compared": 24,
        "undecodable": 0,
        "first_undecodable": None,
    }
    found = report["pairs"][0]["near_duplicates"]
    assert sorted(pair[:2] for pair in found) == [[12 + i, 6 + i] for i in range(6)]
    assert max(pair[2] for pair in found) <= 8


def test_files_that_cannot_be_compared_are_told(tmp_path: Path) -> None:
    db = make(tmp_path / "db", "WEBP")
    status, report = check(db)
    assert (status, report["images"], report["near_bits"]) == (0, None, None)
    status, report = check(db, "--near", "20")
    assert status == 1
    assert report["error"].endswith("or JPEG or PNG files; image holds image/webp")


def test_a_file_of_png_that_does_not_decode_is_told(tmp_path: Path) -> None:
    with Writer(str(tmp_path / "db"), [Field("image", "u8", media="image/png")]) as writer:
        for split in ("train", "test"):
            writer.begin(split)
            for i in range(3):
                writer.append(image=encoded(photograph(i), "PNG", 0)[: 300 if i == 1 else None])
    _, report = check(tmp_path / "db")
    assert (report["images"]["compared"], report["images"]["undecodable"]) == (4, 2)
    assert report["images"]["first_undecodable"]["id"] == 1
