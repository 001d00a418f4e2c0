"""Which columns hold masks, by their names, beside the images that they are of."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from .._errors import Error
from ..kinds import Map
from ..schema import Field
from ._images import DecodedImage, File, Header, MaskArray, SaidArray, is_image, media_of
from ._making import Maker
from ._reading import bytes_of, files_of, header_of
from ._told import Chunk, Column, Told

_IMAGE = r"(?<![a-z])(image|img|picture|photo|jpe?g|rgb)s?(?![a-z])"
_MASK = (
    r"^(?!.*(attention|token)).*(mask|segm|annotation|labelmap|parsing|depth|disparity|ground_?truth"
    r"|(?<![a-z])(seg|gt|labels?)(?![a-z]))"
)
_FEW = 64  # files of which the first tell


def _is_named_mask(name: str) -> bool:
    return re.search(_MASK, name.lower()) is not None


class Segmentation:
    """Tells which columns are masks.

    Args:
        first: the first rows.
        told: what is known of the columns.
        names: of their fields; of those alone of which nobody says what they are for.
        outside: files that the source names may be read.
    """

    def __init__(
        self,
        first: Chunk,
        told: Mapping[str, Told],
        names: Mapping[str, str],
        outside: bool,
        allow_warnings: bool,
    ) -> None:
        self._first, self._names, self._outside, self._allow = first, names, outside, allow_warnings
        self._medias = {one: self._media(first[one], told.get(one, Told())) for one in first}
        self._main = self._main_of([one for one, medias in self._medias.items() if medias])
        self.notes: list[str] = []

    def _name(self, column: str) -> str:
        return self._names.get(column, column)

    def _main_of(self, images: list[str]) -> str | None:
        """Of several, the one that others are of: what is called an image, or else the first."""
        others = [one for one in images if not _is_named_mask(self._name(one))]
        called = (one for one in others if re.search(_IMAGE, self._name(one).lower()))
        return next(called, others[0]) if others and len(images) > 1 else None

    def _media(self, values: Column, told: Told) -> set[str]:
        """The media types of the first values, if they are images."""
        given = values if isinstance(values, list) else []
        few = [value for value in given[:_FEW] if value is not None]
        kinds = set(map(type, few))
        if not kinds or not (kinds <= {DecodedImage, File, bytes} or (told.is_file and kinds == {str})):
            return set()
        found = set()
        for value in files_of(few):
            with suppress(Error):  # making its record will tell
                head = value.head() if isinstance(value, File) and self._outside else value
                decoded = isinstance(value, DecodedImage)
                found.add("image/png" if decoded else media_of(bytes_of(head, self._outside)))
        return found if all(map(is_image, found)) else set()

    def _headers(self, column: str, as_mask: bool) -> list[Any]:
        few = files_of(self._first[column][:_FEW])
        return [header_of(one, self._outside, as_mask, self._allow) for one in few]

    def _fit(self, column: str) -> bool:
        """Have all of the first one channel, in a kind of file that holds masks, and the sizes of images?"""
        if not self._medias[column] or "image/jpeg" in self._medias[column]:
            return False
        masks, images = self._headers(column, True), self._headers(str(self._main), False)
        if any(isinstance(one, str) for one in (*masks, *images)):
            return False
        both = [
            (one, of) for one, of in zip(masks, images, strict=True) if one is not None and of is not None
        ]
        return all(one.shape[-2:] == of.shape[-2:] for one, of in both)

    def are_masks(self, column: str) -> bool:
        """Are these images masks? They have one channel, and a name of such. Notes what else may be masks."""
        name = self._name(column)
        if column not in self._names or self._main in (None, column) or not self._fit(column):
            return False
        if _is_named_mask(name):
            self.notes.append(
                f"column {column}: masks, by its name: the numbers of their pixels are kept, and the field "
                f"is a target; types={{{name!r}: 'file'}} makes it images, an input"
            )
            return True
        if not any(
            isinstance(one, (Header, DecodedImage)) and one.of_palette for one in self._headers(column, False)
        ):
            self.notes.append(  # of those with palettes there is a note already
                f"column {column}: images of one channel beside {self._main} are taken for photographs: of "
                f"masks, whose pixels are numbers of classes, types={{{name!r}: 'mask'}} keeps the numbers"
            )
        return False

    def mark(self, makers: list[Maker]) -> None:
        """Makes targets of arrays that are masks, and says what tensors say that they are."""
        fields = [maker.field for maker in makers]
        for maker in makers:
            one = self._one(maker.column)
            if isinstance(one, SaidArray) and maker.field.kind is None:
                floats = isinstance(one, MaskArray) and one.dtype.kind == "f"
                kind = Map() if floats else one.kind
                maker.field = dataclasses.replace(maker.field, kind=kind, kind_origin="source")
            if maker.field.mark == "input" and self._is_target(maker.column, maker.field, fields):
                maker.field = dataclasses.replace(maker.field, mark="target")

    def _one(self, column: str) -> Any:
        """A value; an array of all that say what they are."""
        values = self._first[column]
        return values if isinstance(values, SaidArray) else next((v for v in values if v is not None), None)

    def _is_target(self, column: str, field: Field, fields: Iterable[Field]) -> bool:
        """Are these arrays masks? They say so, or have one channel, and a name of such beside images."""
        one = self._one(column)
        if column not in self._names or isinstance(one, MaskArray):
            return column in self._names
        if not _is_named_mask(field.name) or len(field.shape) < 2 or field.shape[:-2] not in ((), (1,)):
            return False
        images = [one for one in fields if one.is_photo or (one.is_picture and len(one.shape) == 3)]
        return any(one.shape[1:] == field.shape[-2:] for one in images if not _is_named_mask(one.name))
