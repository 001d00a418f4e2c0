"""From the columns of a source to the values of a store's fields."""

from __future__ import annotations

import dataclasses
import decimal
import json
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from .._arguments import shown
from .._arrays import numpy_dtype, store_dtype
from .._errors import Error, InvalidTypeError, SourceError
from ..schema import Field
from ._images import BYTES, NO_MASK, DecodedImage, File, as_jpeg, decoded, is_image, mask_of, media_of
from ._times import Refusal, Unit, is_time
from ._told import Column, Told

Values = dict[str, Column]  # of each field


@dataclasses.dataclass(frozen=True)
class Wrong:
    """Why a row has no value for a column; bad: what is there is bad in itself, such as an image that does
    not decode."""

    why: str
    bad: bool = False


_NARROW = ("f16", "bf16", "f32")
Wrongs = dict[int, Wrong]  # by the row's place in the chunk


class Maker:
    """Makes the values of one field, or of several that belong together, of a column.

    Attributes:
        masks: the numbers of images are kept, by their palette or their levels of grey.
        sizes: height and width of each image that was made last; None: not known.
    """

    masks = False
    sizes: Sequence[tuple[int, ...] | None] = ()

    def __init__(self, column: str, field: Field) -> None:
        self.column, self.field = column, field

    @property
    def beside(self) -> list[Field]:
        """The fields that belong to its own."""
        return []

    def notes(self) -> list[str]:
        """What the caller ought to know, at the end."""
        return []

    def accept(self, told: Told) -> None:
        """Refuses a column that differs from the first, by what its source says of it."""

    def fill(self, value: Any) -> Any:
        """What takes the place of a missing value: a class by its number, as its column may have numbers."""
        classes = self.field.classes
        return classes.index(value) if classes and value in classes else value

    def make(self, values: Column, wrong: Wrongs) -> Values:
        """Of the values of a chunk; those in `wrong` are left as they come, and may get more."""
        return {self.field.name: values}


def _is_empty(value: Any) -> bool:
    """Has an array, or a list of lists, no elements at all?"""
    if isinstance(value, list):
        return all(map(_is_empty, value))
    return isinstance(value, np.ndarray) and value.size == 0


def _in_shape(empty: Any, shape: tuple[int, ...]) -> Any:
    """An empty value; the dimensions that lists of nothing do not tell are those of the field."""
    try:
        array = np.asarray(empty)
    except ValueError:  # lists of lists of different lengths
        return empty
    own = [*array.shape, *[0] * len(shape)][: len(shape)]
    sizes = [one if size < 0 else size for one, size in zip(own, shape, strict=True)]
    agrees = all(one in (0, size) for one, size in zip(own, sizes, strict=True))
    return np.zeros(sizes, array.dtype) if agrees and array.ndim <= len(shape) and 0 in sizes else empty


