"""Why no field is made of a column, and what to do about it."""

from __future__ import annotations

from .._errors import InvalidTypeError
from ._found import UNEVEN
from ._plain import NotJson, helps_with, json_of
from ._told import Column, Told, uneven

_OTHERS = "or choose other columns by fields=[...]"


def refusal(
    column: str, name: str, given: Told, what: str, values: Column, is_object: bool = False
) -> InvalidTypeError:
    """The error about a column whose first rows hold `what`.

    Args:
        name: of the field.
        given: what the caller says of it.
        is_object: the values are the rows themselves, of a class of the caller's.
    """
    first = "its first row holds" if len(values) == 1 else f"its first {len(values):,} rows hold"
    if what.startswith(UNEVEN):
        return InvalidTypeError(f"column {column}: {first} {what}, which no array holds: {uneven(name)}")
    if is_object:
        return InvalidTypeError(
            f"{first} {what}, which is no record: give dicts, such as vars(row), or tuples of values"
        )
    of = "masks" if given.as_mask else "files" if given.is_file else given.dtype
    none = f"which no field of {of} holds" if of else "for which a store has no type"
    advice = _advice(name, values, "give another" if of else "give one")
    return InvalidTypeError(f"column {column}: {first} {what}, {none}: {advice}")


def _advice(name: str, values: Column, give: str) -> str:
    """What becomes of the values if they are to be text, of JSON or another; `give`: else, a type."""
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
