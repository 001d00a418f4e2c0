"""What a store says of itself."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from . import _core
from ._dividing import made
from ._statistics import class_counts_of, moments_of
from .schema import Member, Schema, SkippedFile, Split, field_of


class Described(_core.Store):
    """A store's description: the part of `Store` that reads no record."""

    @cached_property
    def info(self) -> dict[str, Any]:
        """The store's own description: records, blocks, sizes, digests, and the program that wrote it."""
        return self._info()

    @cached_property
    def schema(self) -> Schema:
        """Its fields, in order; also by name."""
        return Schema(map(field_of, self._fields()))

    @property
    def splits(self) -> dict[str, Split]:
        """Its splits by name: those of the source, then those currently in files (and their rests). Files
        that cannot be used are left out."""
        splits = {name: Split(name, count, first) for name, first, count in self._splits()}
        for file in self._split_files():
            if file["status"] == 0:
                for split in made(file):
                    splits.setdefault(split.name, split)
        return splits

    @cached_property
    def members(self) -> list[Member]:
        """The parts of its source."""
        return [Member(*member) for member in self._members()]

    @cached_property
    def skipped(self) -> list[SkippedFile]:
        """The files of its source that were left out because they were bad, with the reasons: the first
        10,000; ``store.info["skipped"]`` counts all of them."""
        return [SkippedFile(*one) for one in self._skipped()]

    @cached_property
    def content_digest(self) -> str:
        """SHA-256 over input and target fields, in hexadecimal: the same for the same data, however it is
        stored; of a set, the SHA-256 of its shards' digests, which differs from that of the merged store."""
        found: bytes = self.info["content_digest"]
        return found.hex()

    @cached_property
    def digest(self) -> str | None:
        """SHA-256 over all that the store says of itself, the digests of its blocks included, in hexadecimal:
        for `expected_digest`. None if the store was written before format 1.6."""
        found: bytes | None = self.info["digest"]
        return None if found is None else found.hex()

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes of the first target that has some, or None."""
        return next((f.classes for f in self.schema if f.classes), None)

    def moments(self, split: str = "train", field: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each channel of an image over a split of the source: two
        float64[channels], in units of the stored values (0 ... 255).

        Args:
            field: u8 of the shape (channels, height, width), (height, width) or any other with fewer than
                three dimensions, which count as one channel; or images of any size or indexed JPEG files,
                which have red, green and blue, if no more than one in 20 is not indexed; None: the one
                field that is an image.
        """
        return moments_of(self, split, field)

    def class_counts(self, split: str, field: str | None = None) -> dict[str, int]:
        """How many records of a split have each class of a target (None: the first that has classes)."""
        return class_counts_of(self, split, field)

    @property
    def picture(self) -> str:
        """The name of the one field that is an image: u8[channels, height, width], or u8[height, width]."""
        return self.schema.image().name
