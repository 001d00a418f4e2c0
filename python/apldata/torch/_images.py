"""Kept image files of a record as images, for those who take one record at a time."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import torch

from .._arguments import wrong_value
from .._errors import CorruptError, InvalidError
from ..schema import Field

HOW = ("pil", "tensor", None)


def _open(file: torch.Tensor) -> Any:
    """A file as torchvision's datasets open it."""
    from PIL import Image

    with Image.open(BytesIO(file.numpy().tobytes())) as image:
        return image.convert("RGB")


def _tensor(file: torch.Tensor) -> torch.Tensor:
    """u8 (3, height, width)."""
    return torch.from_numpy(np.array(_open(file)).transpose(2, 0, 1).copy())


def decoder(how: Any, fields: list[Field]) -> Callable[[list[Any], int], list[Any]] | None:
    """A function of a record's values and its id, which decodes those that are files of images; None where there are none, or
    they are to stay files.

    Raises:
        InvalidError: `how` is no way, or Pillow is not installed.
    """
    if how not in HOW:
        raise wrong_value("decode", "'pil', 'tensor' or None", how)
    places = [i for i, field in enumerate(fields) if (field.media or "").startswith("image/")]
    if how is None or not places:
        return None
    try:
        import PIL  # noqa: F401
    except ImportError:
        why = "images of kept files are decoded by Pillow, which is not installed"
        raise InvalidError(f"{why} (pip install pillow; decode=None gives the files)") from None
    function = _open if how == "pil" else _tensor

    def decode(values: list[Any], record: int) -> list[Any]:
        for place in places:
            try:
                values[place] = function(values[place])
            except Exception as why:  # of any of Pillow's decoders
                text = f"record {record}, {fields[place].name}: cannot be decoded: {why}"
                raise CorruptError(text, 0, record, 1) from why
        return values

    return decode
