"""apldata keeps a training set in one sealed, compressed, checked store, and feeds it to training code.

    import apldata
    from apldata import Normalize, RandomCrop, RandomFlip, ToFloat16

    apldata.ingest("cifar-10-python.tar.gz", "db")
    loader = apldata.Loader("db", split="train", batch_size=512, seed=1,
                            transforms=[RandomCrop(32, padding=4), RandomFlip(), Normalize(), ToFloat16()])
    for batch in loader:
        images, labels = batch["image"], batch["label"]

`apldata.torch`, `apldata.jax` and `apldata.tf` serve the frameworks.
"""

from __future__ import annotations

from . import _errors, collation, kinds, transforms
from ._arrays import numpy_dtype
from ._core import Batch, View
from ._core import version as _version
from ._errors import (
    BusyError,
    CancelledError,
    CorruptError,
    Error,
    ExistsError,
    ForkedError,
    IncompleteError,
    InvalidError,
    InvalidTypeError,
    LentError,
    MismatchError,
    NoFieldError,
    NoMemoryError,
    NoRecordError,
    NoSpaceError,
    NotFoundError,
    ReentrantError,
    SourceError,
    StorageError,
    TimedOutError,
    UnsupportedError,
    VersionError,
)
from ._loader import Loader
from ._part import SplitView
from ._progress import Progress
from ._ragged import RaggedArray
from ._store import Store
from ._writer import Writer
from .collation import EdgeIndex, Edges, Nodes, Pack, Pad, Ragged, Windows
from .converting import convert
from .exporting import export
from .ingesting import IngestSummary, IngestWarning, ingest
from .joining import join
from .sampling import Sampling
from .schema import BadBlock, Field, Member, Schema, SkippedFile, Split
from .transforms import (
    AlternatingFlip,
    CenterCrop,
    ChannelsLast,
    ColorJitter,
    CutMix,
    Cutout,
    ElasticTransform,
    GaussianBlur,
    Grayscale,
    MixUp,
    Normalize,
    PerPicture,
    RandAugment,
    RandomAffine,
    RandomChoice,
    RandomCrop,
    RandomErasing,
    RandomFlip,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
    SanitizeBoundingBoxes,
    ToBFloat16,
    ToFloat16,
    ToFloat32,
    TrivialAugmentWide,
)

__version__ = _version()
IOError = _errors.StorageError  # as it was called; not in __all__, to hide nothing
TimeoutError = _errors.TimedOutError

__all__ = [
    "AlternatingFlip",
    "BadBlock",
    "Batch",
    "BusyError",
    "CancelledError",
    "CenterCrop",
    "ChannelsLast",
    "ColorJitter",
    "CorruptError",
    "CutMix",
    "Cutout",
    "EdgeIndex",
    "Edges",
    "ElasticTransform",
    "Error",
    "ExistsError",
    "Field",
    "ForkedError",
    "GaussianBlur",
    "Grayscale",
    "IncompleteError",
    "IngestSummary",
    "IngestWarning",
    "InvalidError",
    "InvalidTypeError",
    "LentError",
    "Loader",
    "Member",
    "MismatchError",
    "MixUp",
    "NoFieldError",
    "NoMemoryError",
    "NoRecordError",
    "NoSpaceError",
    "Nodes",
    "Normalize",
    "NotFoundError",
    "Pack",
    "Pad",
    "PerPicture",
    "Progress",
    "Ragged",
    "RaggedArray",
    "RandAugment",
    "RandomAffine",
    "RandomChoice",
    "RandomCrop",
    "RandomErasing",
    "RandomFlip",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "ReentrantError",
    "Resize",
    "Sampling",
    "SanitizeBoundingBoxes",
    "Schema",
    "SkippedFile",
    "SourceError",
    "Split",
    "SplitView",
    "StorageError",
    "Store",
    "TimedOutError",
    "ToBFloat16",
    "ToFloat16",
    "ToFloat32",
    "TrivialAugmentWide",
    "UnsupportedError",
    "VersionError",
    "View",
    "Windows",
    "Writer",
    "collation",
    "convert",
    "export",
    "ingest",
    "join",
    "kinds",
    "numpy_dtype",
    "transforms",
]
