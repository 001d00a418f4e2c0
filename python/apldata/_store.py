"""Stores: opening, describing, reading single records and sets of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, overload

import numpy as np

from . import _core, _trees
from ._arguments import (
    U32,
    U64,
    absolute,
    choice,
    digest,
    flag,
    function,
    is_url,
    names,
    number,
    optional_text,
    shown_path,
    text,
    threads_of,
    whole,
)
from ._display import store_html, store_repr
from ._errors import CorruptError, ExistsError, NoRecordError, NotFoundError, advising
from ._ids import Ids, is_one, numbers
from ._part import SplitView
from ._where import meets
from .schema import BadBlock, Field, Member, Schema, SkippedFile, Split

_BY = {"content": _core.APL_BY_CONTENT, "key": _core.APL_BY_KEY, "id": _core.APL_BY_ID}
_IO = {"auto": _core.APL_IO_AUTO, "map": _core.APL_IO_MAP, "read": _core.APL_IO_READ}
_MADE = ("rest", "parent", "ratio", "seed", "stratify", "group", "by")
_REPLACE = "replace=True puts another in its place"

_COPY_FROM = 1 << 28  # bytes: more than this is read piece by piece, so that Ctrl-C is heard between them


def _how(
    parent: str | None, stratify: str | None, seed: int, replace: bool, group: str | None, by: str
) -> tuple[Any, ...]:
    """What all divisions take, as the extension takes it."""
    return (
        optional_text("parent", parent), optional_text("stratify", stratify), whole("seed", seed), 0,
        flag("replace", replace), optional_text("group", group), choice("by", by, _BY),
    )  # fmt: skip


class Store(_core.Store):
    """A store: the directory that `aplingest`, `apldata.ingest()` or `apldata.Writer` made; or a set of
    stores, which `apldata join` made.

    Opening writes nothing and takes no lock. Any number of threads may use a store. It can be pickled (the
    copy opens the same directory, and refuses other content), and used in child processes, which reopen it.

    Args:
        path: the directory; or a list of a set, such as ``set-DIGEST.apl``; or a URL of either
            (``https://``, ``s3://``, ``file://``).
        expected_content: refuse (`MismatchError`) a store with another content digest: 32 bytes, or
            hexadecimal.
        split_directory: where split files are read and written; None: the store's own directory.
        io: "map", "read", or "auto": mapped, but read on network file systems and FUSE.
        open_shards: of a set, shards that are kept open at once, besides those in use; 0: 256.
        remote_timeout_s: of a URL, after how many seconds a request that keeps failing is given up; 0: what
            ``APL_REMOTE_TIMEOUT`` says, or 120.
        plain_http: allow ``http://`` to any host, not to this machine alone.
        cache: of a URL, a directory that keeps parts of what is read; None: what ``APL_CACHE`` says, or none.
        cache_budget: the most bytes that the cache takes; 0: what ``APL_CACHE_BUDGET`` says, or nine tenths
            of what is free on its disk.

    Raises:
        NotFoundError, CorruptError, VersionError, MismatchError, StorageError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        expected_content: bytes | str | None = None,
        split_directory: str | os.PathLike[str] | None = None,
        io: str = "auto",
        open_shards: int = 0,
        remote_timeout_s: int = 0,
        plain_http: bool = False,
        cache: str | os.PathLike[str] | None = None,
        cache_budget: int = 0,
    ) -> None:
        most = whole("open_shards", open_shards, 0, U32)
        remote = (
            whole("remote_timeout_s", remote_timeout_s, 0, U32),
            flag("plain_http", plain_http),
            None if cache is None else absolute("cache", cache),
            whole("cache_budget", cache_budget, 0, U64),
        )
        mode, content = choice("io", io, _IO), digest("expected_content", expected_content)
        splits = None if split_directory is None else absolute("split_directory", split_directory)
        try:
            super().__init__(absolute("path", path), content, splits, mode, most, *remote)
        except NotFoundError:
            if os.path.isdir(path) or is_url(os.fsdecode(path)):
                raise
            what = (
                "is a file; apldata.ingest() makes a store of an archive"
                if os.path.exists(path)
                else "is not there"
            )
            raise NotFoundError(f"{os.fspath(path)!r}: {what}") from None
        self._opened_by = io
        self._open_shards = most
        self._remote = remote
        _trees.register()

    @property
    def path(self) -> str:
        """Where the store is; of a URL, without its query, which may hold a secret."""
        return shown_path(super().path)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            super().path,
            self.content_digest,
            self.split_directory,
            self._opened_by,
            self._open_shards,
            *self._remote,
        )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------- describing

    @cached_property
    def info(self) -> dict[str, Any]:
        """The store's own description: records, blocks, sizes, digests, and the program that wrote it."""
        return self._info()

    @cached_property
    def schema(self) -> Schema:
        """Its fields, in order; also by name."""

        def field(given: dict[str, Any]) -> Field:
            given = {**given, "digest": given["digest"].hex()}
            del given["value_bytes"]
            return Field(**given)

        return Schema(field(given) for given in self._fields())

    @property
    def splits(self) -> dict[str, Split]:
        """Its splits by name: those of the source, then those in files, as they are now (and their rests).
        Files that cannot be used are left out."""
        splits = {name: Split(name, count, first) for name, first, count in self._splits()}
        for file in self._split_files():
            if file["status"] != 0:
                continue
            made = {key: file[key] for key in _MADE}
            splits.setdefault(file["name"], Split(file["name"], file["records"], **made))
            splits.setdefault(file["rest"], Split(file["rest"], file["rest_records"], parent=file["parent"]))
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
        stored."""
        found: bytes = self.info["content_digest"]
        return found.hex()

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes of the first target that has some, or None."""
        return next((f.classes for f in self.schema if f.classes), None)

    def moments(self, split: str = "train", field: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each channel of an image over a split of the source: two
        float64[channels], in units of the stored values (0 ... 255).

        Args:
            field: u8 of the shape (channels, height, width), (height, width) or any other with fewer than
                three dimensions, which count as one channel; images of any size and indexed JPEG files, of
                which there are red, green and blue; None: the one field that is an image.
        """
        name = text("field", field) if field else self.picture
        known = self.schema[name]
        if known.dtype == "u8" and len(known.shape) == 3 and known.shape[0] > 16:
            self.schema.image([name])  # refuses it
        found = self._moments(text("split", split), name)
        if not found:
            raise NotFoundError(
                f"{self.path}: there are no mean and standard deviation of field {name} over split {split}"
            )
        mean, std = np.array(found).T
        return mean.copy(), std.copy()

    def class_counts(self, split: str, field: str | None = None) -> dict[str, int]:
        """How many records of a split have each class of a target (None: the first that has classes)."""
        name = optional_text("field", field) or next((f.name for f in self.schema if f.classes), None)
        if name is None or name not in self.schema.names or not self.schema[name].classes:
            raise NotFoundError(
                f"{self.path}: there is no field with classes" + (f" called {field}" if field else "")
            )
        counts = self._class_counts(text("split", split), name)
        return dict(zip(self.schema[name].classes, counts, strict=True))

    @property
    def picture(self) -> str:
        """The name of the one field that is an image: u8[channels, height, width], or u8[height, width]."""
        return self.schema.image().name

    # ------------------------------------------------------------------------------------------- reading

    def _ids(self, ids: Ids, others: int = 0) -> np.ndarray:
        """As uint64[n]. `others`: records of other stores, whose ids go on from those of this one."""
        whose = "all stores" if others else "the store"
        return numbers(ids, len(self) + others, whose, lambda id: self._no_record(id, others))

    def _no_record(self, id: int, others: int = 0) -> NoRecordError:
        known = (id, 1) if 0 <= id <= U64 else ()
        more = ", those of the other stores included" if others else ""
        last = len(self) + others - 1
        return NoRecordError(f"{self.path}: there is no record {id}: ids are 0 to {last}{more}", 0, *known)

    def get(self, ids: Ids, fields: Iterable[str] | None = None, threads: int | None = None) -> _core.Batch:
        """The records `ids`, in that order, repeats allowed; negative ones count from the end. A mask of
        bools, one for each record of the store, will do too.

        Each block is decoded once, however many of its records are requested; other fields are not decoded.
        `threads` decode: None: one per core; 0: the caller alone. The batch owns its memory.

        Raises:
            NotFoundError: no such id or field.
            CorruptError: a block is not what was written; `error.records` says which records.
        """
        return self._get(self._ids(ids), names("fields", fields), threads_of(threads))

    @overload
    def __getitem__(self, key: str) -> SplitView: ...
    @overload
    def __getitem__(self, key: Ids) -> Any: ...
    def __getitem__(self, key: Ids | str) -> Any:
        """``store[17]``: one record, as a dict of values. ``store[3:9]``, ``store[[3, 1, 4]]``, or
        ``store[mask]`` with a bool for each record: a `Batch`. ``store["train"]``: the records of a split,
        numbered from 0, as a `SplitView`."""
        if isinstance(key, str):
            return SplitView(self, text("split", key))
        if not is_one(key):
            return self.get(key)
        key = int(key)
        if not -len(self) <= key < len(self):
            raise self._no_record(key)
        batch = self._get(np.array([key % len(self)], np.uint64))
        return {name: batch[name][0] for name in batch}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """One record after another, in the order of ids. Training reads through a `Loader`."""
        return self._records(np.arange(len(self), dtype=np.uint64))

    def _records(self, ids: np.ndarray) -> Iterator[dict[str, Any]]:
        step = 1024
        for first in range(0, len(ids), step):
            batch = self._get(ids[first : first + step])
            columns = [(name, batch[name]) for name in batch]
            for row in range(batch.rows):
                yield {name: column[row] for name, column in columns}

    def split_ids(self, split: str) -> np.ndarray:
        """The ids of a split, ascending: uint64[n]."""
        return np.frombuffer(self._split_ids(text("split", split)), np.uint64)

    def where(self, split: str | None = None, /, **conditions: Any) -> np.ndarray:
        """The ids of the records of a split (None: of the store) that meet all conditions, ascending:
        uint64[n]. For a field, a condition is a value, a list of those that will do, or a function of all its
        values that returns bool[n]; classes may be called by their names.

            store.where("train", label=["cat", "dog"])
            store.where("train", label=lambda numbers: numbers < 5)
        """
        ids = np.arange(len(self), dtype=np.uint64) if split is None else self.split_ids(split)
        met = np.ones(len(ids), np.bool_)
        for name, condition in conditions.items():
            if name not in self.schema.names:
                raise NotFoundError(f"{self.path}: there is no field {name!r}")
            met &= meets(self.schema[name], self.to_numpy(split, [name])[name], condition)
        return ids[met]

    def to_numpy(
        self, split: str | None = None, fields: Iterable[str] | None = None, threads: int | None = None
    ) -> dict[str, Any]:
        """All records of a split (None: of the store), in the order of ids: one array for each field, by its
        name; lists for fields of varying shape. `threads` as for get()."""
        ids = np.arange(len(self), dtype=np.uint64) if split is None else self.split_ids(split)
        asked = names("fields", fields)
        wanted = [f for f in self.schema if asked is None or f.name in asked]
        rows = max(1, _COPY_FROM * max(1, len(self)) // max(1, sum(f.raw_bytes for f in wanted)))
        if len(ids) <= rows:
            return self._arrays(ids, asked, threads)
        joined: dict[str, Any] = {}
        for first in range(0, len(ids), rows):
            for name, column in self._arrays(ids[first : first + rows], asked, threads).items():
                if isinstance(column, list):
                    joined.setdefault(name, []).extend(column)
                    continue
                if name not in joined:
                    joined[name] = np.empty((len(ids), *column.shape[1:]), column.dtype)
                joined[name][first : first + len(column)] = column
        return joined

    def _arrays(self, ids: np.ndarray, fields: list[str] | None, threads: int | None) -> dict[str, Any]:
        batch = self._get(ids, fields, threads_of(threads))
        return {name: batch[name] for name in batch}

    # -------------------------------------------------------------------------------- splits and checking

    def split(
        self,
        name: str,
        ratio: float,
        parent: str | None = None,
        *,
        stratify: str | None = None,
        seed: int = 0,
        replace: bool = False,
        group: str | None = None,
        by: str = "content",
    ) -> Split:
        """Divides the split `parent` (None: "train") by a hash of the records' inputs: about `ratio` of it is
        the split `name` from now on, and the rest is called ``f"{parent}-{name}"``. Equal inputs are never on
        two sides; with `stratify`, a target, each class is divided exactly. Writes the file NAME.split beside
        the store.

        With `group`, the name of a field (of whole numbers, bools or bytes of a fixed shape, or text),
        records with the same value of it are on one side: a patient's, a video's. The ratio is then one of
        groups. `by` says what is hashed otherwise: "content", "key" (member and row of the source, the same
        in a shuffled store), or "id"; with these two, equal inputs can be on two sides.

        Raises:
            ExistsError: there is such a split, and `replace` is False.
        """
        ratio = number("ratio", ratio, "a number above 0 and below 1")
        with advising(ExistsError, _REPLACE):
            self._split_make(text("name", name), ratio, *_how(parent, stratify, seed, replace, group, by))
        return self.splits[name]

    def folds(
        self,
        name: str,
        k: int,
        parent: str | None = None,
        *,
        stratify: str | None = None,
        seed: int = 0,
        replace: bool = False,
        group: str | None = None,
        by: str = "content",
    ) -> list[Split]:
        """Divides the split `parent` (None: "train") into `k` equal splits, ``f"{name}-0"`` and so on, for
        cross-validation: the rest of each is what to train on. Each record is in one of them, and equal
        inputs are in the same; with `stratify`, a target, they have equally many of each class. `group` and
        `by` are as in `split()`. Writes a file for each, or none.

        Raises:
            ExistsError: there is such a split, and `replace` is False.
        """
        how = _how(parent, stratify, seed, replace, group, by)
        return self._parts(text("name", name), whole("k", k, 1, U32), 0.0, how)

    def clients(
        self,
        name: str,
        n: int,
        parent: str | None = None,
        *,
        dirichlet: float = 0.0,
        stratify: str | None = None,
        seed: int = 0,
        replace: bool = False,
        group: str | None = None,
        by: str = "content",
    ) -> list[Split]:
        """Divides `parent` into `n` splits like `folds()`, for the clients of federated learning. With
        `dirichlet` above 0, each class is divided in shares drawn from the symmetric Dirichlet distribution
        with that concentration; `stratify` is then the target that tells the classes (None: the only one),
        and splits can be empty."""
        concentration = number("dirichlet", dirichlet, "a number, at least 0", 0)
        how = _how(parent, stratify, seed, replace, group, by)
        return self._parts(text("name", name), whole("n", n, 1, U32), concentration, how)

    def _parts(self, name: str, parts: int, concentration: float, how: tuple[Any, ...]) -> list[Split]:
        with advising(ExistsError, _REPLACE):
            self._split_parts(name, parts, concentration, *how)
        splits = self.splits
        return [splits[f"{name}-{i}"] for i in range(parts)]

    def verify(
        self,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
        *,
        raises: bool = True,
    ) -> list[BadBlock]:
        """Decodes and checks every byte: checksums, hashes of records, digests of fields, statistics.

        Returns the blocks that are not as they were written: none of them, or, with `raises`, a
            `CorruptError` that names the first. ``progress(records, of)`` is called meanwhile, from any
            thread."""
        found = self._verify(threads_of(threads), function("progress", progress))
        bad = sorted(
            (BadBlock(*block[:4], tuple(block[4]), block[5]) for block in found), key=lambda b: b.first
        )
        if bad and raises:
            first, more = bad[0], len(bad) - 1
            place = f"{self.path}: {first.member}: block {first.block} (records {first.first} to "
            place += f"{first.first + first.records - 1}): {first.message}"
            others = f" (and {more} more block{'s' if more > 1 else ''})" if more else ""
            raise CorruptError(place + others, 0, first.first, first.records)
        return bad

    # ------------------------------------------------------------------------------------------- showing

    def __repr__(self) -> str:
        if self.closed:
            return f"<apldata.Store {self.path!r}, closed>"
        return store_repr(self)

    def _repr_html_(self) -> str:
        return store_html(self)
