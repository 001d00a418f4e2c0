"""Modules of torch over single images: whatever their argument is called."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from foreign_tools import epoch

torch = pytest.importorskip("torch")

import apldata  # noqa: E402
from apldata import PerPicture  # noqa: E402


class Inverted(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return 255 - x


class Named(torch.nn.Module):
    def forward(self, factor: int = 1, *, image: Any) -> Any:
        return 255 - image * factor


class Keywords(torch.nn.Module):
    def forward(self, **data: Any) -> Any:
        return {"image": 255 - data["image"]}


class Handing(torch.nn.Module):
    """As wrappers of modules do."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.inner(*inputs, **named)


class Calling(Inverted):
    """One with a __call__() of its own."""

    def __call__(self, *, image: Any) -> Any:
        return 255 - image


@pytest.mark.parametrize(
    "module",
    [
        Inverted(),
        Named(),
        Keywords(),
        Handing(Inverted()),
        Calling(),
        torch.nn.Sequential(Inverted()),
        torch.nn.Sequential(torch.nn.Identity(), Inverted()),
        functools.partial(Named(), 1),
    ],
    ids=lambda module: type(module).__name__,
)
def test_any_name(store: apldata.Store, images: np.ndarray, module: Any) -> None:
    some = {"ids": range(1000, 1020)}
    assert np.array_equal(epoch(store, PerPicture(module), **some), 255 - images[:20])
