"""Steps of torchvision that are done for each record, for all, and for each again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
v2 = pytest.importorskip("torchvision.transforms.v2")

import apldata  # noqa: E402
from apldata import Loader  # noqa: E402

ALIKE = v2.Normalize((0.0,) * 3, (1.0,) * 3)  # done for all records at once


class Draw(torch.nn.Module):
    """Puts one number into a channel."""

    def __init__(self, channel: int) -> None:
        super().__init__()
        self.channel = channel

    def forward(self, image: Any) -> Any:
        image = image.clone()
        image[..., self.channel, :, :] = torch.rand(1)
        return image


def test_each_part_has_draws_of_its_own(store: apldata.Store) -> None:
    steps = [
        v2.Lambda(lambda image: image),
        v2.ToDtype(torch.float32),
        Draw(0),
        ALIKE,
        Draw(1),
        ALIKE,
        Draw(2),
    ]
    with Loader(store, "train", batch_size=100, seed=2, transforms=v2.Compose(steps)) as loader:
        drawn = np.concatenate([batch["image"][:, :, 0, 0] for batch in loader])
        again = np.concatenate([batch["image"][:, :, 0, 0] for batch in loader])
    for one in range(3):
        for other in range(one):
            assert abs(np.corrcoef(drawn[:, one], drawn[:, other])[0, 1]) < 0.15
    assert not np.array_equal(drawn, again)


def test_part_of_the_users_own_is_called_whatever_its_name(store: apldata.Store, images: np.ndarray) -> None:
    class GaussianBlur(torch.nn.Module):
        def forward(self, image: Any) -> Any:
            return 255 - image

    step = v2.RandomApply([GaussianBlur()], p=1.0)
    with Loader(store, "test", batch_size=len(images), shuffle=False, transforms=step) as loader:
        (batch,) = loader
        assert np.array_equal(batch["image"], 255 - images)
