"""Dividing splits of a store into others, by files beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from . import _core
from ._arguments import choice, flag, optional_text, whole
from ._errors import ExistsError, advising
from ._warning import warn
from .schema import Split

_BY = {"content": _core.APL_BY_CONTENT, "key": _core.APL_BY_KEY, "id": _core.APL_BY_ID}
_MADE = ("rest", "parent", "ratio", "seed", "stratify", "group", "by")


def how(
    parent: str | None,
    stratify: str | None,
    seed: int,
    replace: bool,
    group: str | None,
    by: str,
    overlap: bool,
) -> tuple[Any, ...]:
    """What all divisions take, as the extension takes it."""
    return (
        optional_text("parent", parent), optional_text("stratify", stratify), whole("seed", seed), 0,
        flag("replace", replace), optional_text("group", group), choice("by", by, _BY),
        flag("overlap", overlap),
    )  # fmt: skip


class _Store(Protocol):
    """What is asked of a `Store`."""

    @property
    def splits(self) -> dict[str, Split]: ...
    def _split_files(self) -> list[dict[str, Any]]: ...
    def _split_make(self, name: str, ratio: float, /, *how: Any) -> str | None: ...
    def _split_parts(self, name: str, parts: int, concentration: float, /, *how: Any) -> str | None: ...


def _divide(make: Callable[..., str | None], *arguments: Any) -> None:
    """Calls what makes the files of splits; where there are some, the error says what to do. `arguments` end
    with those of `how()`. Warns of what the splits share with others, unless that is wanted."""
    with advising(ExistsError, "replace=True puts another in its place"):
        shared = make(*arguments)
    if shared and not arguments[-1]:
        warn(f"{shared}, overlap=True allows it")


def _made(store: _Store, names: list[str]) -> list[Split]:
    """The splits of these names. Warns of those that come from what they have replaced."""
    new = frozenset(names)
    outdated = [file["message"] for file in store._split_files() if file["replaced"] in new]
    if outdated:
        warn(outdated[0] + (f" ({len(outdated) - 1} more like it)" if outdated[1:] else ""))
    splits = store.splits
    return [splits[name] for name in names]


def divided(store: _Store, name: str, ratio: float, given: tuple[Any, ...]) -> Split:
    """Divides a split in two; the part."""
    _divide(store._split_make, name, ratio, *given)
    return _made(store, [name])[0]


def divided_in_parts(
    store: _Store, name: str, parts: int, concentration: float, given: tuple[Any, ...]
) -> list[Split]:
    """Divides a split into many."""
    _divide(store._split_parts, name, parts, concentration, *given)
    return _made(store, [f"{name}-{i}" for i in range(parts)])


def made(file: dict[str, Any]) -> tuple[Split, Split]:
    """The split that a file makes, and the rest of its parent."""
    split = Split(file["name"], file["records"], **{key: file[key] for key in _MADE})
    return split, Split(file["rest"], file["rest_records"], parent=file["parent"])
