"""Files of images, decoded by the C code that decodes those in folders, so that both follow the same rules;
by Pillow what that does not read, where Pillow gives the samples of the file."""

from __future__ import annotations

import dataclasses
import io
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import brief
from .._errors import CorruptError, Error, SourceError, UnsupportedError
from ..ingesting import load_extension
from ._images import DecodedImage, Header, decoded_image, media_of

_OF_C = {
    "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff",
    "image/x-portable-graymap", "image/x-portable-pixmap",
}  # fmt: skip
_INSTALL = "{} are decoded by the package Pillow: pip install pillow"
_ORIENTATION, _BITS, _SAMPLES, _FORMAT, _PHOTOMETRIC, _EXTRA, _COLOURS = 274, 258, 277, 339, 262, 338, 320
_RECODED = "images that are not JPEGs, re-encoded as JPEG at quality 100 (lossy)"
_NO_ALPHA = "images whose alpha was left out"
_FIRST = "images of several frames or pages, only the first of which was stored"
_PROFILE = "images with a colour profile, which was not applied"
SIDEWAYS = "images that their EXIF says to turn, which was not done"


class Jpeg(NamedTuple):
    """A JPEG file; channels, height and width; what libjpeg warned of in the file that it comes from."""

    file: bytes
    shape: tuple[int, ...]
    remarks: tuple[str, ...]
    warning: str | None = None


def _of_c(made: Any) -> DecodedImage:
    _, shape, bits, orientation, palette, samples, remarks, warning = made
    pixels = np.frombuffer(samples, np.uint16 if bits == 16 else np.uint8).reshape(shape)
    return DecodedImage(pixels, palette, orientation=orientation, remarks=_plain(remarks), warning=warning)


def _plain(remarks: tuple[str, ...]) -> tuple[str, ...]:
    """Without the option of aplingest's that one of them names."""
    return tuple(SIDEWAYS if remark.startswith(SIDEWAYS) else remark for remark in remarks)


def header(data: bytes, allow_warnings: bool) -> Header:
    """What the header of a file says.

    Raises:
        SourceError, CorruptError: it is damaged.
        UnsupportedError: something of it would be lost.
    """
    if media_of(data) in _OF_C:
        with suppress(UnsupportedError):
            made = load_extension().image_decode(data, 0, allow_warnings)
            _, shape, bits, orientation, palette, *_ = made
            return Header(shape, np.dtype(f"u{bits // 8}"), palette, orientation)
    image = decoded(data, 8, allow_warnings)
    return Header(image.shape, image.dtype, image.of_palette, image.orientation)


def decoded(data: bytes, bits: int, allow_warnings: bool) -> DecodedImage:
    """The pixels of a file.

    Args:
        bits: 8: 16 bits become 8; 16: an image of 8 is refused.
        allow_warnings: here and below, of a file that its library only warns of, too.

    Raises: as `header()`.
    """
    if media_of(data) not in _OF_C:
        return by_pillow(data)
    try:
        return _of_c(load_extension().image_decode(data, bits, allow_warnings))
    except UnsupportedError as error:
        if media_of(data) != "image/tiff":
            raise
        _check_exact(data, error)
        return by_pillow(data)


def mask_header(data: bytes, allow_warnings: bool) -> Header | DecodedImage:
    """What the header of a mask's file says; the mask, if Pillow decodes it.

    Raises: as `mask()`.
    """
    made = _mask_of_c(data, True, allow_warnings)
    if made is None:
        return _mask_by_pillow(data)
    return Header(made[1][1:], np.dtype(f"u{made[2] // 8}"), False, 1)


def mask(data: bytes, allow_warnings: bool) -> DecodedImage:
    """The numbers that the pixels of a file are: [height, width], of as many bits as in the file.

    Raises:
        SourceError, CorruptError: it is damaged, or has no numbers.
        UnsupportedError: something of it would be lost.
    """
    made = _mask_of_c(data, False, allow_warnings)
    if made is None:
        return _mask_by_pillow(data)
    image = _of_c(made)
    return DecodedImage(image.pixels[0], remarks=image.remarks, warning=image.warning)


