"""Several views of an image, as contrastive learning draws them: stacked, they become one array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import InvalidError, Loader, PerPicture, Writer

SIDES = 12, 10
Y, X = np.mgrid[: SIDES[0], : SIDES[1]]
PICTURE = np.stack([X * 9, Y * 9, X + Y]).astype("u1")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    with Writer(tmp_path / "db", {"image": ("u8", (3, *SIDES))}) as writer:
        for _ in range(40):
            writer.append(image=PICTURE)
    return tmp_path / "db"


def first(db: Path, transforms: Any) -> Any:
    with Loader(db, batch_size=40, shuffle=False, transforms=transforms) as loader:
        return np.array(next(iter(loader))["image"])


def test_views_of_a_function(db: Path) -> None:
    """Channels come first, as in a single image."""
    views = first(db, PerPicture(lambda image: np.stack([image, image[:, ::-1]])))
    assert views.shape == (40, 2, 3, *SIDES)
    assert (views[:, 0] == PICTURE).all() and (views[:, 1] == PICTURE[..., ::-1]).all()
    torch = pytest.importorskip("torch")
    tensors = PerPicture(lambda image: torch.stack([torch.from_numpy(image.transpose(2, 0, 1))] * 3))
    assert (first(db, tensors) == PICTURE).all()


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_views_is_refused(db: Path, kind: type) -> None:
    with pytest.raises(TypeError, match="several images for one: return them as one"):
        first(db, PerPicture(lambda image: kind([image, image])))
    v2 = pytest.importorskip("torchvision.transforms.v2")
    with pytest.raises(InvalidError, match="several images for one: return them as one"):
        first(db, v2.Compose([lambda image: kind([image, image])]))


def test_views_beside_the_image_are_refused(db: Path) -> None:
    """They were left out without a word."""
    with pytest.raises(InvalidError, match="returned 'second' beside 'image': a function of the batch"):
        first(db, PerPicture(lambda image: {"image": image, "second": image}))


class TwoViews:
    def __init__(self, augment: Any) -> None:
        self.augment = augment

    def __call__(self, image: Any) -> Any:
        import torch

        return torch.stack([self.augment(image), self.augment(image)])


def test_views_in_a_compose_draw_apart(db: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    steps = v2.Compose([TwoViews(v2.RandomHorizontalFlip())])
    views = first(db, steps)
    assert views.shape == (40, 2, 3, *SIDES)
    flipped = views[:, :, 0, 0, 0] > views[:, :, 0, 0, -1]
    both = 2 * flipped[:, 0] + flipped[:, 1]
    assert set(both.tolist()) == {0, 1, 2, 3}
    assert np.array_equal(views, first(db, steps))  # keyed by seed, epoch and record


@pytest.mark.parametrize("count", [2, 3, 5])
def test_views_of_grey_images(tmp_path: Path, count: int) -> None:
    """Stored as (height, width): the first dimension is that of the views."""
    with Writer(tmp_path / "grey", {"image": ("u8", SIDES)}) as writer:
        writer.extend(image=np.broadcast_to(PICTURE[0], (40, *SIDES)))
    views = first(
        tmp_path / "grey", PerPicture(lambda image: np.stack([image, *[image[:, ::-1]] * (count - 1)]))
    )
    assert views.shape == (40, count, *SIDES)
    assert (views[:, 0] == PICTURE[0]).all() and (views[:, 1] == PICTURE[0, :, ::-1]).all()
    coloured = first(tmp_path / "grey", PerPicture(lambda image: np.stack([image] * 3, -1)))
    assert coloured.shape == (40, 3, *SIDES)
