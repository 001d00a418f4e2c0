"""How values of varying shape become arrays: what a loader's `collate=` takes, such as ``{"tokens":
Pad(fill=0), "boxes": Ragged()}``, and what it makes.

This runs in C, on the library's threads; for fields that steps in Python change, such as boxes, after those.
Without it, ``batch[name]`` is a list with an array for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _core
from ._arguments import U32, flag, number, text, whole, wrong_type, wrong_value
from ._errors import InvalidError
from ._ragged import RaggedArray
from .schema import Field, Schema, listed

__all__ = ["Collation", "EdgeIndex", "Edges", "Nodes", "Pack", "Pad", "Ragged", "RaggedArray", "Windows"]

Shape = tuple[int | None, ...]  # None: it differs between batches


def _exact(name: str, value: Any) -> None:
    """A number that C is given as a double."""
    if number(name, value) != value:
        raise wrong_value(name, "a number that a double holds exactly, up to 2**53 of any integers", value)


@dataclass(frozen=True, kw_only=True)
class Collation:
    """How the values of a field become an array. Wrong arguments are refused when it is made."""

    def _in_c(self) -> dict[str, Any]:
        raise NotImplementedError

    def _before_python(self) -> Collation:
        """What C makes of the field if it is collated later, after steps in Python: what is long may become
        shorter until then."""
        return self

    def _parts(self, name: str) -> list[tuple[str, int]]:
        """Names and numbers of the arrays that it adds to batches, for the field of that name."""
        return []

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        """Of the field's array, in a batch of so many rows; None: it is none."""
        return None

    def _part_shapes(self, field: Field, rows: int | None) -> list[Shape]:
        """Of the array of each part."""
        return []


@dataclass(frozen=True)
class Ragged(Collation):
    """All rows' values one after another, with offsets: a `RaggedArray`; in `apldata.torch`, a nested tensor
    of jagged layout; in `apldata.tf`, a `tf.RaggedTensor`. Only the first dimension of the field may vary.

    Args:
        bucket: as for `Pad`.
    """

    bucket: int | None = None

    def __post_init__(self) -> None:
        if self.bucket is not None:
            whole("bucket", self.bucket, 1, U32)

    def _in_c(self) -> dict[str, Any]:
        return {"how": _core.APL_COLLATE_RAGGED, "bucket": self.bucket or 0}


@dataclass(frozen=True)
class Pad(Collation):
    """Values padded at their end to one length, along the dimension that varies. Beside the field, batches
    have ``batch["FIELD_lengths"]``, int64[rows], and ``batch["FIELD_mask"]``, bool[rows, length], which is
    True for the value's own elements.

    Args:
        length: to pad to; None: the longest of the batch.
        fill: what to pad with; the field's dtype must hold it exactly.
        truncate: with a length, cut longer values off there; otherwise they are an error that names the
            record.
        bucket: how many batches to pool: their records are sorted by length, cut into batches of similar
            lengths, and shuffled.
    """

    length: int | None = None
    fill: float = 0
    truncate: bool = False
    bucket: int | None = None

    def __post_init__(self) -> None:
        if self.length is not None:
            whole("length", self.length, 1, U32)
        if not (isinstance(self.fill, float) and np.isnan(self.fill)) and self.fill not in (np.inf, -np.inf):
            _exact("fill", self.fill)
        if self.bucket is not None:
            whole("bucket", self.bucket, 1, U32)
        if flag("truncate", self.truncate) and self.length is None:
            raise InvalidError("truncate: to which length? Give length too")

    def _in_c(self) -> dict[str, Any]:
        return {
            "how": _core.APL_COLLATE_PAD, "length": self.length or 0, "fill": float(self.fill),
            "truncate": int(self.truncate), "bucket": self.bucket or 0,
        }  # fmt: skip

    def _before_python(self) -> Collation:
        return replace(self, length=None, truncate=False)

    def _parts(self, name: str) -> list[tuple[str, int]]:
        return [(f"{name}_lengths", _core.APL_PART_LENGTHS), (f"{name}_mask", _core.APL_PART_MASK)]

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        return rows, *(self.length if size < 0 else size for size in field.shape)

    def _part_shapes(self, field: Field, rows: int | None) -> list[Shape]:
        return [(rows,), (rows, self.length)]