def _mask_of_c(data: bytes, header: bool, allow_warnings: bool) -> Any:
    """None: Pillow is to decode it, as an image of its kind."""
    if media_of(data) not in _OF_C:
        return None
    try:
        return load_extension().mask_decode(data, header, allow_warnings)
    except UnsupportedError as error:
        if media_of(data) != "image/tiff":
            raise
        _check_exact(data, error, numbers=True)
        return None


def _mask_by_pillow(data: bytes) -> DecodedImage:
    image = by_pillow(data, "masks of kinds that APL does not read itself")
    if image.orientation > 1:
        raise SourceError("a mask whose EXIF says to turn it: a mask lies as its image does")
    return dataclasses.replace(image.as_mask(), remarks=image.remarks)


def _jpeg_of_c(data: bytes, unchecked: bool, allow_warnings: bool) -> Jpeg:
    _, shape, _, _, _, file, remarks, warning = load_extension().image_to_jpeg(
        data, unchecked, allow_warnings
    )
    return Jpeg(file, shape, _plain(remarks), warning)


def kept_jpeg(data: bytes, check: bool, allow_warnings: bool) -> Jpeg:
    """A JPEG file as it is; with `check`, decoded. Of one that libjpeg warns of, another."""
    try:
        return Jpeg(data, _core.jpeg_check(data, check), ())
    except CorruptError:
        if not allow_warnings:
            raise
    return _jpeg_of_c(data, not check, True)


def as_jpeg(data: bytes, allow_warnings: bool) -> Jpeg:
    """A JPEG file of one that is none, at quality 100 with full chroma; 16 bits become 8, and alpha goes."""
    with suppress(UnsupportedError):
        if media_of(data) in _OF_C:
            return _jpeg_of_c(data, False, allow_warnings)
    image = decoded(data, 8, allow_warnings)
    if image.dtype not in (np.uint8, np.uint16):
        raise UnsupportedError(
            f"pixels of type {image.dtype} cannot become a JPEG: keep_bytes=True keeps the file"
        )
    image = image.fitted("u8")
    planes = image.pixels[None] if image.pixels.ndim == 2 else image.pixels
    file = _encoded(planes[:3].transpose(1, 2, 0) if planes.shape[0] >= 3 else planes[0])
    alpha = (_NO_ALPHA,) if planes.shape[0] in (2, 4) else ()
    return Jpeg(file, _core.jpeg_check(file, False), (_RECODED, *image.remarks, *alpha))


def orientation_of(data: bytes) -> int:
    """Of a JPEG file that can be decoded."""
    try:
        orientation: int = load_extension().image_decode(data, 0, False)[3]
        return orientation
    except (Error, ImportError):
        return 1


# ------------------------------------------------------------------------------------------------- Pillow


def _pillow(what: str) -> Any:
    try:
        from PIL import Image  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UnsupportedError(_INSTALL.format(what)) from None
    return Image


def _encoded(colours: np.ndarray) -> bytes:
    file = io.BytesIO()
    try:
        image = _pillow("such images").fromarray(np.ascontiguousarray(colours))
        image.save(file, "JPEG", quality=100, subsampling=0, optimize=True)
    except (OSError, ValueError) as error:
        raise UnsupportedError(f"cannot become a JPEG: {error}") from None
    return file.getvalue()


def _is_deep(data: bytes) -> bool:
    """Is it a JPEG 2000 or AVIF of samples that Pillow would scale, or cut to 8 bits?"""
    size, configuration = data.find(b"\xff\x4f\xff\x51"), data.find(b"av1C")
    if size >= 0 and media_of(data) == "image/jp2":
        count = int.from_bytes(data[size + 40 : size + 42])
        depths = set(data[size + 42 : size + 42 + 3 * count : 3])
        return not (depths == {7} or (count == 1 and depths == {15}))  # less one; above 127: signed
    return media_of(data) == "image/avif" and configuration >= 0 and bool(data[configuration + 6] & 0x40)


