"""Transforms of images, applied while a batch is made.

These run in C, fused into one pass, on the library's threads. They apply to a u8 field of the shape
(channels, height, width) or (height, width), or to a field that keeps JPEG files as they came, in this order:
resize (JPEG files), `Pad`, pad, crop, flip; `RandomRotation` or `RandomAffine`; `RandomPerspective`;
`ElasticTransform`; `TrivialAugmentWide` or `RandAugment`; `ColorJitter`; `RandomGrayscale` or `Grayscale`;
`GaussianBlur`; scale, convert; `Cutout`; `RandomErasing`; and over a batch, `MixUp` or `CutMix`. Crops,
flips, `Cutout` and conversions may be listed in any order; a transform that changes pixels or erases must be
listed where it is applied, unless another place gives the same result.

Randomness is keyed by seed, epoch and record: a record is augmented the same way whichever batch, thread or
rank it is in. What lies in the images follows them, as the kinds of the fields say: see `apldata.kinds`.
Images of one record get the same crop and flip, with equal transforms (``RandomFlip(field=["left",
"right"])``).

The same list may contain transforms of torchvision and Albumentations; see docs/PYTHON.md. Any other callable
is a function of a whole batch (see `Loader`); `PerPicture` makes one from a function of single images.
"""

from ._affine import RandomAffine, RandomRotation
from ._base import Transform
from ._colours import ColorJitter, GaussianBlur, Grayscale, RandomGrayscale
from ._function import PerPicture
from ._geometry import (
    AlternatingFlip,
    CenterCrop,
    Pad,
    RandomCrop,
    RandomFlip,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)
from ._merge import check_channels, listed, split_transforms
from ._mixing import MIXING, CutMix, MixUp, RandomChoice, taken_blend
from ._policy import MOVING, RandAugment, TrivialAugmentWide
from ._result import ChannelsLast, Cutout, Normalize, RandomErasing, ToBFloat16, ToFloat16, ToFloat32
from ._sanitizing import SanitizeBoundingBoxes
from ._warp import ElasticTransform, RandomPerspective

__all__ = [
    "MIXING", "MOVING", "AlternatingFlip", "CenterCrop", "ChannelsLast", "ColorJitter",
    "CutMix", "Cutout", "ElasticTransform", "GaussianBlur", "Grayscale", "MixUp", "Normalize",
    "Pad", "PerPicture", "RandAugment", "RandomAffine", "RandomChoice", "RandomCrop", "RandomErasing",
    "RandomFlip", "RandomGrayscale", "RandomHorizontalFlip", "RandomPerspective", "RandomResizedCrop",
    "RandomRotation", "RandomVerticalFlip", "Resize", "SanitizeBoundingBoxes", "ToBFloat16", "ToFloat16",
    "ToFloat32", "Transform", "TrivialAugmentWide", "check_channels", "listed", "split_transforms",
    "taken_blend",
]  # fmt: skip
