"""Images of one channel that are to have three, as for networks that were trained on colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import apldata
from apldata import Grayscale, Loader

v1 = pytest.importorskip("torchvision.transforms")
v2 = pytest.importorskip("torchvision.transforms.v2")


@pytest.fixture(params=[(1, 6, 5), (6, 5)], ids=["plane", "bare"])
def grey(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, np.ndarray]:
    images = np.arange(4 * 30, dtype=np.uint8).reshape(4, *request.param)
    apldata.convert({"image": images}, tmp_path / "s")
    return str(tmp_path / "s"), images.reshape(4, 1, 6, 5)


@pytest.mark.parametrize(
    "step",
    [
        v1.Grayscale(3),
        v2.Grayscale(3),
        v1.Compose([v1.Grayscale(3)]),
        v2.Compose([v2.Grayscale(3)]),
        v2.RGB(),
    ],
    ids=["v1", "v2", "v1 composed", "v2 composed", "RGB"],
)
def test_torchvisions_makes_three(grey: tuple[str, np.ndarray], step: object) -> None:
    path, images = grey
    (batch,) = Loader(path, batch_size=4, shuffle=False, transforms=[step])
    assert np.array_equal(batch["image"], np.repeat(images, 3, axis=1))


def test_ours_says_that_it_does_not(grey: tuple[str, np.ndarray]) -> None:
    """It used to leave one channel."""
    path, images = grey
    with pytest.raises(apldata.InvalidError, match=r"Grayscale\(3\): images of field image have one channel"):
        Loader(path, transforms=[Grayscale(3)])
    (batch,) = Loader(path, batch_size=4, shuffle=False, transforms=[Grayscale()])
    assert np.array_equal(batch["image"].reshape(images.shape), images)
