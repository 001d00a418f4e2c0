"""What users give as values, as plain NumPy arrays; what would lose something on the way is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import wrong_value
from ._errors import InvalidError, InvalidTypeError


def _masked(name: str, value: Any) -> None:
    """Refuses what stands for no value."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        count = int(np.ma.getmaskarray(value).sum())
        raise InvalidError(
            f"field {name}: {count} masked values, and a store has no mask: put values in their place, "
            "array.filled(0), and write the mask as a field of its own"
        )


def _of_tensor(name: str, tensor: Any) -> np.ndarray:
    """The values of a tensor of torch's, which may require grad, be of bfloat16, or lie on a device."""
    try:
        plain = tensor.detach().cpu()
        if str(plain.dtype) in ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"):
            plain = plain.float()  # exactly; NumPy has no such type
        return np.asarray(plain.resolve_conj().resolve_neg())
    except (TypeError, RuntimeError) as error:
        told = str(error).split("\n")[0]
        raise InvalidTypeError(f"field {name}: NumPy can make no array of the tensor: {told}") from None


def _plain(name: str, value: Any) -> Any:
    """A value, or a list of some, with arrays of NumPy for those of others."""
    if isinstance(value, np.ma.MaskedArray):
        _masked(name, value)
        return np.asarray(value)
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return _of_tensor(name, value)
    if isinstance(value, (list, tuple)) and any(
        isinstance(one, (np.ma.MaskedArray, list, tuple)) or hasattr(one, "detach") for one in value
    ):
        return [_plain(name, one) for one in value]
    return value


def array_of(name: str, wanted: str, value: Any) -> np.ndarray:
    """A value for the field `name`, which is `wanted`, as an array."""
    plain = _plain(name, value)
    try:
        return np.asarray(plain)
    except ValueError as error:  # rows of different lengths
        raise wrong_value(f"field {name}", f"an array of {wanted}", value) from error
