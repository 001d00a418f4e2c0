"""Bounding boxes of torchvision, which know their format: fields do not, so all are stored in one."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

from typing import Any


def by_corners(tensor: Any) -> Any:
    """`tv_tensors.BoundingBoxes` of the formats XYWH and CXCYWH as XYXY, which loaders take by default.

    Centres may be halves: f64 stays, and all other types become f32. Other tensors, rotated boxes among them,
    stay as they are.
    """
    if getattr(getattr(tensor, "format", None), "name", None) not in ("XYWH", "CXCYWH"):
        return tensor
    import torch
    from torchvision.transforms.v2.functional import convert_bounding_box_format

    plain = tensor.as_subclass(torch.Tensor)
    plain = plain if plain.dtype == torch.float64 else plain.float()
    return convert_bounding_box_format(plain, tensor.format, type(tensor.format).XYXY)
