"""What a store says of its records: fields, splits, members."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from . import _core
from ._errors import InvalidError, NoFieldError, NotFoundError
from ._warning import warn
from .kinds import Image, Kind, of_words

AN_IMAGE = "u8[C,H,W] with C at most 16, u8[*,*,*] or u8[H,W]"

_JOINERS_IN_PLACE = re.compile("(?<=[^\0-\u05ff\u200c\u200d])[\u200c\u200d]")


def is_printable(name: str) -> bool:
    """No control characters? Joiners are none where Persian, Hindi and emoji have them: see FORMAT.md."""
    return _JOINERS_IN_PLACE.sub("", name).isprintable()


def plain(name: str) -> str:
    """A name on one line: as it is if it can be printed, else with escapes."""
    return name if is_printable(name) else repr(name)


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names for a message, not too many of them."""
    all_of = list(names)
    more = f", ... ({len(all_of)} in all)" if len(all_of) > most else ""
    return ", ".join(map(plain, all_of[:most])) + more


UNCLEAR = (
    "{}: the first dimension is taken for the channels, not the last: a Field with layout='CHW' says that "
    "this is right, one with 'HWC' moves the channels"
)
_USUAL, _MOST = (1, 3, 4), 16  # numbers of channels
ORIGINS = ("declared", "source", "guessed", "default")  # of kinds, in the order of apl_origin


def channels_last(shape: tuple[int, ...]) -> bool:
    """Is it that of images (height, width, channels), as C has it?"""
    return len(shape) == 3 and _core.channels_last(shape)


def has_channels_last(field: Field) -> bool:
    """Is it stored as (height, width, channels)?"""
    if isinstance(field.kind, Image) and field.kind.form:
        return field.kind.form == "hwc"
    return field.media is None and channels_last(field.shape)


def channels_unclear(shape: tuple[int, ...], most: int = max(_USUAL)) -> bool:
    """May it be that of images with their channels first, and with their channels last, of at most so many?
    Of squares whose channels come first, it is clear; and of 1, 3 or 4 channels, if more would come last."""
    if len(shape) != 3 or channels_last(shape):
        return False
    last = max(_USUAL) if shape[0] in _USUAL else most
    if not (1 <= shape[0] <= most and 1 <= shape[2] <= last):
        return False
    return shape[1] != shape[2] or shape[0] == shape[1]


@dataclass(frozen=True)
class Field:
    """A named, typed column of the records.

    Attributes:
        name: its name.
        dtype: "u8", "f32", "utf8", ...: see `numpy_dtype()`. ("u8" is one byte, as in the store; NumPy calls
            that "u1".)
        shape: of one value; () for a scalar; -1 for a dimension that varies from record to record. Of "utf8", the
            last is -1: (-1,) is a text, (-1, -1) a list of texts, which are lists of str.
        mark: "input", "target", "name", or "position" (its place in the source, in a shuffled store).
        classes: names of the values 0, 1, ... of a target, or None.
        codec: how it is stored, with `level`; chosen when the store was made.
        media: the media type of a kept field, such as "image/jpeg": its values are files, stored byte for
            byte as they came; or None. The dtype of such a field is "u8", its shape (-1,).
        indexed: how many of these are indexed JPEGs, whose crops are decoded without the rest.
        layout: for `Writer` and `convert()`: "HWC" if the values, of that shape, have their channels last:
            they are stored with their channels first, as transforms take them. "CHW" if they come first,
            where the shape leaves that open; a store keeps it as a kind, `Image("chw")`, where it would take the
            last dimension for that of the channels.
        kind: what it is, from `apldata.kinds`; None: nobody has said.
        kind_origin: who says that: "declared", "source" (it says so by itself), "guessed" or "default".
        raw_bytes, stored_bytes: of all values, decoded and as stored.
        digest: SHA-256 over all values in the order of ids, in hexadecimal; of a set, zeros.
    """

    name: str
    dtype: Any
    shape: tuple[int, ...] = ()
    mark: str = "input"
    classes: tuple[str, ...] | None = None
    codec: str = ""
    level: int = 0
    raw_bytes: int = 0
    stored_bytes: int = 0
    digest: str = ""
    media: str | None = None
    indexed: int = 0
    layout: str | None = None
    kind: Kind | None = None
    kind_origin: str | None = None

    @property
    def layout_unclear(self) -> bool:
        """Is it an image whose shape does not tell whether its channels come first or last?"""
        return self.dtype == "u8" and self.layout is None and channels_unclear(self.shape)

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """That of its values in a store, which has channels first."""
        return (self.shape[2], *self.shape[:2]) if self.layout == "HWC" else self.shape

    @property
    def is_picture(self) -> bool:
        """Is it an image that transforms in C can be applied to: u8, of the shape (channels, height, width)
        with at most 16 channels, or (height, width)? Not if the channels come last."""
        if self.dtype != "u8" or len(self.shape) not in (2, 3) or -1 in self.shape:
            return False
        if has_channels_last(self):
            return False
        return (len(self.shape) == 2 or self.shape[0] <= 16) and max(self.shape[-2:]) <= 1 << 15

    @property
    def is_photo(self) -> bool:
        """Is it an image of any size, from which transforms in C make images of one: a JPEG file, kept as it
        came, or u8 of a shape (channels, height, width) that varies?"""
        if self.media == "image/jpeg":
            return True
        varies = self.dtype == "u8" and len(self.shape) == 3 and -1 in self.shape
        return varies and self.shape[0] <= 4 and not has_channels_last(self)

    @property
    def channels(self) -> int:
        """The channels of an image: the first of three dimensions, or 1; 3 for images of any size."""
        if self.is_photo:
            return 3
        return self.shape[0] if len(self.shape) == 3 else 1

    @property
    def type(self) -> str:
        """Dtype and shape in one word: "u8[3,32,32]"."""
        return f"{self.dtype}[{','.join(map(str, self.shape))}]" if self.shape else str(self.dtype)

    def __repr__(self) -> str:
        classes = f", {len(self.classes)} classes" if self.classes else ""
        media = f", {self.media}" if self.media else ""
        kind = f", {self.kind}" if self.kind else ""
        return f"Field({self.name!r}: {self.type}, {self.mark}{classes}{media}{kind})"


