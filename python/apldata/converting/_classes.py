"""Sources that give their classes by numbers, and do not name the same ones alike."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import shown
from .._errors import InvalidError
from ..schema import listed
from ._told import Column, Told, Wishes

Names = tuple[str, ...]


class Renumbering:
    """From the numbers that one source gives classes to those of the field.

    Args:
        column: what errors call it.
        own: the source's names, by its numbers; None: it names none, and its numbers are refused.
        field: the field's names, among which these are.
    """

    def __init__(self, column: str, own: Names | None, field: Names) -> None:
        self._column, self._own = column, own
        numbers = {name: number for number, name in enumerate(field)}
        self._to = np.array([*(numbers[name] for name in own or ()), -1])  # -1 stands for no class

    def apply(self, values: Column, first: int) -> Column:
        """The values of rows, of which errors call the first by the number `first`. Names stay."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return self._array(values, range(first, first + len(values)))
        return [self._one(value, first + row) for row, value in enumerate(values)]

    def _one(self, value: Any, row: int) -> Any:
        if isinstance(value, int) or (isinstance(value, np.ndarray) and value.dtype.kind in "iu"):
            array = self._array(np.asarray(value)[None], [row])[0]
            return array if isinstance(value, np.ndarray) else int(array)
        return value

    def _array(self, values: np.ndarray, rows: Sequence[int]) -> np.ndarray:
        count = len(self._to) - 1
        wrong = np.argwhere((values < -1) | (values >= count))
        if len(wrong):
            row = f"row {rows[wrong[0][0]]:,}, column {self._column}"
            number = shown(values[tuple(wrong[0])])
            if self._own is None:
                raise InvalidError(
                    f"{row}: {number} is the number of a class without its name, and the classes of other "
                    "sources have names that differ: name the classes of all, or give none names"
                )
            raise InvalidError(f"{row}: {number} is no class: the source names those from 0 to {count - 1}")
        made: np.ndarray = self._to[values]
        return made


def _united(all_of: Iterable[Names]) -> Names:
    """Those of the first in its order, then what each of the others adds, in its own."""
    return tuple(dict.fromkeys(itertools.chain.from_iterable(all_of)))


def _check_renaming(column: str, one: Names, given: Names) -> None:
    """Refuses new names for the numbers of `one` among which its own stand for other numbers."""
    moved = next((name for at, name in enumerate(given) if name in one and one.index(name) != at), None)
    if moved is None:
        return
    lacks = next(name for name in one if name not in given)
    raise InvalidError(
        f"classes: column {column} has the class {lacks!r}, which is not given, and {moved!r} at another "
        f"place: give all names of the source ({', '.join(map(repr, one[:10]))}{', ...' * (len(one) > 10)}), "
        "in any order"
    )


def _reconciled(
    column: str, own: Mapping[str, Names | None], given: Names | None
) -> tuple[Names | None, dict[str, Renumbering]]:
    """What the classes of a column are called, and which sources need other numbers for them.

    Args:
        own: the names that each source gives, by what errors call it; None: no names.
        given: those that the caller gives, which stand for the numbers in their order where they are none of
            the sources' own.
    """
    named = {source: names for source, names in own.items() if names}
    one = next(iter(named.values()))
    if set(named.values()) == {one} and not set(given or ()).issuperset(one):
        _check_renaming(column, one, given or ())
        return one, {}  # `given` renames them
    field = given or _united(named.values())
    unknown = [(source, name) for source, names in named.items() for name in names if name not in field]
    if unknown:
        raise InvalidError(
            f"classes: column {column} has the class {unknown[0][1]!r} in {unknown[0][0]}, which is not "
            "given: where sources name their classes differently, all of them must be"
        )
    if all(names == field[: len(names)] for names in named.values()):
        return field, {}  # the numbers mean the same
    if not given and own[first := next(iter(own))] is None:
        raise InvalidError(
            f"column {column}: {' and '.join(list(named)[:2])} name classes differently, and {first} names "
            f"none: name them, classes={{{column!r}: [...]}}"
        )
    return field, {
        source: Renumbering(column, names, field) for source, names in own.items() if names != field
    }


@dataclasses.dataclass
class OneNaming:
    """The classes of all columns, as all sources have them.

    Attributes:
        told: of the first source, with the names of all.
        renumber: of each source, by column, which numbers change.
        notes: what the caller ought to know.
    """

    told: dict[str, Told]
    renumber: dict[str, dict[str, Renumbering]]
    notes: list[str]


def one_naming(sources: Mapping[str, Mapping[str, Told]], first: str, wishes: Wishes) -> OneNaming:
    """Of what several sources say of their columns; `first` is what the store's fields are chosen from."""
    order = {first: sources[first], **sources}
    naming = OneNaming(dict(sources[first]), {source: {} for source in sources}, [])
    for column in dict.fromkeys(itertools.chain.from_iterable(order.values())):
        own = {source: _names(told.get(column)) for source, told in order.items()}
        if not any(own.values()) or not wishes.wants(column):
            continue
        given = wishes.classes.get(column)
        names, renumber = _reconciled(column, own, given)
        for source, one in renumber.items():
            naming.renumber[source][column] = one
        if renumber and names and not given:
            naming.notes.append(
                f"column {column}: classes have different names in different sources: they are numbered "
                f"together, as {listed(names)}"
            )
        if own[first] and names:
            naming.told[column] = _renamed(naming.told[column], names)
        elif names and _may_name(naming.told.get(column)):
            named = next(source for source in order if own[source])
            _name_first(naming, column, names, (first, named), order[named][column])
    return naming


def _may_name(told: Told | None) -> bool:
    """May the values of a column without names be classes, by their numbers or their names?"""
    if told is None or told.dtype is None:
        return True
    return (told.shape in (None, ()) and told.dtype[0] in "iu") or told.dtype == "utf8"


def _name_first(naming: OneNaming, column: str, names: Names, sources: tuple[str, str], of: Told) -> None:
    """The first source names no classes of a column, and another, of which `of` is said, does."""
    if not of.classes:
        return
    naming.told[column] = dataclasses.replace(naming.told.get(column, Told()), classes=names)
    first, named = sources
    naming.notes.append(
        f"column {column}: a field of the classes that {named} names, {listed(names)}: numbers in {first} "
        "stand for these"
    )


def _names(told: Told | None) -> Names | None:
    return None if told is None else told.classes or told.inside


def _renamed(told: Told, names: Names) -> Told:
    """With those names of classes."""
    replace = dataclasses.replace
    return replace(told, classes=names) if told.classes else replace(told, inside=names)
