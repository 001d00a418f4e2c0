"""Checks of arguments. What is refused is named, with what would do and what came."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Any, TypeVar, cast

from . import _core
from ._errors import InvalidError, InvalidTypeError

U32, U63, U64 = 2**32 - 1, 2**63 - 1, 2**64 - 1
_LONGEST = 60  # characters of a value that are shown
# How the contents of an array begin, where a library prints one.
_CONTENTS = re.compile(
    r"\w*(rray|tensor|matrix|Image|Mask|Boxes|Video)\((data=)?\[|\[\s*-?\d[\d.e+-]*\s+-?\d"
)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def brief(text: str, most: int) -> str:
    """A text of somebody else's on one line, cut where it is too long or prints the contents of an array."""
    text = " ".join(text.split())
    contents = _CONTENTS.search(text)
    end = contents.start() if contents else len(text)
    return text if end == len(text) <= most else text[: min(end, most - 3)] + "..."


def shown(value: Any, most: int = _LONGEST) -> str:
    """A value on one line, cut if it is long; of an array or tensor, its dtype and shape."""
    try:
        if hasattr(value, "dtype") and getattr(value, "shape", None):
            dtype = str(value.dtype).removeprefix("torch.")
            return brief(f"{dtype}[{', '.join(map(str, value.shape))}]", most)
        if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
            value = value.item()
        return brief(repr(value), most)
    except Exception:  # an object of somebody else's
        return "..."


def wrong_value(name: str, wanted: str, value: Any) -> InvalidError:
    """Of the right type, but no such value will do."""
    return InvalidError(f"{name} must be {wanted}; got {shown(value)}")


def wrong_type(name: str, wanted: str, value: Any) -> InvalidTypeError:
    """Of a type that will not do."""
    return InvalidTypeError(f"{name} must be {wanted}; got {shown(value)} ({type(value).__name__})")


def _bounds(least: int, most: int) -> str:
    if least < 0 and most == U64:
        return "an integer"
    if most in (U32, U63, U64, U32 - 1):
        return f"an integer, at least {least}"
    return f"an integer from {least} to {most}"


def whole(name: str, value: Any, least: int = 0, most: int = U64) -> int:
    """A whole number, also NumPy's or torch's; not True, which Python takes for 1."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = index(value)
    except TypeError:
        raise wrong_type(name, _bounds(least, most), value) from None
    if not least <= number <= most:
        limit = f", and at most {most}" if number > most >= U32 - 1 else ""
        raise wrong_value(name, _bounds(least, most) + limit, value)
    return number


def threads_of(threads: Any) -> int:
    """A number of threads as the library has it, for which 0 is its own choice."""
    return 0 if threads is None else whole("threads", threads, 0, U32 - 1) or _core.APL_NO_THREADS


def wholes(least: int, most: int, **values: Any) -> dict[str, int]:
    """Several whole numbers, by their names."""
    return {name: whole(name, value, least, most) for name, value in values.items()}


def number(name: str, value: Any, wanted: str = "a number", least: float = -math.inf) -> float:
    """A finite number."""
    try:
        if isinstance(value, (str, bytes)):  # float() would read it
            raise TypeError
        result = float(value)
    except (TypeError, ValueError):
        raise wrong_type(name, wanted, value) from None
    except OverflowError:
        raise wrong_value(name, wanted, value) from None
    if not math.isfinite(result) or result < least:
        raise wrong_value(name, wanted, value)
    return result


def flag(name: str, value: Any) -> int:
    """0 or 1, of True or False, also NumPy's and torch's, or of these numbers. What else has a truth, as NaN, is none."""
    kind = str(getattr(value, "dtype", ""))
    try:
        if "bool" in kind or ((isinstance(value, int) or "int" in kind) and value in (0, 1)):
            return int(bool(value))
    except (ValueError, RuntimeError):  # an array, or a tensor, of several
        pass
    raise wrong_type(name, "True or False", value)


def text(name: str, value: Any) -> str:
    """A string that C can take."""
    if not isinstance(value, str):
        raise wrong_type(name, "a string", value)
    if "\0" in value:
        raise wrong_value(name, "a string without null characters", value)
    return value


def optional_text(name: str, value: Any) -> str | None:
    """A string, or None."""
    return None if value is None else text(name, value)


def choice(name: str, value: Any, choices: Mapping[str, int]) -> int:
    """What stands for one of a few words."""
    *others, last = map(repr, choices)
    wanted = f"{', '.join(others)} or {last}"
    if not isinstance(value, str):
        raise wrong_type(name, wanted, value)
    if value not in choices:
        raise wrong_value(name, wanted, value)
    return choices[value]


def path_of(name: str, value: Any) -> str:
    """A path of the file system."""
    try:
        result = os.fsdecode(value)
    except TypeError:
        raise wrong_type(name, "a path (str, bytes or os.PathLike)", value) from None
    if "\0" in result or not result:
        raise wrong_value(name, "a path", value)
    return result


def is_url(path: str) -> bool:
    """Is it a URL, such as the library opens?"""
    return re.match("[A-Za-z][A-Za-z0-9+.-]*://", path) is not None


def shown_path(path: str) -> str:
    """A path as it may be shown: the query of a URL may hold a secret."""
    return path.split("?", 1)[0] if is_url(path) else path


def absolute(name: str, value: str | bytes | os.PathLike[Any]) -> str:
    """A path that is the same in a child process or after a change of directory."""
    result = path_of(name, value)
    if is_url(result):
        return result
    return result if os.path.isabs(result) else os.path.join(os.getcwd(), result)


def digest(name: str, value: Any) -> bytes | None:
    """32 bytes, of as many or of hexadecimal; None stays None."""
    try:
        found = bytes.fromhex(value) if isinstance(value, str) else value
    except ValueError:
        found = b""
    if found is not None and (not isinstance(found, bytes) or len(found) != 32):
        wrong = wrong_value if isinstance(value, (str, bytes)) else wrong_type
        raise wrong(name, "32 bytes, or 64 hexadecimal digits", value)
    return found


def some_names(name: str, value: Iterable[str] | None) -> list[str] | None:
    """Names in a list, one at least; None stays None."""
    found = names(name, value)
    if found == []:
        raise wrong_value(name, "a list of at least one name, or None for all", found)
    return found


def names(name: str, value: Iterable[str] | None) -> list[str] | None:
    """Names in a list; None stays None."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        raise InvalidTypeError(f"{name} must be a list of names; got {shown(value)}: write [{shown(value)}]")
    try:
        result = list(value)
    except TypeError:
        raise wrong_type(name, "a list of names", value) from None
    for at, one in enumerate(result):
        text(f"{name}[{at}]", one)
    return result


