"""From the columns of a source to the values of a store's fields."""

from __future__ import annotations

import dataclasses
import decimal
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from .._arguments import shown
from .._arrays import numpy_dtype, store_dtype
from .._errors import Error, InvalidTypeError
from ..schema import Field
from ._beside import Beside, OfFile, Values
from ._decoding import SIDEWAYS, as_jpeg, decoded, kept_jpeg, mask, orientation_of
from ._images import BYTES, DecodedImage, is_image, is_kept_as, media_of
from ._kinds import check_kind
from ._plain import NotJson, clock, helps_with, json_of, why_not
from ._reading import bytes_of, file_of_image, files_of
from ._times import Refusal, Unit, is_time
from ._told import Column, Told


@dataclasses.dataclass(frozen=True)
class Wrong:
    """Why a row has no value for a column.

    Attributes:
        bad: what is there is bad in itself, such as an image that does not decode.
        helps: what to do about it.
    """

    why: str
    bad: bool = False
    helps: str = "missing='skip' leaves such rows out, missing={...} puts a value there"


_NARROW = ("f16", "bf16", "f32")
Wrongs = dict[int, Wrong]  # by the row's place in the chunk


class Maker:
    """Makes the values of one field, or of several that belong together, of a column.

    Attributes:
        masks: the numbers of images are kept, by their palette or their levels of grey.
        sizes: height and width of each image that was made last; None: not known.
        warned: of files that were made last, by their rows, what their library warned of.
        allow_warnings: such files are kept.
    """

    masks = False
    sizes: Sequence[tuple[int, ...] | None] = ()
    warned: Mapping[int, str] = {}
    allow_warnings = False

    def __init__(self, column: str, field: Field) -> None:
        self.column, self.field = column, field
        self._remarks: Counter[str] = Counter()

    @property
    def beside(self) -> list[Field]:
        """The fields that belong to its own."""
        return []

    def notes(self) -> list[str]:
        """What the caller ought to know, at the end."""
        return [f"{remark}: {count:d}" for remark, count in self._remarks.items()]

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
        images = [self._image(row, value, wrong) for row, value in enumerate(values)]
        self.sizes = [one.pixels.shape[-2:] if isinstance(one, DecodedImage) else None for one in images]
        made = [None if value is None else self._one(value, row) for row, value in enumerate(images)]
        return {self.field.name: made}

    def _image(self, row: int, value: Any, wrong: Wrongs) -> Any:
        """Of an image, what is stored, by the rules of folders; any other value as it is."""
        if not isinstance(value, DecodedImage) or (self.asked and not self.masks):
            return value
        try:
            image = value.as_mask() if self.masks else value.fitted(str(self.field.dtype))
        except Error as error:
            wrong.setdefault(row, Wrong(str(error), bad=True))
            return value
        self._remarks.update(image.remarks)
        return image

    def _array(self, values: np.ndarray) -> np.ndarray:
        if values.dtype.kind in "mM" and self.time is not None:
            return self.time.numbers(values)
        if (values.dtype.kind in "mM" or self.time is not None) and len(values):
            raise Refusal(0, f"{shown(values[0])}, where the first rows hold {self.time or 'no times'}")
        self._check_kind(values, None)
        self._check_rounded(values, None)
        return values

    def _check_kind(self, value: Any, row: int | None) -> None:
        if not self.asked and not self.field.classes and self.field.dtype != "utf8":
            check_kind(value, row, str(self.field.dtype))

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
        with suppress(ValueError):  # lists of different lengths, which the writer refuses
            if self.field.dtype == "bool" and np.isin(value, (0, 1)).all():
                return np.asarray(value).astype(bool).tolist()
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
        self._check_kind(value, row)
        self._check_rounded(value, row)
        value = self._plain(value)
        if len(self.field.shape) > 1 and -1 in self.field.shape and _is_empty(value):
            return _in_shape(value, self.field.shape)
        return value

    def _plain(self, value: Any) -> Any:
        """Decimal numbers as the type that was asked for."""
        if self.field.dtype not in ("f16", "f32", "f64"):
            return value
        if isinstance(value, list) and not set(map(type, value)) <= {int, float}:
            return list(map(self._plain, value))
        return float(value) if isinstance(value, decimal.Decimal) else value

    def _text(self, value: Any, row: int) -> str | bytes:
        """Text, or what else there is as text, where that was asked for."""
        if isinstance(value, str) or (self.asked and isinstance(value, bytes)):
            return value
        if not self.asked:
            raise Refusal(
                row,
                f"{shown(value)} ({type(value).__name__}), where the first rows hold text: "
                f"types={{{self.field.name!r}: 'utf8'}} makes text of all",
            )
        if isinstance(value, np.ndarray) and value.ndim:
            helps = f"types={{{self.field.name!r}: 'json'}} makes text of arrays"
            raise Refusal(row, f"{shown(value)}: {NotJson(value).helps if np.iscomplexobj(value) else helps}")
        return str(value)

    def _pixels(self, pixels: np.ndarray) -> np.ndarray:
        pixels = pixels[None] if pixels.ndim == 2 and len(self.field.shape) == 3 else pixels
        return np.moveaxis(pixels, 0, -1) if self.field.layout == "HWC" else pixels