@dataclass(frozen=True)
class Pack(Collation):
    """Values laid end to end, in the order of the epoch, and cut into rows of `length` tokens:
    ``batch["FIELD"]`` has the shape (batch_size, length). Nothing is lost: what does not fit continues in the
    next row, which may be in the next batch or on another rank. Only the last row of an epoch is padded.

    Several fields may be packed alike, such as tokens and a mask of the loss; others are not read. Beside
    them, batches have ``batch["segment_ids"]``, int32[rows, length]: which piece of its row a token belongs
    to, from 1, and 0 for padding; and ``batch["positions"]``, its place in that piece. ``batch.pieces`` says
    which record each piece comes from. States, which may be taken after any batch, count tokens: they resume
    with the very next one, also with another `batch_size`, `length` or `world`.

    Args:
        length: tokens of a row.
        fill: what the last row is padded with.
        segments: False: batches have neither ``segment_ids`` nor ``positions``, which take 8 bytes a token
            and more time than the tokens themselves; alike for all packed fields.
    """

    length: int
    fill: float = 0
    segments: bool = True

    def __post_init__(self) -> None:
        whole("length", self.length, 1, 2**31 - 1)
        _exact("fill", self.fill)
        flag("segments", self.segments)

    def _in_c(self) -> dict[str, Any]:
        settings = {"length": self.length, "fill": float(self.fill), "no_segments": int(not self.segments)}
        return {"how": _core.APL_COLLATE_PACK, **settings}

    def _parts(self, name: str) -> list[tuple[str, int]]:
        if not self.segments:
            return []
        return [("segment_ids", _core.APL_PART_SEGMENTS), ("positions", _core.APL_PART_POSITIONS)]

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        return rows, self.length, *field.shape[1:]

    def _part_shapes(self, field: Field, rows: int | None) -> list[Shape]:
        return [(rows, self.length)] * 2 if self.segments else []


@dataclass(frozen=True)
class Windows(Collation):
    """Rows are not records but windows over their values: window k of a value has its tokens ``k * stride``
    to ``k * stride + length - 1``, and ``batch["FIELD"]`` has the shape (batch_size, length). Each window
    comes once per epoch. Tokens at the end of a value that do not fill a window are not read.

    The loader's batches, order, states and ranks count windows: ``batch.ids`` numbers them from 0, in the
    order of records, and ``batch.pieces`` says which record each row comes from. Several fields may have the
    same windows, such as tokens and a mask of the loss; others are not read.

    Args:
        length: tokens of a window: for the inputs ``w[:, :-1]`` and the targets ``w[:, 1:]`` of a language
            model, one more than its context has.
        stride: tokens from the start of a window to that of the next; None: `length`.
        join: windows continue from record to record: the values of all records, in the order of their ids,
            are one stream. Otherwise each value has windows of its own.
    """

    length: int
    stride: int | None = None
    join: bool = False

    def __post_init__(self) -> None:
        whole("length", self.length, 1, 2**31 - 1)
        if self.stride is not None:
            whole("stride", self.stride, 1, 2**31 - 1)
        flag("join", self.join)

    def _in_c(self) -> dict[str, Any]:
        return {
            "how": _core.APL_COLLATE_WINDOWS, "length": self.length, "stride": self.stride or 0,
            "join": int(self.join),
        }  # fmt: skip

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        return rows, self.length, *field.shape[1:]


@dataclass(frozen=True)
class Nodes(Collation):
    """A field of the nodes of a graph; each record is one graph. The graphs of a batch become one graph, as
    in PyTorch Geometric: ``batch["FIELD"]`` has all nodes, of shape (nodes, ...); ``batch["batch"]``,
    int64[nodes], says which row each belongs to; ``batch["ptr"]``, int64[rows + 1], where the nodes of each
    row begin. All node fields of a record have the same length."""

    def _in_c(self) -> dict[str, Any]:
        return {"how": _core.APL_COLLATE_NODES}

    def _parts(self, name: str) -> list[tuple[str, int]]:
        return [("batch", _core.APL_PART_GRAPHS), ("ptr", _core.APL_PART_STARTS)]

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        return None, *field.shape[1:]

    def _part_shapes(self, field: Field, rows: int | None) -> list[Shape]:
        return [(None,), (None if rows is None else rows + 1,)]


