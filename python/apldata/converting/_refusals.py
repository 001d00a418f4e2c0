"""Why no field is made of a column, and what to do about it."""

from __future__ import annotations

from .._errors import InvalidTypeError
from ._found import UNEVEN
from ._plain import NotJson, helps_with, json_of
from ._told import Column, uneven

_OTHERS = "or choose other columns by fields=[...]"


def refusal(
    column: str, name: str, given: str | None, what: str, values: Column, is_object: bool = False
) -> InvalidTypeError:
    """The error about a column whose first rows hold `what`.

    Args:
        name: of the field.
        given: its type, if the caller has given it.
        is_object: the values are the rows themselves, of a class of the caller's.
    """
    first = "its first row holds" if len(values) == 1 else f"its first {len(values):,} rows hold"
    if what.startswith(UNEVEN):
        return InvalidTypeError(f"column {column}: {first} {what}, which no array holds: {uneven(name)}")
    if is_object:
        return InvalidTypeError(
            f"{first} {what}, which is no record: give dicts, such as vars(row), or tuples of values"
        )
    none = "for which a store has no type" if given is None else f"which no field of {given} holds"
    return InvalidTypeError(f"column {column}: {first} {what}, {none}: {_advice(name, given, values)}")


def _advice(name: str, given: str | None, values: Column) -> str:
    """What becomes of the values if they are to be text, of JSON or another."""
    give = "give one" if given is None else "give another"
    some = [value for value in values if value is not None]
    for value in some:
        try:
            json_of(value)
        except NotJson as error:
            helps = helps_with(name, value, error)
            return f"{helps}, {_OTHERS}" if len(set(map(type, some))) == 1 else f"{give}, {_OTHERS}"
        except (TypeError, ValueError):
            some = []
    text = ' ("json" makes text of it)' if some else ""
    return f"{give}, types={{{name!r}: ...}}{text}, {_OTHERS}"