class Json(Maker):
    """Anything that JSON can say, as text."""

    _zone = _clock = False

    def accept(self, told: Told) -> None:
        self._zone = told.time is not None and told.time.zone
        self._clock = told.time is not None and told.time.clock

    def make(self, values: Column, wrong: Wrongs) -> Values:
        return {self.field.name: [self._one(row, value, wrong) for row, value in enumerate(values)]}

    def _one(self, row: int, value: Any, wrong: Wrongs) -> str:
        if self._zone and isinstance(value, (np.datetime64, np.ndarray)) and not np.isnat(value):
            value = f"{value}+00:00"
        if self._clock and isinstance(value, (np.timedelta64, np.ndarray)) and not np.isnat(value):
            value = clock(int(np.asarray(value).astype("m8[ns]").astype(np.int64)))
        try:
            return json_of(value)
        except (TypeError, ValueError) as error:
            helps = helps_with(self.field.name, value, error)
            wrong.setdefault(row, Wrong(why_not(value, error), helps=helps))
            return ""


class OfFiles(Numbers):
    """Of files; beside its field it may make others.

    Args:
        outside: files that lie elsewhere may be read.
    """

    def __init__(self, column: str, field: Field, beside: Beside, outside: bool, pool: Executor) -> None:
        super().__init__(column, field)
        self._beside, self._outside, self._pool = beside, outside, pool

    @property
    def beside(self) -> list[Field]:
        return self._beside.fields()

    def make(self, values: Column, wrong: Wrongs) -> Values:
        files = files_of(values)
        found = list(self._pool.map(self._read, files))
        for row, one in enumerate(found):
            if one.why is not None and row not in wrong:
                wrong[row] = Wrong(one.why, bad=True)
            if row not in wrong:
                self._remarks.update(one.remarks)
        self.sizes = [one.shape[1:] if one.shape[0] else None for one in found]
        self.warned = {row: one.warning for row, one in enumerate(found) if one.warning}
        return {self.field.name: [one.value for one in found], **self._beside.values(files, found)}

    def _read(self, value: Any) -> OfFile:
        raise NotImplementedError


class Files(OfFiles):
    """Files that are kept, byte for byte.

    Attributes:
        check: each JPEG is decoded, to see that it can be.
        recode: other images than JPEGs become such.
        told: the source, or the caller, says what they are.
    """

    check = True
    recode = False
    told = False

    def _read(self, value: Any) -> OfFile:
        try:
            data = bytes_of(value, self._outside)
            media = media_of(data)
            if not data and not (self.told and is_kept_as(media, self.field.media)):
                return OfFile(data, why="is empty")
            if self.recode and is_image(media) and media != "image/jpeg":
                file = as_jpeg(data, self.allow_warnings)
                return OfFile(file.file, file.shape, remarks=file.remarks, warning=file.warning)
            return self._kept(data, media)
        except Error as error:
            return OfFile(b"", why=str(error))

    def _kept(self, data: bytes, media: str) -> OfFile:
        wanted = self.field.media
        if wanted not in (BYTES, media) and not (self.told and is_kept_as(media, wanted)):
            what = "holds no file that is known" if media == BYTES else f"holds {media}"
            return OfFile(data, why=f"{what}, and the field keeps {wanted}")
        if media != "image/jpeg" or (self.told and wanted != media):
            return OfFile(data)
        kept = kept_jpeg(data, self.check, self.allow_warnings)
        turned = self.recode and orientation_of(kept.file) > 1
        remarks = dict.fromkeys((*kept.remarks, SIDEWAYS) if turned else kept.remarks)
        return OfFile(kept.file, kept.shape, remarks=tuple(remarks), warning=kept.warning)


class Pixels(OfFiles):
    """Files of images, decoded.

    Attributes:
        upright: none of the first rows has an orientation, so there is no field for it.
    """

    upright = False

    def notes(self) -> list[str]:
        late = self._remarks[SIDEWAYS] if self.upright else 0
        more = f"none of the first rows has an orientation, so none is stored of images that have one: {late}"
        return super().notes() + ([more] if late else [])

    def _read(self, value: Any) -> OfFile:
        try:
            image = self._image_of(value)
            if image is None:
                return OfFile(None)
            image = image if self.masks else image.fitted(str(self.field.dtype))
        except Error as error:
            return OfFile(None, why=str(error))
        shape = image.shape if len(image.shape) == 3 else (1, *image.shape)
        return OfFile(self._one(image, 0), shape, None, image.orientation, image.remarks, image.warning)

    def _image_of(self, value: Any) -> DecodedImage | None:
        """An image, decoded, or a mask; None: it is missing."""
        if value is None or isinstance(value, DecodedImage):
            return value.as_mask() if value is not None and self.masks else value
        data = file_of_image(value, self._outside)
        bits = 16 if self.field.dtype == "u16" else 8
        return mask(data, self.allow_warnings) if self.masks else decoded(data, bits, self.allow_warnings)
