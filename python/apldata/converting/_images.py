"""Files of images, and images that somebody has decoded."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from .._arrays import numpy_dtype, store_dtype
from .._errors import Error, InvalidTypeError, SourceError, UnsupportedError
from ..kinds import Boxes, Image, Kind, Mask

_MAGIC = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"II+\0", "image/tiff"),
    (b"MM\0+", "image/tiff"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"%PDF-", "application/pdf"),
)
_PNM = re.compile(rb"P([56])[ \t\r\n]\s*(#|[0-9])")
_MEDIAS = {media for _, media in _MAGIC} | {
    "image/webp", "image/avif", "image/x-portable-graymap", "image/x-portable-pixmap", "audio/wav"
}  # fmt: skip
_HEAD = 64  # bytes
BYTES = "application/octet-stream"
NO_MASK = "is a JPEG, which changes the numbers of a mask: PNG, TIFF, GIF, BMP and PGM keep them"
NARROWED = "images of 16 bits, reduced to 8"

_STORED_AS = {
    "1": "L", "La": "LA", "RGBa": "RGBA", "RGBX": "RGB", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB",
}  # fmt: skip
_CONVERTED = {"La", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV"}  # of which others are made, not always exactly


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """A file: its bytes, or else where it lies; and what the source calls it."""

    data: bytes | None = None
    place: str | None = None
    name: str | None = None

    @property
    def nbytes(self) -> int:
        return len(self.data or b"")

    def read(self) -> bytes:
        if self.data is not None:
            return self.data
        try:
            with open(str(self.place), "rb") as file:
                return file.read()
        except (OSError, ValueError) as error:
            raise SourceError(f"{self.place}: {getattr(error, 'strerror', None) or error}") from None

    def head(self) -> File:
        """As much of it as tells its media type."""
        if self.data is not None or self.place is None:
            return self
        with suppress(OSError, ValueError), open(self.place, "rb") as file:
            return dataclasses.replace(self, data=file.read(_HEAD))
        return self  # reading it will tell


def file_of(data: bytes | None, path: str | None) -> File:
    """A file that is given by its bytes and its path, or one of them. Of an absolute path, the store gets the
    last part alone: the folders are those of one machine."""
    name = os.path.basename(path) if path and os.path.isabs(path) else path
    return File(data, path if data is None else None, name)


@dataclasses.dataclass(frozen=True, slots=True)
class DecodedImage:
    """A decoded image: [height, width], or [channels, height, width].

    Attributes:
        of_palette: its pixels are the colours that numbers stood for.
        numbers: these, if they are known.
        highest: the highest of the file's levels of grey, if Pillow has scaled these.
        of_jpeg: its file is one, or compressed so.
        orientation: by EXIF or TIFF, 1 ... 8; nobody has turned the pixels.
        remarks: what is true of it that the caller ought to know; those of C.
        warning: what its library warned of, if that is allowed.
    """

    pixels: np.ndarray
    of_palette: bool = False
    numbers: np.ndarray | None = None
    highest: int = 0
    of_jpeg: bool = False
    orientation: int = 1
    remarks: tuple[str, ...] = ()
    warning: str | None = None

    def as_mask(self) -> DecodedImage:
        """Of the numbers that the file has, which are classes, as aplingest keeps them.

        Raises:
            SourceError: it has none.
        """
        if self.of_jpeg:
            raise SourceError(NO_MASK)
        if self.numbers is not None:
            return DecodedImage(self.numbers)
        pixels = self.pixels[0] if self.pixels.ndim == 3 and len(self.pixels) == 1 else self.pixels
        if pixels.ndim != 2:
            kind = "grey with alpha" if len(pixels) == 2 else "in colour"
            raise SourceError(
                f"is {kind}, and a mask has a palette or is grey, so that its pixels are numbers"
            )
        if self.highest:
            full = 255 if pixels.dtype == np.uint8 else 65535
            pixels = (pixels.astype(np.int64) * self.highest + full // 2) // full
        if pixels.dtype.kind not in "iu" or (pixels.size and not 0 <= pixels.min() <= pixels.max() <= 65535):
            raise SourceError(f"has {pixels.dtype} pixels, and the numbers of a mask are from 0 to 65,535")
        narrow = pixels.dtype == np.uint8 or 0 < self.highest < 256
        return DecodedImage(pixels.astype(np.uint8 if narrow else np.uint16))

    def fitted(self, dtype: str) -> DecodedImage:
        """For a field of that type, as in folders: 16 bits become 8; all other types must be the same."""
        own = self.pixels.dtype
        if own == np.uint16 and dtype == "u8":
            pixels = ((self.pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
            return dataclasses.replace(self, pixels=pixels, remarks=(*self.remarks, NARROWED))
        if own != numpy_dtype(dtype):
            raise InvalidTypeError(f"has samples of type {store_dtype(own)}, all others {dtype}")
        return self

    @property
    def nbytes(self) -> int:
        return self.pixels.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        return self.pixels.shape

    @property
    def dtype(self) -> np.dtype:
        return self.pixels.dtype


@dataclasses.dataclass(frozen=True, slots=True)
class Header:
    """What a file of an image says of it before it is decoded; as `DecodedImage`."""

    shape: tuple[int, ...]
    dtype: np.dtype
    of_palette: bool
    orientation: int


class SaidArray(np.ndarray):
    """Of a tensor of torchvision's tv_tensors, which say what they are."""

    kind: ClassVar[Kind]