def by_pillow(data: bytes, what: str = "images of kinds that APL does not read itself") -> DecodedImage:
    Image = _pillow(what)
    if _is_deep(data):
        raise UnsupportedError(
            "has samples of which Pillow would give others: keep_bytes=True keeps the file"
        )
    try:
        with Image.open(io.BytesIO(data)) as image:
            frames, is_tiff = getattr(image, "n_frames", 1), image.format == "TIFF"
            if frames != 1 and not is_tiff:
                raise UnsupportedError(f"an image of {frames} frames: keep_bytes=True keeps the file")
            orientation = image.getexif().get(_ORIENTATION, 1)
            if is_tiff and orientation != 1:
                raise UnsupportedError("a TIFF with an orientation, by which Pillow would turn it")
            has_profile = bool(image.info.get("icc_profile"))
            return _with_remarks(decoded_image(image), orientation, has_profile, frames != 1)
    except Error:
        raise
    except Exception as error:  # Pillow raises many kinds
        raise SourceError(f"cannot be decoded: {brief(str(error), 200)}") from None


def _with_remarks(image: DecodedImage, orientation: Any, profile: bool, more: bool) -> DecodedImage:
    orientation = int(orientation) if orientation in range(1, 9) else 1
    said = {SIDEWAYS: orientation > 1, _FIRST: more, _PROFILE: profile}
    remarks = tuple(remark for remark, true in said.items() if true)
    return dataclasses.replace(image, orientation=orientation, remarks=remarks)


# Of TIFFs: bits, format and count of samples, photometric interpretation, kind of further samples, and the
# mode of Pillow, where that gives the samples of the file, and of palettes and ink the colours that C gives.
_EXACT = {
    (8, 1, 1, 0, 0, "L"), (8, 1, 1, 1, 0, "L"), (8, 1, 2, 1, 2, "LA"), (8, 1, 3, 2, 0, "RGB"),
    (8, 1, 4, 2, 2, "RGBA"), (8, 1, 4, 5, 0, "CMYK"), (8, 1, 1, 3, 0, "P"), (1, 1, 1, 0, 0, "1"),
    (1, 1, 1, 1, 0, "1"), (16, 1, 1, 1, 0, "I;16"), (16, 1, 1, 1, 0, "I;16B"), (16, 2, 1, 1, 0, "I"),
    (32, 2, 1, 1, 0, "I"), (32, 3, 1, 1, 0, "F"),
}  # fmt: skip


def _is_exact(image: Any) -> bool:
    tags, one = image.tag_v2, ()
    bits, kinds = set(tags.get(_BITS, (1,))), set(tags.get(_FORMAT, (1,)))
    of = (tags.get(_SAMPLES, 1), tags.get(_PHOTOMETRIC), *(tags.get(_EXTRA, one) or (0,)), image.mode)
    if image.mode == "P" and max(tags.get(_COLOURS, one), default=0) < 256:
        return False  # of bytes, where words are expected
    return any((bit, kind, *of) in _EXACT for bit in bits for kind in kinds if len(bits) == len(kinds) == 1)


def _check_exact(data: bytes, refused: UnsupportedError, numbers: bool = False) -> None:
    """Refuses a TIFF of which Pillow would change the samples: where they are numbers, also one that shows 0
    as white. Those that C refuses are grey ones of floats or signed numbers, or all if libtiff is missing."""
    try:
        with _pillow("").open(io.BytesIO(data)) as image:
            exact = image.format == "TIFF" and _is_exact(image)
            exact = exact and not (numbers and image.tag_v2.get(_PHOTOMETRIC) == 0)
    except (Error, OSError, ValueError, SyntaxError):
        raise refused from None
    if not exact:
        raise refused
