"""Bounding boxes of torchvision, which know their format, in that of a field."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

from typing import Any

from ._errors import InvalidError

_FORMS = {"xyxy": "XYXY", "xywh": "XYWH", "cxcywh": "CXCYWH"}


def in_form(tensor: Any, form: str = "xyxy") -> Any:
    """`tv_tensors.BoundingBoxes` of the formats XYXY, XYWH and CXCYWH in a form, of those that `Boxes` has.

    Centres may be halves: f64 stays, and all other types become f32. Other tensors, rotated boxes among them,
    stay as they are.
    """
    name = getattr(getattr(tensor, "format", None), "name", None)
    if name not in _FORMS.values() or name == _FORMS.get(form):
        return tensor
    if form not in _FORMS:
        raise InvalidError(
            f"boxes of torchvision's format {name}, in a field of the form {form}: convert them first"
        )
    import torch
    from torchvision.transforms.v2.functional import convert_bounding_box_format

    plain = tensor.as_subclass(torch.Tensor)
    plain = plain if plain.dtype == torch.float64 else plain.float()
    return convert_bounding_box_format(plain, tensor.format, type(tensor.format)[_FORMS[form]])
