"""The values of rows, whatever library they are of, in a few plain forms."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import KeysView, ValuesView
from typing import Any

import numpy as np

from .._arguments import shown
from .._corners import in_form
from .._errors import InvalidTypeError
from ..schema import listed
from ._images import DecodedImage, File, as_said, file_of, of_pil
from ._members import members_of, named_values

LISTS = (list, tuple, deque, range, KeysView, ValuesView)  # values as a list has them
_STRIDED = "torch.strided"


def why_no_array(tensor: Any) -> str | None:
    """Why there is no array of a tensor of torch's, and what to give instead; None: there is one."""
    if getattr(tensor, "is_nested", False):
        return "a nested tensor, of which there is no array: give tensor.to_padded_tensor(0)"
    layout = str(getattr(tensor, "layout", _STRIDED))
    if layout != _STRIDED:
        return f"a tensor of layout {layout}, of which there is no array: give tensor.to_dense()"
    if getattr(tensor, "is_quantized", False):
        return "a quantized tensor, of which there is no array: give tensor.dequantize()"
    return "a tensor on the device meta, which has no values" if getattr(tensor, "is_meta", False) else None


def _array_of_tensor(tensor: Any, own: bool) -> np.ndarray:
    """A tensor of torch's; of bfloat16, of which neither NumPy nor a store has a type, as f32, exactly."""
    if (why := why_no_array(tensor)) is not None:
        raise InvalidTypeError(why)
    plain = in_form(tensor.detach()).cpu().contiguous()
    if str(plain.dtype) == "torch.bfloat16":
        plain = plain.float()
    array = np.asarray(plain.resolve_conj().resolve_neg())
    array = as_said(array, tensor)
    shared = own and tensor.device.type == "cpu" and array.ctypes.data == tensor.data_ptr()
    return array.copy() if shared else array


def _of_array(array: np.ndarray | np.generic, own: bool) -> Any:
    """An array of NumPy's; what is one text, or one sequence of bytes, as such."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        return None
    if array.dtype.kind in "mM" and np.isnat(array).any():
        return None
    if array.ndim == 0 and array.dtype.kind in "USO":
        return cell(array.item(), own)
    if array.dtype.kind == "T":  # NumPy's StringDType
        return _of_texts(np.asarray(array))
    if array.dtype.kind == "O":  # as which pandas has lists of lists
        return [cell(value, own) for value in np.asarray(array)]
    return np.array(array) if own and isinstance(array, np.ndarray) else np.asarray(array)


def _of_texts(array: np.ndarray) -> Any:
    """Texts, where what stands for none may be anything."""
    if array.ndim > 1:
        return list(map(_of_texts, array))
    texts = [one if isinstance(one, str) else None for one in array.ravel().tolist()]
    return texts if array.ndim else texts[0]


def is_missing(value: Any) -> bool:
    """Does it stand for no value: None, or what pandas has for that?"""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def has_gaps(value: Any) -> bool:
    """Is it a list that lacks a value somewhere? No array holds it."""
    return isinstance(value, list) and any(one is None or has_gaps(one) for one in value)


def cell(value: Any, own: bool = False) -> Any:
    """A value of a row: None, bool, int, float, str, bytes, an array, a `File`, a `DecodedImage`, a list, or
    something that a field cannot hold, as it is. `own`: it shares no memory that the source may fill anew,
    as those that read each row into one array do."""
    if type(value) in (bool, int, float, str, bytes, File, DecodedImage):
        return value
    if is_missing(value):
        return None
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_array(value, own)
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return _array_of_tensor(value, own)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, os.PathLike):
        return file_of(None, os.fsdecode(value))
    pil = sys.modules.get("PIL.Image")
    if pil is not None and isinstance(value, pil.Image):
        return of_pil(value)
    if isinstance(value, LISTS):
        return [cell(one, own) for one in value]
    members = members_of(value)
    if members is None:
        return value
    if members and members.keys() <= {"bytes", "path"}:
        return _file_of(members)
    return _kept(members) if own else members


def _kept(value: Any) -> Any:
    """What a dict holds, for text of JSON to be made of later, in memory of its own."""
    if (members := members_of(value)) is not None:
        return {key: _kept(one) for key, one in members.items()}
    if isinstance(value, LISTS):
        return list(map(_kept, value))
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.detach().clone() if hasattr(value, "detach") and hasattr(value, "numpy") else value


def _file_of(value: dict[str, Any]) -> File | None:
    """Of the layout that image datasets of Hugging Face have: a file's bytes, or its path, or both."""
    data, path = value.get("bytes"), value.get("path")
    if data is None and path is None:
        return None
    if not isinstance(data, (bytes, type(None))) or not isinstance(path, (str, type(None))):
        raise InvalidTypeError(f"a file is given by bytes and a path; got {shown(value)}")
    return file_of(data, path)