class Numbers(Maker):
    """Numbers, arrays of them, text: what a writer takes as it is.

    Attributes:
        time: what they count, if they stand for times.
        asked: the caller has asked for the type, so that values of others become it.
    """

    time: Unit | None = None
    asked = False

    @cached_property
    def _narrow(self) -> np.dtype | None:
        """The type of floats that others are not to be rounded to; None: there is none."""
        return numpy_dtype(self.field.dtype) if self.field.dtype in _NARROW and not self.asked else None

    def make(self, values: Column, wrong: Wrongs) -> Values:
        if isinstance(values, np.ndarray) and self.field.dtype != "utf8":
            return {self.field.name: self._array(values)}
        images = [mask_of(value) if self.masks else value for value in values]
        for row, (image, value) in enumerate(zip(images, values, strict=True)):
            if isinstance(value, DecodedImage) and isinstance(image, str):
                wrong.setdefault(row, Wrong(image, bad=True))
        self.sizes = [one.pixels.shape[-2:] if isinstance(one, DecodedImage) else None for one in images]
        made = [None if value is None else self._one(value, row) for row, value in enumerate(images)]
        return {self.field.name: made}

    def _array(self, values: np.ndarray) -> np.ndarray:
        if values.dtype.kind in "mM" and self.time is not None:
            return self.time.numbers(values)
        if (values.dtype.kind in "mM" or self.time is not None) and len(values):
            raise Refusal(0, f"{shown(values[0])}, where the first rows hold {self.time or 'no times'}")
        self._check_rounded(values, None)
        return values

    def _check_rounded(self, value: Any, row: int | None) -> None:
        """Refuses floats that would be rounded, as nobody has asked for the narrower type; `row`: the one
        that the value is of; None: it is of many."""
        if self._narrow is None or (isinstance(value, np.ndarray) and value.dtype == self._narrow):
            return
        with suppress(ValueError):  # lists of different lengths, which the writer refuses
            wide = np.asarray(value)
            if wide.dtype.kind != "f" or wide.dtype == self._narrow:
                return
            with np.errstate(over="ignore"):
                kept = (wide.astype(self._narrow).astype(wide.dtype) == wide) | np.isnan(wide)
            if kept.all():
                return
            place = tuple(np.argwhere(~kept)[0])
            own = self.field.dtype
            raise Refusal(
                int(place[0]) if row is None else row,
                f"{shown(wide[place])} ({wide.dtype}), which {own} would round: "
                f"types={{{self.field.name!r}: {store_dtype(wide.dtype)!r}}} keeps it, {own!r} rounds",
            )

    def fill(self, value: Any) -> Any:
        if self.time is not None and type(value) is int:
            return np.asarray(value).astype(self.time.code)
        return super().fill(value)

    def accept(self, told: Told) -> None:
        if self.time and told.time and self.field.dtype != "utf8" and not self.time.is_like(told.time):
            raise InvalidTypeError(
                f"column {self.column}: {told.time}, where the first rows hold {self.time}"
            )

    def _one(self, value: Any, row: int) -> Any:
        if isinstance(value, DecodedImage):
            return self._pixels(value.pixels)
        if self.field.dtype == "utf8":
            return self._text(value, row)
        if self.time is not None:
            value = self.time.number(row, value)
        elif is_time(value):
            raise Refusal(row, f"{value}, where the first rows hold no times")
        self._check_rounded(value, row)
        value = self._plain(value)
        if len(self.field.shape) > 1 and -1 in self.field.shape and _is_empty(value):
            return _in_shape(value, self.field.shape)
        return value

    def _plain(self, value: Any) -> Any:
        """Decimal numbers as the type that was asked for."""
        is_float = isinstance(value, decimal.Decimal) and self.field.dtype in ("f16", "f32", "f64")
        return float(value) if is_float else value

    def _text(self, value: Any, row: int) -> str | bytes:
        """Text, or what else there is as text, where that was asked for."""
        if isinstance(value, (str, bytes)):
            return value
        if not self.asked:
            raise Refusal(
                row,
                f"{shown(value)} ({type(value).__name__}), where the first rows hold text: "
                f"types={{{self.field.name!r}: 'utf8'}} makes text of all",
            )
        return str(value)

    def _pixels(self, pixels: np.ndarray) -> np.ndarray:
        pixels = pixels[None] if pixels.ndim == 2 and len(self.field.shape) == 3 else pixels
        return np.moveaxis(pixels, 0, -1) if self.field.layout == "HWC" else pixels


class Json(Maker):
    """Anything that JSON can say, as text."""

    def make(self, values: Column, wrong: Wrongs) -> Values:
        return {self.field.name: [self._one(row, value, wrong) for row, value in enumerate(values)]}

    def _one(self, row: int, value: Any, wrong: Wrongs) -> str:
        try:
            plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
            plain = str(value) if is_time(value) else plain
            return json.dumps(plain, ensure_ascii=False, default=str)
        except ValueError as error:
            wrong[row] = Wrong(f"JSON cannot tell {shown(value)}: {error}")
            return ""


