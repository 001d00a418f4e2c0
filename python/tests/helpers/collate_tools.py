"""A store of values of varying shape, which are functions of the id."""

from __future__ import annotations

import numpy as np

from apldata import Field, Writer

COUNT = 50


def tokens(i: int) -> np.ndarray:
    return (np.arange(0 if i % 7 == 3 else i * 37 % 11 + 1) + 100 * i).astype("u2")


def boxes(i: int) -> np.ndarray:
    return np.arange(4 * (i % 3), dtype="f4").reshape(-1, 4) + i


def make(path) -> str:
    """Writes the store."""
    fields = {"tokens": ("u16", (-1,)), "boxes": ("f32", (-1, 4)), "sound": ("i16", (2, -1))}
    with Writer(path, {**fields, "label": Field("label", "u8", mark="target")}) as w:
        for i in range(COUNT):
            w.append(
                tokens=tokens(i), boxes=boxes(i), label=i % 5,
                sound=np.arange(2 * (i % 4), dtype="i2").reshape(2, -1),
            )  # fmt: skip
    return str(path)