@dataclass(frozen=True)
class Edges(Collation):
    """A field of the edges of a graph, such as their attributes: those of all rows, of shape (edges, ...)."""

    def _in_c(self) -> dict[str, Any]:
        return {"how": _core.APL_COLLATE_EDGES}

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        return None, *field.shape[1:]


@dataclass(frozen=True)
class EdgeIndex(Collation):
    """Which two nodes each edge joins, of dtype i32 or i64 and shape (2, -1) or (-1, 2): an array of shape
    (2, edges), with the nodes numbered as in the batch. An edge to a node that its graph does not have is an
    error that names the record."""

    def _in_c(self) -> dict[str, Any]:
        return {"how": _core.APL_COLLATE_EDGE_INDEX}

    def _shape(self, field: Field, rows: int | None) -> Shape | None:
        return 2, None


class Collations:
    """The collations of a loader, by the names of fields.

    Args:
        given: as `collate=` of a loader.
        schema: of its store.
        fields: names of the fields that it reads; None: all.

    Attributes:
        later: names of those that are collated after steps in Python, which change them.
    """

    later: frozenset[str] = frozenset()

    def __init__(
        self, given: Mapping[str, Collation] | None, schema: Schema, fields: Sequence[str] | None
    ) -> None:
        wanted = "a dict from names of fields to collations, such as {'tokens': Pad()}, or None"
        if given is not None and not isinstance(given, Mapping):
            raise wrong_type("collate", wanted, given)
        self.by_name: dict[str, Collation] = dict(given or {})
        read = schema.names if fields is None else fields
        for name, how in self.by_name.items():
            if text("a key of collate", name) not in read:
                raise InvalidError(f"collate: {name!r} is not a field that is read: those are {listed(read)}")
            if not isinstance(how, Collation):
                raise wrong_type(f"collate[{name!r}]", "a collation, such as Pad()", how)
        self.fields = {name: schema[name] for name in self.by_name}
        numbers = {name: i for i, name in enumerate(schema.names)}
        found: dict[str, tuple[str, int, int]] = {}
        for name, how in self.by_name.items():
            for part, kind in how._parts(name):
                found.setdefault(part, (part, numbers[name], kind))  # those of packing are of the first field
        self.parts = tuple(found.values())
        taken = [part for part, *_ in self.parts if part in numbers]
        if taken:
            raise InvalidError(
                f"collate: it adds an array {taken[0]!r} to batches, and the store has a field of that name"
            )

    @property
    def part_names(self) -> tuple[str, ...]:
        """Of the arrays that are added to batches."""
        return tuple(name for name, *_ in self.parts)

    @property
    def packed(self) -> list[str]:
        """Names of the fields that are packed or have windows: if there are some, those alone are read."""
        return [name for name, how in self.by_name.items() if isinstance(how, (Pack, Windows))]

    def in_c(self) -> dict[str, Any]:
        """As options of the extension's reader."""
        made = {
            name: how._before_python() if name in self.later else how for name, how in self.by_name.items()
        }
        return {
            "collations": [{"field": name, **how._in_c()} for name, how in made.items()],
            "parts": self.parts,
        }

    def shapes(self, rows: int | None) -> dict[str, Shape]:
        """Of the arrays that collations make in batches of so many rows, by name."""
        found: dict[str, Shape] = {}
        for name, how in self.by_name.items():
            field = self.fields[name]
            shape = how._shape(field, rows)
            if shape is not None:
                found[name] = shape
            parts = [part for part, _ in how._parts(name)]
            found.update(zip(parts, how._part_shapes(field, rows), strict=True))
        return found
