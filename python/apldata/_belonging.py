"""What a field of a record is to transforms that move its images: one table, which `kind_of()` reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, Flag, auto

from .schema import Field, channels_last

# --------------------------------------------------------------------------------- kinds, and what they imply

_AS_IT_IS = "leave {names} as it is: "
_FOLLOWS = _AS_IT_IS + "name what follows the images, as in {follow}, or {alone}"
_ROWS = _AS_IT_IS + "boxes that follow are f32[-1,4], not {type}: {stored}, or, if they are no boxes, {alone}"
_BOTH = "leave {names} out of fields, or move both in a function over batches{unrelated}"
_FIT = "only maps as large as their images can follow (masks=)"
_BEND = "vectors, as of optical flow, change when the image is flipped or scaled, and cannot follow"
_FLAT = "it has four dimensions, and only images of up to three can be moved"


class Kind(Enum):
    """What a field is to images that are moved. Of several, what comes first here is reported first.

    Attributes:
        role: what transforms of torchvision and Albumentations take it for without being told: "image",
            "mask" or "boxes"; "": they leave it as it is.
        argument: of a loader, by which it follows in C: "masks" or "boxes"; "": it cannot.
        refusal: of a transform that would leave it as it is.
    """

    INSTANCES = (  # masks, of a number that varies
        "", "", "leave field {names} ({type}) as it is, whose number of masks varies: store one mask of "
        "(height, width) with a number for each instance, or leave the field out by fields=[...]",
    )  # fmt: skip
    OTHER_BOXES = "boxes", "", _ROWS  # called boxes, but not f32[-1,4]
    BOX_ROWS = "", "", _ROWS  # perhaps with a class or a score in the same row
    IMAGE = "image", "masks", _FOLLOWS
    MASK = "mask", "masks", _FOLLOWS
    MAP = "", "masks", _FOLLOWS  # other numbers for each pixel, such as depth
    BOXES = "boxes", "boxes", _FOLLOWS
    LIKELY_BOXES = "", "boxes", _FOLLOWS  # not called so
    UNFIT = "", "", f"{_AS_IT_IS}{_FIT}: {_BOTH}"  # maps of another size, such as heatmaps
    LIKELY_UNFIT = "", "", f"{_AS_IT_IS}it may be a map, and {_FIT}: {_BOTH}"  # not called so
    VECTORS = "", "", f"{_AS_IT_IS}{_BEND}: {_BOTH}"
    FRAMES = "", "", f"{_AS_IT_IS}{_FLAT}: {_BOTH}"  # of a clip, slices of a volume, several views
    KEYPOINTS = "", "", f"{_AS_IT_IS}keypoints cannot follow: {_BOTH}"
    NOTHING = "", "", ""

    def __init__(self, role: str, argument: str, refusal: str) -> None:
        self.role, self.argument, self.refusal = role, argument, refusal


# -------------------------------------------------------------------------------------------- names and marks

_Test = Callable[[Field], bool]

_BOX = "box"
_BOXES_AT_END = "(box|boxes|rois?)([_.]?(xyxy|xywh|ltrb|cxcywh|[23]d))?$"  # "box_labels" are none
_TOKENS = "attention|attn|causal|token|seg(ment)?_id"  # whose masks are none of images
_MASK = f"^(?!.*({_TOKENS})).*(mask|segm|(?<![a-z])segs?(?![a-z]))"
_NOTES = "annotations?(?![a-z])"
_MAP = f"{_MASK}|heatmap|depth|(map|flow)s?(?![a-z])"
_FLOW = "flows?(?![a-z])|offset|displacement"
_POINT = "keypoint|landmark|(?<![a-z])(kps|kpts?)(?![a-z])"
_OUTLINE = "polygon|contour|(?<![a-z])(polys?|quads?)(?![a-z])"
_OUTLINES_OF_MASKS = "segmentation|(?<![a-z])segm(?![a-z])"  # as COCO has them
_POINTS = f"(?<![a-z])(points|joints|pts|lms?)(?![a-z])|{_OUTLINE}"
_WORDS = f"{_TOKENS}|caption|prompt|(?<![a-z])ids?(?![a-z])"
_FEATURES = f"{_WORDS}|embed|feature|latent|hidden|matri|kernel|spectr|(?<![a-z])mels?(?![a-z])"
_NO_FEATURES = f"^(?!.*({_FEATURES}))"
_NO_NAME = "(?!)"


def _named(pattern: str) -> _Test:
    return lambda field: re.search(pattern, field.name.lower()) is not None


def _target(pattern: str = _NO_NAME) -> _Test:
    """Is it a target, or an input of such a name?"""
    return lambda field: field.mark == "target" or _named(pattern)(field)


def _input(pattern: str = _NO_NAME) -> _Test:
    """Is it an input of another name?"""
    return lambda field: not _target(pattern)(field)


# ---------------------------------------------------------------------------------------------------- numbers

_FILE, _BYTE, _F32 = {"file"}, {"u8"}, {"f32"}  # "file": kept as it came
_SHORT = {"u8", "i8", "u16", "i16", "bool"}
_CLASS = _SHORT | {"i32", "i64"}
_WHOLE = _CLASS | {"u32", "u64"}
_PIXEL = {"u8", "u16", "f16", "f32"}
_FLOAT = {"f16", "bf16", "f32", "f64"}
_ANY = _WHOLE | _FLOAT
_PLACE = _ANY - {"bool"}

# ----------------------------------------------------------------------------------------------------- shapes

_SMALLEST, _NARROWEST = 32, 3  # of what may be an image: pixels of a side, and one side by the other
ALL_VARY = (-1, -1, -1)  # of image files of any size: the channels come first


def _ends(field: Field) -> tuple[tuple[int, ...], ...]:
    """What may be its height and width, wherever its channels are; of four dimensions, the first counts
    images, or is the channels of slices."""
    return field.shape[-2:], field.shape[1:3] if len(field.shape) == 4 else field.shape[:2]


def planes_of(field: Field) -> tuple[int, ...] | None:
    """Height and width, which may be -1, of what may be an image; None: it cannot be one."""
    shape = field.shape
    if len(shape) == 2:
        return shape
    if len(shape) != 3:
        return None
    if (1 <= shape[0] <= 16 or shape == ALL_VARY) and not channels_last(shape):
        return shape[1:]
    return shape[:2] if 1 <= shape[2] <= 4 else None


def is_picture(field: Field) -> bool:
    """Has it a type and shape that C takes for an image?"""
    return field.is_picture or field.is_photo


def _has_channels(field: Field) -> bool:
    return field.is_photo or (field.is_picture and len(field.shape) == 3)


def _has_planes(field: Field) -> bool:
    return planes_of(field) is not None


def _is_layered(field: Field) -> bool:
    """Floats of this shape are images; those of others are matrices, points or features."""
    pairs = -1 in field.shape and field.shape[-1] == 2
    return len(field.shape) == 3 and field.shape != ALL_VARY and not pairs and _has_planes(field)


def _is_grid(field: Field) -> bool:
    """Is it of one size, and more than a matrix of a few rows or columns?"""
    shape = field.shape
    return len(shape) in (2, 3) and min(shape) > 0 and max(map(min, _ends(field))) > 4


def _may_be_image(field: Field) -> bool:
    """Is it as large, and no narrower, than images of one size are? Features of so many tokens mostly are
    narrower, as f32[197,768]; numbers of tokens are whole, in two dimensions."""
    sides = planes_of(field) or (0, 0)
    tokens = len(field.shape) == 2 and field.dtype in ("i32", "u32", "i64", "u64")
    return not tokens and min(sides) >= _SMALLEST and max(sides) <= _NARROWEST * min(sides)


def _is_row_of_points(field: Field) -> bool:
    """Of two or three numbers each, as many as there are."""
    last = field.shape[-1] if field.shape else 0
    return last == -1 or (last > 1 and 0 in (last % 2, last % 3))


def _shape(pattern: str) -> _Test:
    """`n`: any length, `k`: one that does not vary, `s`: sides of images, too large for a matrix, `f`: those
    that do not vary; else as in regular expressions."""
    for letter, meant in (("n", r"-?\d+"), ("k", r"\d+"), ("s", "(-1,-1|f)"), ("f", r"\d\d+,\d\d+")):
        pattern = pattern.replace(letter, meant)
    compiled = re.compile(pattern)
    return lambda field: compiled.fullmatch(",".join(map(str, field.shape))) is not None


# ------------------------------------------------------------------------------------------------------ sizes


class Beside(Flag):
    """Height and width of a field, beside those of the images."""

    ALONE = auto()  # no image is known
    SAME = auto()
    PART = auto()  # one is a whole multiple of the other
    OTHER = auto()
    VARYING = auto()  # both vary from record to record
    LOOSE = auto()  # only the field's vary
    FIXED = auto()  # only the images' vary


_ALONE, _SAME, _PART, _OTHER, _VARYING, _LOOSE, _FIXED = Beside
_LIKE = _ALONE | _SAME | _VARYING


def _divides(sides: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """By one whole factor; of matrices of a few rows or columns that says nothing."""
    by = max(1, others[0] // max(1, sides[0]))
    return min(sides) > 4 and by > 1 and tuple(by * side for side in sides) == others


def _beside(field: Field, image: Field) -> Beside:
    planes, ends = planes_of(image), _ends(field)
    varies = field.media or (-1, -1) in (ends[0], planes_of(field))
    if image.is_photo or -1 in (planes or ()):
        return _VARYING if varies else _FIXED if _is_grid(field) or len(field.shape) == 4 else _OTHER
    if varies:
        return _LOOSE
    if planes is None or len(field.shape) not in (2, 3, 4):
        return _OTHER
    if planes in ends:
        return _SAME
    return _PART if any(_divides(end, planes) or _divides(planes, end) for end in ends) else _OTHER


# -------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class _Row:
    kind: Kind
    says: _Test  # by its name, or its mark
    dtypes: set[str]
    shape: _Test
    beside: Beside = ~Beside(0)  # any

    def fits(self, field: Field, beside: Beside) -> bool:
        dtype = "file" if field.media else field.dtype
        return bool(beside & self.beside) and dtype in self.dtypes and self.says(field) and self.shape(field)


def _anything(field: Field) -> bool:
    return True


def _no_matrix(field: Field) -> bool:
    """Is it an input, and in two dimensions not called as tokens or features are?"""
    return field.mark == "input" and (len(field.shape) > 2 or _named(_NO_FEATURES)(field))


_TABLE = (  # the first that fits says what a field is
    # Maps that cannot follow; images, of any size; masks and boxes that say so.
    _Row(Kind.VECTORS, _named(_FLOW), _PLACE - _BYTE, _shape("2,n,n|n,n,2")),
    _Row(Kind.UNFIT, _named(_MAP), _ANY, _is_grid, _PART | _OTHER),
    _Row(Kind.MASK, _named(_NOTES), _CLASS, _shape("([125-9],|1\\d,)?f"), _LIKE | _FIXED),
    _Row(Kind.UNFIT, _named(_NOTES), _CLASS, _shape("([125-9],|1\\d,)?f"), _PART | _OTHER),
    _Row(Kind.IMAGE, _input(_MASK), _FILE | _BYTE, _has_channels),
    _Row(Kind.IMAGE, _input(f"{_MAP}|{_FLOW}"), _BYTE | {"u16"}, _shape("[134],s|s,[134]")),
    _Row(Kind.IMAGE, _input(f"{_MASK}|{_FLOW}"), _PIXEL, _shape("[134],s|s,[134]"), _ALONE | _SAME),
    _Row(Kind.MASK, _target(_MASK), _FILE, is_picture, _LIKE),
    _Row(Kind.MAP, _target(_MASK), _FILE, is_picture),
    _Row(Kind.BOXES, _named(_BOX), _F32, _shape("-1,4")),
    _Row(Kind.OTHER_BOXES, _named(_BOX), _ANY, _shape("n,4")),
    _Row(Kind.INSTANCES, _named(_MASK), _ANY, _shape("-1,(1,)?f")),
    _Row(Kind.MASK, _named(_MASK), _CLASS, _has_planes, _LIKE | _FIXED),
    # Keypoints and outlines, perhaps all of them in one row.
    _Row(Kind.KEYPOINTS, _named(_POINT), _PLACE, _is_row_of_points),
    _Row(Kind.KEYPOINTS, _named(_POINTS), _PLACE, _shape("(.*,)?[23]")),
    _Row(Kind.KEYPOINTS, _named("(?<![a-z])points(?![a-z])"), _FLOAT, _shape("-1")),
    _Row(Kind.KEYPOINTS, _named(_OUTLINE), _PLACE, _shape(r"-1|\d*[02468]")),
    _Row(Kind.KEYPOINTS, _named(_OUTLINE), _PLACE - _BYTE, _shape("n,([468]|1[02468])")),
    _Row(Kind.KEYPOINTS, _named(_OUTLINES_OF_MASKS), _FLOAT, _shape("-1|(n,)?n,2|-1,([468]|1[02468])")),
    _Row(Kind.KEYPOINTS, _named(_OUTLINE), _FLOAT, _shape(".*,-1")),
    # What may be boxes, or one box: rows of four to six numbers.
    _Row(Kind.LIKELY_BOXES, _target("rois|annot|target"), _F32, _shape("-1,4")),
    _Row(Kind.BOX_ROWS, _named("box|rois"), _ANY, _shape("(n,)?[456]")),
    _Row(Kind.BOX_ROWS, _named(_BOXES_AT_END), _PLACE, _shape("(n,)?-1")),  # lists of no declared length
    _Row(Kind.BOX_ROWS, _target("annot|target"), _PLACE, _shape("-1,[456]")),
    # Two numbers for each pixel.
    _Row(Kind.VECTORS, _target(_MAP), _ANY, _shape("-1,-1,2"), _VARYING),
    _Row(Kind.VECTORS, _anything, _FLOAT, _shape("2,-1,-1"), _VARYING),
    # Masks that do not say so, and images that may be matrices.
    _Row(Kind.MASK, _target(), _CLASS, _has_planes, _LIKE | _FIXED),
    _Row(Kind.MAP, _target(_MASK), _BYTE, is_picture, _LOOSE),
    _Row(Kind.UNFIT, _target(_MASK), _BYTE, is_picture, _PART | _OTHER),
    _Row(Kind.IMAGE, _no_matrix, _BYTE, is_picture),
    _Row(Kind.IMAGE, _no_matrix, _BYTE | {"u16"}, _has_planes, _ALONE | _SAME),
    _Row(Kind.IMAGE, _input(), _PIXEL, _is_layered, _ALONE | _SAME),
    # More images, in four dimensions.
    _Row(Kind.FRAMES, _anything, _ANY, _shape("n,n,n,n"), _SAME),
    _Row(Kind.FRAMES, _anything, _BYTE | {"u16"}, _shape("n,[134],s|[134],n,s|n,s,[134]")),
    _Row(Kind.FRAMES, _anything, _ANY, _shape("n,[134],-1,-1|[134],n,-1,-1|n,-1,-1,[134]"), _VARYING),
    _Row(Kind.FRAMES, _named(_NO_FEATURES), _FLOAT, _shape("k,[134],f|[134],k,f|k,f,[134]"), _FIXED),
    # What has numbers for each pixel, as many as there are in the image.
    _Row(Kind.MAP, _anything, _ANY, _shape("(k,)?k,k"), _SAME),
    _Row(Kind.UNFIT, _anything, _ANY, _shape("n,n,n"), _SAME),
    _Row(Kind.MAP, _anything, _FLOAT, _shape("([134],)?-1,-1|-1,-1,[134]"), _VARYING),
    _Row(Kind.MAP, _anything, _SHORT, _shape("-1,-1"), _VARYING),
    _Row(Kind.MAP, _anything, _WHOLE, _shape("(-1|[1-4]),-1,-1|-1,-1,[134]"), _VARYING),
    _Row(Kind.MAP, _target(_MAP), _ANY, _shape("(n,)?-1,-1|-1,-1,[134]"), _VARYING),
    _Row(Kind.MAP, _named(_MAP), _ANY, _shape("(n,)?-1,-1|-1,-1,[134]"), _LOOSE),
    # Maps of another size.
    _Row(Kind.UNFIT, _named(_MAP), _ANY, _is_grid, _FIXED),
    _Row(Kind.LIKELY_UNFIT, _target(), _ANY, _is_grid, _PART | _FIXED),
    _Row(Kind.LIKELY_UNFIT, _named(_NO_FEATURES), _ANY, _may_be_image, _FIXED),
)


def kind_of(field: Field, images: Iterable[Field] = ()) -> Kind:
    """What it is to one of the images; without these, what it is by itself."""
    if field.mark not in ("input", "target"):
        return Kind.NOTHING
    found = [_beside(field, image) for image in images] or [_ALONE]
    rows = (row for row in _TABLE for beside in found if row.fits(field, beside))
    return next((row.kind for row in rows), Kind.NOTHING)