def warn_unclear(field: Field) -> None:
    """For whoever takes a stored field for images, of which the shape may not tell where the channels are."""
    many = field.dtype in ("u8", "u16") and field.layout is None and channels_unclear(field.shape, _MOST)
    if field.layout_unclear or many:
        warn(
            f"field {plain(field.name)}: {field.type}: the first dimension is taken for the channels, not "
            "the last: if that is wrong, write the store with Field(..., layout='HWC')"
        )


def field_of(told: dict[str, Any]) -> Field:
    """A field as the extension tells of it."""
    known = {
        name: value for name, value in told.items() if name not in ("value_bytes", "kind", "kind_origin")
    }
    if told["kind"] is not None:
        known |= {"kind": of_words(told["kind"]), "kind_origin": ORIGINS[told["kind_origin"] - 1]}
    return Field(**{**known, "digest": told["digest"].hex()})


def told_last(fields: Iterable[Field]) -> str:
    """For a message about fields of which none is an image: of one, the channels come last."""
    last = (f for f in fields if f.dtype == "u8" and len(f.shape) == 3 and 1 <= f.shape[2] <= 4)
    name = next((plain(field.name) for field in last), None)
    return f"; of field {name} the channels come last, and should come first" if name else ""


class Schema(tuple[Field, ...]):
    """The fields of a store, in their order; also by name: ``store.schema["label"].classes``."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for field in self:
            if field.name == key:
                return field
        raise NoFieldError(f"there is no field {key!r}: there are {listed(self.names)}")

    def __contains__(self, key: object) -> bool:
        return key in self.names if isinstance(key, str) else super().__contains__(key)

    @property
    def names(self) -> list[str]:
        return [field.name for field in self]

    def keys(self) -> list[str]:
        return self.names

    def values(self) -> tuple[Field, ...]:
        return tuple(self)

    def items(self) -> list[tuple[str, Field]]:
        """Pairs of name and field; ``dict(store.schema)`` is a dict of these."""
        return [(field.name, field) for field in self]

    def get(self, name: str, default: Any = None) -> Any:
        return next((field for field in self if field.name == name), default)

    def image(self, among: Iterable[str] | None = None) -> Field:
        """The one field that is an image, of those named (None: of all): u8[C,H,W] or of any size if there is
        such, else u8[H,W]. InvalidError or NotFoundError say what the fields are instead."""
        fields = [field for field in self if among is None or field.name in set(among)]
        found = [f for f in fields if f.is_photo or (f.is_picture and len(f.shape) == 3)] or [
            f for f in fields if f.is_picture
        ]
        if len(found) == 1:
            return found[0]
        seen = listed(f"{plain(f.name)}: {f.type}" for f in fields)
        if found:
            names = listed(f.name for f in found)
            raise InvalidError(f"several fields are images ({names}): name one; the fields are {seen}")
        left_out = next((field for field in self if field.is_picture or field.is_photo), None)
        if left_out:
            raise InvalidError(
                f"field {plain(left_out.name)} is not among the fields wanted, which are {seen}"
            )
        raise NotFoundError(
            f"no field is an image, which is {AN_IMAGE}; the fields are {seen}{told_last(fields)}"
        )

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{plain(field.name)}: {field.type}' for field in self)})"


@dataclass(frozen=True)
class Split:
    """A named subset of the records: `records` of them. A split of the source has the ids `first` ... `first`
    + `records` - 1; for one from a file, `first` is None, and `rest`, `parent`, `ratio`, `seed`, `stratify`,
    `group` and `by` ("content", "key", "id" or "group") say how it was made."""

    name: str
    records: int
    first: int | None = None
    rest: str | None = None
    parent: str | None = None
    ratio: float | None = None
    seed: int | None = None
    stratify: str | None = None
    group: str | None = None
    by: str | None = None

    def __repr__(self) -> str:
        told = ((field.name, getattr(self, field.name)) for field in fields(self)[1:])
        known = (f"{name}={value!r}" for name, value in told if value is not None)
        return f"Split({', '.join((repr(self.name), *known))})"


@dataclass(frozen=True)
class Member:
    """A part of the source, such as a file of an archive; its records came from the source positions `first`
    ... `first` + `records` - 1, which are the ids of an unshuffled store."""

    name: str
    split: str
    first: int
    records: int
    number: int


@dataclass(frozen=True)
class SkippedFile:
    """A file of the source that was left out: `path`, as it can be printed, and `why`."""

    path: str
    why: str


@dataclass(frozen=True)
class BadBlock:
    """A block that is not as it was written: `block` of `member` has the records `first` ... `first` +
    `records` - 1, of which those in `bad` cannot be trusted."""

    member: str
    block: int
    first: int
    records: int
    bad: tuple[int, ...]
    message: str
