"""Dividing splits of a store into others, by files beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._arguments import choice, flag, optional_text, whole
from ._errors import ExistsError, advising
from .schema import Split

_BY = {"content": _core.APL_BY_CONTENT, "key": _core.APL_BY_KEY, "id": _core.APL_BY_ID}
_MADE = ("rest", "parent", "ratio", "seed", "stratify", "group", "by")


def how(
    parent: str | None, stratify: str | None, seed: int, replace: bool, group: str | None, by: str
) -> tuple[Any, ...]:
    """What all divisions take, as the extension takes it."""
    return (
        optional_text("parent", parent), optional_text("stratify", stratify), whole("seed", seed), 0,
        flag("replace", replace), optional_text("group", group), choice("by", by, _BY),
    )  # fmt: skip


def divide(make: Callable[..., None], *arguments: Any) -> None:
    """Calls what makes the files of splits; where there are some, the error says what to do."""
    with advising(ExistsError, "replace=True puts another in its place"):
        make(*arguments)


def made(file: dict[str, Any]) -> tuple[Split, Split]:
    """The split that a file makes, and the rest of its parent."""
    split = Split(file["name"], file["records"], **{key: file[key] for key in _MADE})
    return split, Split(file["rest"], file["rest_records"], parent=file["parent"])
