"""Images that `apldata export` writes, though their shape does not tell where the channels are, come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_export_command import export, make, picture, pytestmark  # noqa: F401

from apldata import Field, Store, ingest

LABEL = Field("label", "u8", (), "target")
FIRST = [(2, 9, 3), (4, 9, 3), (4, 3, 3), (2, 3, 3), (4, 20, 1), (2, 20, 4), (3, 20, 3), (1, 9, 2)]


def stored(db: Path, shape: tuple[int, ...]) -> Store:
    fields = [Field("image", "u8", shape, layout="CHW"), LABEL]
    return Store(make(db, fields, [{"image": picture(*shape) + n, "label": 0} for n in range(3)]))


@pytest.mark.parametrize("shape", [*FIRST, (200, 30, 3), (30, 20, 4), (5, 7, 2), (16, 20, 1)])
def test_webdataset_comes_back(tmp_path: Path, shape: tuple[int, ...]) -> None:
    store = stored(tmp_path / "db", shape)
    assert not (done := export(tmp_path / "db", tmp_path / "out", "--format", "webdataset")).returncode, done
    ingest(tmp_path / "out", tmp_path / "again")
    again = Store(tmp_path / "again")
    assert again.content_digest == store.content_digest and again.schema["image"].shape == shape


@pytest.mark.parametrize("shape", FIRST)
def test_folders_hold_narrow_images(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """The first dimension is that of the channels; a note says so, but of squares, and of what the store says so."""
    store = stored(tmp_path / "db", shape)
    done = export(tmp_path / "db", tmp_path / "out", "--format", "folder")
    is_unsaid = store.schema["image"].kind is None
    told = f"u8[{','.join(map(str, shape))}]: the first dimension is taken for the channels, not the last"
    assert done.returncode == 0 and (told in done.stderr) == (shape[1] != shape[2] and is_unsaid)
    ingest(tmp_path / "out", tmp_path / "again")
    again = Store(tmp_path / "again")
    assert [np.array_equal(again[n]["image"], store[n]["image"]) for n in range(3)] == [True] * 3


@pytest.mark.parametrize("shape", [(3, 9, 9), (30, 20, 3), (3, 9, 20)])
def test_what_is_clear_is_not_told(tmp_path: Path, shape: tuple[int, ...]) -> None:
    stored(tmp_path / "db", shape)
    done = export(tmp_path / "db", tmp_path / "out", "--format", "folder")
    assert done.returncode == 0 and "taken for the channels" not in done.stderr
