"""What the tests of apldata.torch share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def equal(tensor: Any, array: np.ndarray) -> bool:
    return np.array_equal(tensor.numpy(), array)


def flat(loader: Any) -> list[tuple[Any, Any]]:
    """An epoch's batches, copied."""
    return [(images.clone(), labels.clone()) for images, labels in loader]


def same(one: list[tuple[Any, Any]], other: list[tuple[Any, Any]]) -> bool:
    if len(one) != len(other):
        return False
    return all(torch.equal(a, c) and torch.equal(b, d) for (a, b), (c, d) in zip(one, other, strict=True))