class ImageArray(SaidArray):
    kind = Image()


class MaskArray(SaidArray):
    kind = Mask()


class BoxArray(SaidArray):
    kind = Boxes()  # see _corners.py


_SAID = {"Image": ImageArray, "Mask": MaskArray, "BoundingBoxes": BoxArray}


def as_said(array: np.ndarray, tensor: Any) -> np.ndarray:
    """The values of a tensor, with what that says of them."""
    for of in type(tensor).mro():
        if of.__name__ in _SAID and of.__module__.startswith("torchvision."):
            return (
                array.view(_SAID[of.__name__])
                if of.__name__ != "BoundingBoxes" or array.shape[-1] == 4
                else array
            )
    return array


def decoded_image(image: Any) -> DecodedImage:
    """Of Pillow's."""
    highest = _highest(image)
    numbers = np.array(image) if image.mode == "P" else None
    of_jpeg = "JPEG" in (image.format, str(image.info.get("compression")).removeprefix("tiff_").upper())
    return DecodedImage(_plain(image), image.mode in ("P", "PA"), numbers, highest, of_jpeg)


def _highest(image: Any) -> int:
    """Of the levels of grey in the file, if Pillow scales these. Of more than one bit, that can be told only
    until it decodes the image."""
    if image.mode == "1":
        return 1
    tiles = getattr(image, "tile", None)
    form = tiles[0][3] if tiles and image.mode in ("L", "I") else ""
    raw, *more = form if isinstance(form, tuple) else (form,)
    if tiles and tiles[0][0] == "ppm":
        return more[0] if more and more[0] not in (255, 65535) else 0
    return {"L;2": 3, "L;4": 15}.get(str(raw)[:3], 0)


def mask_of(value: Any) -> Any:
    """A decoded image as a mask, or why it is none; anything else as it is."""
    try:
        return value.as_mask() if isinstance(value, DecodedImage) else value
    except SourceError as error:
        return str(error)


def alike(masks: Sequence[DecodedImage | Header]) -> list[DecodedImage | Header]:
    """All of 16 bits if one is."""
    wide = np.dtype(np.uint16)
    if all(mask.dtype != wide for mask in masks):
        return list(masks)
    return [
        DecodedImage(mask.pixels.astype(wide)) if isinstance(mask, DecodedImage)
        else dataclasses.replace(mask, dtype=wide)
        for mask in masks
    ]  # fmt: skip


def media_of(data: bytes) -> str:
    """The media type of a file, by its first bytes."""
    for magic, media in _MAGIC:
        if data.startswith(magic):
            return media
    if data[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12], BYTES)
    pnm = _PNM.match(data)
    if pnm is not None:
        return "image/x-portable-graymap" if pnm[1] == b"5" else "image/x-portable-pixmap"
    if data[4:8] == b"ftyp":
        return "image/avif" if data[8:12] in (b"avif", b"avis") else "video/mp4"
    return BYTES


def is_image(media: str) -> bool:
    return media.startswith("image/")


def is_kept_as(media: str, told: str | None) -> bool:
    """May bytes of that media type, as far as the first of them tell, be of the one that somebody has told?
    Most types are not known by their first bytes, and files of others may begin in other ways."""
    return media == told or told not in _MEDIAS or (media == BYTES and not is_image(told or ""))


def _mode(image: Any) -> str:
    """The mode of Pillow's that an image is stored in: loaders take three channels or more for red, green and
    blue, and a second or fourth for alpha."""
    if image.mode in ("P", "PA"):
        return "RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB"
    mode: str = image.mode
    return _STORED_AS.get(mode, mode)


def _plain(image: Any) -> np.ndarray:
    """The pixels of an image of Pillow's, channels first."""
    if image.mode == "LAB":
        raise UnsupportedError("an image of L*a*b* colours, which Pillow cannot make RGB: convert it before")
    mode = _mode(image)
    pixels = np.asarray(image if mode == image.mode else image.convert(mode))
    pixels = pixels.astype(pixels.dtype.newbyteorder("="), copy=False)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)) if pixels.ndim == 3 else pixels


def _untouched(image: Any) -> bytes | None:
    """The file that an image was opened from, if that has been neither decoded nor changed since."""
    tiles, file = getattr(image, "tile", None), getattr(image, "fp", None)
    if not tiles or image.format != "JPEG" or file is None:
        return None
    try:
        place = file.tell()
        file.seek(0)
        data: bytes = file.read()
        file.seek(place)
    except (OSError, ValueError):
        return None
    from .._core import jpeg_check

    try:
        _, height, width = jpeg_check(data, False)
    except Error:
        return None
    return data if (width, height) == image.size else None  # draft() would make it smaller


def of_pil(image: Any) -> File | DecodedImage:
    """An image of Pillow's: the JPEG file that it was opened from, if nobody has decoded it yet, else its
    pixels."""
    data = _untouched(image)
    if data is not None:
        return File(data)
    made = decoded_image(image)
    if image.mode not in _CONVERTED:
        return made
    remark = f"images in {image.mode}, which Pillow has made {_mode(image)}"
    return dataclasses.replace(made, remarks=(remark,))
