"""What fields are: images, masks, boxes, labels. Declared once, kept by the store, obeyed by every reader.

    from apldata.kinds import Boxes, Label

    Field("boxes", "f32", (-1, 4), "target", kind=Boxes("xywh"))
    Field("labels", "u8", (-1,), "target", kind=Label(per="boxes"))

A kind says what becomes of a field when a transform moves the pixels of its image. Images, masks, maps and
boxes move too; keypoints, vectors and what is pinned refuse the transform; all others stay. The words are
those of ``--field`` on the command line, and a string of them does as well as a kind: ``"boxes,xywh"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from . import _core
from ._arguments import optional_text, text, whole, wrong_type
from ._errors import InvalidError

__all__ = [
    "Audio", "Boxes", "Image", "Keypoints", "Kind", "Label", "Map", "Mask", "Pinned", "Plain", "Text",
    "Tokens", "Vectors",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class Kind:
    """What a field is. ``str(kind)`` has it in the words of ``--field``.

    Args:
        of: the name of its image, needed only where there are several.
        per: the name of a field; this one has an element for each of that one's elements, as labels have for
            boxes. They go when those are removed.
    """

    of: str | None = None
    per: str | None = None

    def __post_init__(self) -> None:
        for name in ("of", "per"):
            optional_text(f"{type(self).__name__}: {name}", getattr(self, name))
        _read(str(self), repr(self))

    def __str__(self) -> str:
        given = {
            one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None
        }
        words = [
            str(value) if name == "form" else f"{name}={value}"
            for name, value in given.items()
            if value != ()
        ]
        return ",".join([type(self).__name__.lower(), *sorted(words, key=lambda word: "=" in word)])

    def __repr__(self) -> str:
        told = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        shown = [
            repr(v) if name == "form" else f"{name}={v!r}"
            for name, v, d in told
            if v != d or (name == "form" and v)
        ]
        return f"{type(self).__name__}({', '.join(sorted(shown, key=lambda word: '=' in word))})"


@dataclass(frozen=True, repr=False)
class Image(Kind):
    """Pixels, or files of images. Leading dimensions are frames, views or slices.

    Args:
        form: "chw", "hwc" or "hw"; None: as the shape has it.
    """

    form: str | None = None


@dataclass(frozen=True, repr=False)
class Mask(Kind):
    """Whole numbers, one for each pixel of the image.

    Args:
        ignore: the number of pixels that belong to no class.
    """

    ignore: int | None = None

    def __post_init__(self) -> None:
        if self.ignore is not None:
            whole("Mask: ignore", self.ignore, -(2**63))
        super().__post_init__()


@dataclass(frozen=True, repr=False)
class Map(Kind):
    """Other numbers for each pixel: depth, heatmaps, saliency.

    Args:
        form: how it is resized: "nearest", or "linear".
    """

    form: str = "nearest"


@dataclass(frozen=True, repr=False)
class Boxes(Kind):
    """[n,4], or [4]: boxes in pixels of the image as stored.

    Args:
        form: "xyxy", "xywh", "cxcywh" or "yxyx"; with "-rel", parts of the sides of the image.
    """

    form: str = "xyxy"


@dataclass(frozen=True, repr=False)
class Keypoints(Kind):
    """[k,2] or [k,3], or a list of these for each object: landmarks, joints, polygons, rotated boxes by
    corners.

    Args:
        form: "xy", "xyv" or "xyz"; with "-rel", parts of the sides of the image.
        flip: pairs of points that a flip exchanges, such as the left and the right eye.
    """

    form: str = "xy"
    flip: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        wanted = "Keypoints: flip", "pairs of numbers of points, as in [(1, 2), (3, 4)]"
        try:
            pairs = tuple((whole(wanted[0], a), whole(wanted[0], b)) for a, b in self.flip)
        except (TypeError, ValueError):
            raise wrong_type(*wanted, self.flip) from None
        object.__setattr__(self, "flip", _Pairs(pairs))
        super().__post_init__()


class _Pairs(tuple[tuple[int, int], ...]):
    """Printed as ``--field`` has them."""

    def __str__(self) -> str:
        return "+".join(f"{a}-{b}" for a, b in self)


@dataclass(frozen=True, repr=False)
class Vectors(Kind):
    """Two planes of numbers that point from pixel to pixel: optical flow, displacement."""


@dataclass(frozen=True, repr=False)
class Pinned(Kind):
    """It lies in the image, and apldata cannot move it: camera matrices, boxes in 3D, angles."""


@dataclass(frozen=True, repr=False)
class Label(Kind):
    """Classes, by number or by name."""


@dataclass(frozen=True, repr=False)
class Text(Kind):
    """Text."""


@dataclass(frozen=True, repr=False)
class Tokens(Kind):
    """Numbers of tokens."""


@dataclass(frozen=True, repr=False)
class Audio(Kind):
    """Sound.

    Args:
        rate: samples in a second.
    """

    rate: int | None = None

    def __post_init__(self) -> None:
        if self.rate is not None:
            whole("Audio: rate", self.rate)
        super().__post_init__()


@dataclass(frozen=True, repr=False)
class Plain(Kind):
    """Numbers that have nothing to do with the image."""


_KINDS: dict[str, type[Kind]] = {kind.__name__.lower(): kind for kind in Kind.__subclasses__()}


def _pairs(word: str) -> list[Any]:
    return [tuple(map(int, pair.split("-"))) for pair in word.split("+")]


_VALUES: dict[str, Callable[[str], Any]] = {"flip": _pairs, "ignore": int, "rate": int}


def _read(words: str, where: str) -> str:
    """The words of a kind as C has read them."""
    try:
        return _core.kind_words(words)
    except InvalidError as error:
        raise InvalidError(f"{where}: {str(error).removeprefix(words + ': ')}") from None


def of_words(words: str) -> Kind:
    """A kind, of words that C has read."""
    name, *more = words.split(",")
    given = [word.partition("=") for word in more]
    values = {key: _VALUES.get(key, str)(value) for key, equals, value in given if equals}
    form = next((key for key, equals, _ in given if not equals), None)
    return _KINDS[name](**values, **({} if form is None else {"form": form}))


def kind_of(field: str, kind: Any) -> Kind:
    """A kind, or a string of its words."""
    if isinstance(kind, Kind):
        return kind
    if isinstance(kind, type) and issubclass(kind, Kind):
        return kind()
    if not isinstance(kind, str):
        raise wrong_type(
            f"field {field}: the kind", "one of apldata.kinds, or a string such as 'boxes,xywh'", kind
        )
    return of_words(_read(text(f"field {field}: the kind", kind), f"field {field}: {kind}"))


def texts_of(kinds: Mapping[str, Any] | None) -> list[str]:
    """What a loader is told of fields, as C takes it."""
    if kinds is None:
        return []
    if not isinstance(kinds, Mapping):
        raise wrong_type(
            "kinds", "a dict from names of fields to kinds, as in {'pose': Keypoints('xy')}", kinds
        )
    return [f"{text('kinds', name)}={kind_of(name, kind)}" for name, kind in kinds.items()]
