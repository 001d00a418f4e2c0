"""Images that their library only warns of: bad in ingest() and convert(), unless `allow_warnings`."""

from __future__ import annotations

import io
import tarfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata

Image = pytest.importorskip("PIL.Image")
FILES = Path(__file__).resolve().parents[2] / "tests/ingest/images/warned.tar.xz"
JPEGS = ("zeros-420.jpeg", "half-grey.jpeg", "stray.jpeg", "zeros-restarts.jpeg")
OTHERS = ("odd-count.tif", "not-ascending.tif", "no-end.png", "sum-behind.png", "no-end.gif")


@cache
def warned_files() -> dict[str, bytes]:
    with tarfile.open(FILES) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]


def whole(mode: str = "RGB", kind: str = "JPEG") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (48, 36), 40).save(out, kind)
    return out.getvalue()


def told_by(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", apldata.IngestWarning)
        call()
    return [str(one.message) for one in caught if "kept with a warning" in str(one.message)]


def made(files: dict[str, bytes], place: Path, by: str, **options: Any) -> tuple[apldata.Store, list[str]]:
    (place / "in" / "c").mkdir(parents=True)
    for name, data in files.items():
        (place / "in" / "c" / name).write_bytes(data)
    rows = [{"image": {"bytes": files[name], "path": f"c/{name}"}, "label": 0} for name in sorted(files)]
    db = place / "db"
    if by == "ingest":
        told = told_by(lambda: apldata.ingest(place / "in", db, **options))
    else:
        told = told_by(lambda: apldata.convert(rows, db, classes={"label": ["c"]}, **options))
    return apldata.Store(db), told


@pytest.mark.parametrize("by", ["ingest", "convert"])
@pytest.mark.parametrize("name", [*JPEGS, *OTHERS])
def test_a_warning_makes_a_file_bad(tmp_path: Path, by: str, name: str) -> None:
    with pytest.raises(apldata.Error, match=r"JPEG: |TIFF: |PNG: |GIF: |does not read"):
        made({name: warned_files()[name]}, tmp_path, by)


@pytest.mark.parametrize("names", [JPEGS, OTHERS], ids=["jpeg", "pixels"])
def test_files_that_are_kept_are_named_and_as_pillow_reads_them(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    """convert() makes the same store as ingest()."""
    jpeg = names is JPEGS
    files = {name: warned_files()[name] for name in names}
    files["whole"] = whole("RGB", "JPEG" if jpeg else "PNG")
    if jpeg:
        files["whole.jpg"] = files.pop("whole")
    else:
        files["whole.png"] = files.pop("whole")
    try:
        a, told_a = made(files, tmp_path / "a", "ingest", allow_warnings=True)
    except apldata.UnsupportedError as error:
        pytest.skip(str(error))
    b, told_b = made(files, tmp_path / "b", "convert", allow_warnings=True)
    assert a.content_digest == b.content_digest
    for told in (told_a, told_b):
        assert sorted(name for name in files for line in told if f"c/{name}" in line) == sorted(names)
    for row, name in enumerate(sorted(files)):
        if name in names:
            as_it_was = np.asarray(Image.open(io.BytesIO(files[name])).convert("RGB"))
            kept = a[row]["image"]
            if jpeg:
                kept = np.asarray(Image.open(io.BytesIO(bytes(kept))).convert("RGB")).transpose(2, 0, 1)
            assert (kept == as_it_was.transpose(2, 0, 1)).all(), name


@pytest.mark.parametrize("by", ["ingest", "convert"])
def test_a_file_that_ends_early_is_bad_all_the_same(tmp_path: Path, by: str) -> None:
    with pytest.raises(apldata.Error, match="Premature end of JPEG file"):
        made({"1.jpg": whole()[:-2]}, tmp_path, by, allow_warnings=True)