def together(name: str, values: Mapping[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """Values in a dict (the argument `name`), and those that were given by name."""
    if values is None:
        return more
    if not isinstance(values, Mapping):
        raise wrong_type(name, "a dict from names of fields to values, or values by name (field=...)", values)
    return {**values, **more}


def function(name: str, value: Any) -> Any:
    """Something that can be called, or None."""
    if value is not None and not callable(value):
        raise wrong_type(name, "a function", value)
    return value


def names_checked(options: type | None = None) -> Callable[[_Function], _Function]:
    """Makes a function refuse keyword arguments that it has not, and tell which one may be meant. `options`:
    a TypedDict of those that it has beside its own."""

    def decorate(function: _Function) -> _Function:
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        own = [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds]
        more = (
            []
            if options is None
            else [name for kind in options.__mro__ for name in inspect.get_annotations(kind)]
        )
        known = frozenset((*own, *more)) - {"self"}

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            if not keywords.keys() <= known:
                raise _no_argument(function, next(name for name in keywords if name not in known), known)
            return function(*args, **keywords)

        return cast(_Function, checked)

    return decorate


# Arguments of loaders and transforms that are gone, and what is said instead; until 0.2.
_REMOVED = {
    "masks": "kinds={'mask': Mask()}, or Field(..., kind=Mask()) where the store is written",
    "boxes": "kinds={'boxes': Boxes('xywh')}, or Field(..., kind=Boxes('xywh')) where the store is written",
    "box_format": "the form of the boxes is part of their kind: kinds={'boxes': Boxes('xywh')}",
    "labels": "what has an element for each box says so by its kind: kinds={'labels': Label(per='boxes')}",
}
_SYNONYMS = {"force": "replace", "overwrite": "replace", "rng": "seed", "num_workers": "threads"}


def _no_argument(function: Callable[..., Any], name: str, known: Iterable[str]) -> InvalidTypeError:
    what = function.__qualname__.removesuffix(".__init__")
    if name in _REMOVED and ("kinds" in known or what in ("PerPicture", "SanitizeBoundingBoxes")):
        return InvalidTypeError(
            f"{what} has no argument {name!r} any more: {_REMOVED[name]} (see apldata.kinds)"
        )
    synonym = _SYNONYMS.get(name, "")
    near = [synonym] if synonym in set(known) else difflib.get_close_matches(name, known, 1)
    return InvalidTypeError(
        f"{what} has no argument {name!r}" + (f": did you mean {near[0]!r}?" if near else "")
    )