def twice(name: str) -> str:
    """Why there is no column of that name."""
    return f"two columns are called {name!r}, such as one by itself and a member of a struct: rename one"


def _second(row: dict[Any, Any], whole: frozenset[str], before: str) -> str:
    """The first name that a row has twice."""
    seen: set[str] = set()
    for key, value in row.items():
        for name in flat({key: value}, whole, before):
            if name in seen:
                return name
            seen.add(name)
    return ""


def flat(row: dict[Any, Any], whole: frozenset[str], before: str = "") -> dict[str, Any]:
    """A row with the members of its dicts as columns of their own, but for those of the columns `whole`:
    {"a": {"b": 1}} has the column a.b."""
    found: dict[str, Any] = {}
    count = len(row)
    for key, value in row.items():
        name = f"{before}{key}"
        members = members_of(value)
        if members and not members.keys() <= {"bytes", "path"} and name not in whole:
            inside = flat(members, whole, f"{name}.")
            count += len(inside) - 1
            found.update(inside)
        else:
            found[name] = value
    if len(found) < count:
        raise InvalidTypeError(twice(_second(row, whole, before)))
    return found


def _first_name(value: Any) -> str:
    """What the one value of a row, or its first of two, is called."""
    if isinstance(value, (File, DecodedImage)) or (isinstance(value, np.ndarray) and value.ndim >= 2):
        return "image"
    return "text" if isinstance(value, str) else "value"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_))


def _as_list(row: Any) -> Any:
    """A row that is no list, and stands for one, such as a range; any other as it is."""
    return list(row) if isinstance(row, LISTS) and not isinstance(row, (list, tuple)) else row


def names_of(row: Any) -> list[str] | None:
    """The columns of a row without names, by its values; None: it has names of its own."""
    if named_values(row) is not None:
        return None
    row = _as_list(row)
    if not isinstance(row, (tuple, list)):
        return [_first_name(cell(row))]
    if type(row) is list and row and (all(map(_is_number, row)) or all(type(one) is list for one in row)):
        raise InvalidTypeError(
            "a list of numbers or of lists, which may be one value or several: for one, say "
            "fields=['value']; for several, give tuples, or a name for each"
        )
    if len(row) == 1:
        return [_first_name(cell(row[0]))]
    if len(row) != 2:
        return [f"field_{at}" for at in range(len(row))]
    first = _first_name(cell(row[0]))
    return [first, "label"] if first != "value" or np.ndim(cell(row[1])) == 0 else ["input", "target"]


def row_of(row: Any, names: list[str] | None, whole: frozenset[str]) -> dict[str, Any]:
    """A row by the names of its columns, and each value as a cell, of its own."""
    if (found := named_values(row)) is not None:
        return {name: cell(value, own=True) for name, value in flat(found, whole).items()}
    row = _as_list(row)
    alone = type(row) is list and names is not None and len(names) == 1  # a value, rather than a tuple of one
    alone = alone and (len(row) != 1 or _is_number(row[0]))
    values = list(row) if isinstance(row, (tuple, list)) and not alone else [row]
    if names is None or len(values) != len(names):
        named = "the first has names" if names is None else f"{len(names)} are named, {listed(names, 6)}"
        helps = "name each value, fields=[...], or give dicts to choose some"
        raise InvalidTypeError(f"a row of {len(values)} values, where {named}: {helps}")
    return {name: cell(value, own=True) for name, value in zip(names, values, strict=True)}
