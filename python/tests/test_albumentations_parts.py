"""Transforms of Albumentations that follow each other: each draws for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_tools import epoch

A = pytest.importorskip("albumentations")

import apldata  # noqa: E402
from apldata import PerPicture  # noqa: E402

RECORDS = 400
NEVER = A.Transpose(p=0.0)  # what follows runs in Python
ACROSS, DOWN = A.HorizontalFlip(p=1.0), A.VerticalFlip(p=1.0)


def nothing(batch: Any) -> None:
    """A function between others."""


LISTS = {
    "alone": lambda: [NEVER, A.HorizontalFlip(), A.VerticalFlip()],
    "composed": lambda: [A.Compose([NEVER, A.HorizontalFlip()]), A.Compose([NEVER, A.VerticalFlip()])],
    "nested": lambda: [
        A.Compose([NEVER, A.Compose([A.HorizontalFlip()])]),
        A.Compose([A.Compose([A.VerticalFlip()], p=1.0), NEVER]),
    ],
    "both in one": lambda: [
        A.Compose([NEVER, A.Compose([A.HorizontalFlip()]), A.Compose([A.VerticalFlip()])])
    ],
    "one of": lambda: [A.OneOf([ACROSS, NEVER], p=0.5), A.OneOf([DOWN, NEVER], p=0.5)],
    "some of": lambda: [A.SomeOf([ACROSS], n=1, p=0.5), A.SomeOf([DOWN], n=1, p=0.5)],
    "sequences": lambda: [A.Sequential([ACROSS], p=0.5), A.Sequential([DOWN], p=0.5)],
    "others between": lambda: [A.OneOf([ACROSS], p=0.5), NEVER, NEVER, A.Sequential([DOWN], p=0.5)],
    "beside PerPicture": lambda: [NEVER, A.HorizontalFlip(), PerPicture(A.VerticalFlip())],
    "PerPicture first": lambda: [PerPicture(A.Compose([NEVER, A.HorizontalFlip()])), A.VerticalFlip()],
    "a function between": lambda: [NEVER, A.HorizontalFlip(), nothing, A.VerticalFlip()],
}


@pytest.fixture(scope="module")
def ramps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images whose first channel grows to the right, and the second downwards."""
    path = tmp_path_factory.mktemp("ramps") / "s"
    down, right = np.mgrid[:40, :40]
    image = np.stack([right * 6, down * 6, down * 0]).astype(np.uint8)
    with apldata.Writer(path, {"image": ("u8", (3, 40, 40))}) as writer:
        writer.begin("test")
        writer.extend(image=np.broadcast_to(image, (RECORDS, 3, 40, 40)))
    return path


@pytest.mark.parametrize("name", LISTS)
def test_flips_are_independent(ramps: Path, name: str) -> None:
    made = epoch(ramps, LISTS[name](), seed=1).astype(int)
    across, down = made[:, 0, 0, 0] > made[:, 0, 0, -1], made[:, 1, 0, 0] > made[:, 1, -1, 0]
    for one in (across, ~across):
        for other in (down, ~down):
            assert 70 < (one & other).sum() < 130  # of 100: five sigma are 43, and these draws are fixed
    assert abs(np.corrcoef(across, down)[0, 1]) < 0.15


def test_crops_and_flips_are_independent(ramps: Path) -> None:
    made = epoch(ramps, [NEVER, A.RandomCrop(32, 32), A.HorizontalFlip()], seed=1).astype(int)
    across, top = made[:, 0, 0, 0] > made[:, 0, 0, -1], made[:, 1, 0, 0]
    assert 150 < across.sum() < 250 and len(set(top)) == 9
    assert abs(np.corrcoef(across, top)[0, 1]) < 0.15


def test_the_first_draws_as_alone(ramps: Path) -> None:
    crop = A.OneOf([A.RandomCrop(20, 20)], p=1.0)
    alone = epoch(ramps, crop, ids=range(20))
    assert np.array_equal(epoch(ramps, [crop, NEVER], ids=range(20)), alone)


def test_draws_do_not_depend_on_threads_and_batches(ramps: Path) -> None:
    steps = [NEVER, A.RandomCrop(32, 32), A.HorizontalFlip(), A.VerticalFlip()]
    first = epoch(ramps, steps, threads=1, ids=range(60))
    assert np.array_equal(epoch(ramps, steps, threads=3, batch_size=7, ids=range(60)), first)
