"""What the tests of other libraries' transforms share."""

from __future__ import annotations

from typing import Any

import numpy as np

from apldata import Loader

MEAN, STD = (0.49, 0.48, 0.44), (0.25, 0.24, 0.26)


def epoch(db: Any, transforms: Any, **options: Any) -> np.ndarray:
    """The images of the split "test", in the order of ids."""
    settings = {"split": "test", "batch_size": 70, "shuffle": False, **options}
    with Loader(db, transforms=transforms, **settings) as loader:
        order = [
            (int(i), np.array(x)) for batch in loader for i, x in zip(batch.ids, batch["image"], strict=True)
        ]
    return np.stack([image for _, image in sorted(order, key=lambda pair: pair[0])])


def to_float() -> Any:
    """torchvision's conversion to floats of 0 to 1."""
    import torch
    from torchvision.transforms import v2

    return v2.ToDtype(torch.float32, scale=True)
