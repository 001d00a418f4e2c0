"""Images of the store that is drawn, as a loader transforms them."""

from __future__ import annotations

from typing import Any

import numpy as np

from apldata import Loader


def transformed(db: Any, *transforms: Any, **options: Any) -> np.ndarray:
    """Of the split "test", in the order of ids."""
    settings = {"split": "test", "batch_size": 70, "shuffle": False, **options}
    with Loader(db, transforms=transforms, **settings) as loader:
        return np.concatenate([np.array(batch["image"]) for batch in loader])