class OfFiles(Numbers):
    """Of files; beside its field it may make others.

    Args:
        paths: a field for what the source calls them; None: none.
        shapes: a field for channels, height and width; None: none.
        outside: files that lie elsewhere may be read.
    """

    def __init__(
        self,
        column: str,
        field: Field,
        paths: Field | None,
        shapes: Field | None,
        outside: bool,
        pool: Executor,
    ) -> None:
        super().__init__(column, field)
        self._paths, self._shapes, self._outside, self._pool = paths, shapes, outside, pool

    @property
    def beside(self) -> list[Field]:
        return [field for field in (self._paths, self._shapes) if field is not None]

    def make(self, values: Column, wrong: Wrongs) -> Values:
        files = files_of(values)
        found = list(self._pool.map(self._read, files))
        for row, (_, _, why) in enumerate(found):
            if why is not None and row not in wrong:
                wrong[row] = Wrong(why, bad=True)
        self.sizes = [shape[1:] if shape[0] else None for _, shape, _ in found]
        made: Values = {self.field.name: [value for value, _, _ in found]}
        if self._paths is not None:
            made[self._paths.name] = [getattr(file, "name", None) or "" for file in files]
        if self._shapes is not None:
            made[self._shapes.name] = np.array([shape for _, shape, _ in found], np.uint32).reshape(-1, 3)
        return made

    def _read(self, value: Any) -> tuple[Any, tuple[int, ...], str | None]:
        """The field's value of a file, channels, height and width, and what is wrong with it."""
        raise NotImplementedError


class Files(OfFiles):
    """Files that are kept, byte for byte.

    Attributes:
        check: each JPEG is decoded, to see that it can be.
        recode: other images than JPEGs become such.
    """

    check = True
    recode = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._recoded: list[None] = []  # one for each; threads append

    def notes(self) -> list[str]:
        count = len(self._recoded)
        return (
            [f"images that are not JPEGs, re-encoded as JPEG at quality 100 (lossy): {count}"]
            if count
            else []
        )

    def _read(self, value: Any) -> tuple[Any, tuple[int, ...], str | None]:
        none = (0, 0, 0)
        try:
            data = bytes_of(value, self._outside)
        except Error as error:
            return b"", none, str(error)
        media = media_of(data)
        if not data:
            return data, none, "is empty"
        if self.field.media in (BYTES, media) and media != "image/jpeg":
            return data, none, None
        if self.recode and is_image(media) and media != "image/jpeg":
            return self._as_jpeg(data)
        if self.field.media not in (BYTES, media):
            what = "holds no file that is known" if media == BYTES else f"holds {media}"
            return data, none, f"{what}, and the field keeps {self.field.media}"
        try:
            return data, _core.jpeg_check(data, self.check), None
        except Error as error:
            return data, none, str(error)

    def _as_jpeg(self, data: bytes) -> tuple[Any, tuple[int, ...], str | None]:
        try:
            file = as_jpeg(decoded(data).pixels)
            shape = _core.jpeg_check(file, False)
        except Error as error:
            return data, (0, 0, 0), str(error)
        self._recoded.append(None)
        return file, shape, None


class Pixels(OfFiles):
    """Files of images, decoded."""

    def _read(self, value: Any) -> tuple[Any, tuple[int, ...], str | None]:
        image = image_of(value, self._outside, self.masks)
        if not isinstance(image, DecodedImage):
            return None, (0, 0, 0), image
        shape = image.pixels.shape
        return self._one(image, 0), shape if len(shape) == 3 else (1, *shape), None


def files_of(values: Column) -> list[Any]:
    """Values of which texts are where files lie."""
    return [File(None, value, value) if isinstance(value, str) else value for value in values]


def bytes_of(value: Any, outside: bool) -> bytes:
    """Those of a file; none for what is missing."""
    if isinstance(value, File) and value.data is None and not outside:
        raise SourceError(
            f"names the file {shown(value.name)} and does not hold it: types={{...: 'file'}} reads it"
        )
    if isinstance(value, File):
        return value.read()
    if isinstance(value, DecodedImage):
        raise InvalidTypeError("is an image that has been decoded, where files are kept")
    if value is not None and not isinstance(value, bytes):
        raise InvalidTypeError(f"must be bytes; got {shown(value)} ({type(value).__name__})")
    return value or b""


def image_of(value: Any, outside: bool, mask: bool = False) -> DecodedImage | str | None:
    """An image, decoded, or a mask; or why it cannot be."""
    if value is None or isinstance(value, DecodedImage):
        return mask_of(value) if mask else value
    try:
        data = bytes_of(value, outside)
        if not data:
            return "is empty"
        if mask and media_of(data) == "image/jpeg":
            return NO_MASK
        return mask_of(decoded(data)) if mask else decoded(data)
    except Error as error:
        return str(error)
