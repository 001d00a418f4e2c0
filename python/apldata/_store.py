"""Stores: opening, describing, reading single records and sets of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
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
    shown_path,
    text,
    threads_of,
    whole,
)
from ._described import Described
from ._display import store_html, store_repr
from ._dividing import divided, divided_in_parts, how
from ._errors import NoRecordError, NotFoundError
from ._ids import Ids, is_one, numbers
from ._part import SplitView
from ._reading import copied, one_by_one
from ._verifying import bad_blocks, corrupt
from ._where import meets
from .schema import BadBlock, Split

_IO = {"auto": _core.APL_IO_AUTO, "map": _core.APL_IO_MAP, "read": _core.APL_IO_READ}


class Store(Described):
    """A store: the directory that `aplingest`, `apldata.ingest()` or `apldata.Writer` made; or a set of
    stores, which `apldata join` made.

    Opening writes nothing and takes no lock. Any number of threads may use a store. It can be pickled (the
    copy opens the same directory, of a set that has grown since then by the list that it had, and refuses
    other content), and used in child processes, which reopen it.

    Args:
        path: the directory; or a list of a set, such as ``set-DIGEST.apl``; or a URL of either
            (``https://``, ``s3://``, ``file://``).
        expected_content: refuse (`MismatchError`) a store that states another content digest: 32 bytes, or
            hexadecimal. A set that has grown is opened by the list that has this one, if it has been kept.
            It tells stores apart; a store may state what it does not hold, which only verify() finds out.
        split_directory: where split files are read and written; None: the store's own directory.
        io: "map", "read", or "auto": mapped, but read on network file systems and FUSE.
        open_shards: for a set, how many shards are kept open at once, besides those in use; 0: 256.
        remote_timeout_s: for a URL, after how many seconds a request that keeps failing is given up; 0: the
            number in ``APL_REMOTE_TIMEOUT``, or 120.
        plain_http: allow ``http://`` to any host, not only to this machine.
        cache: for a URL, a directory that keeps parts of what is read; None: that in ``APL_CACHE``, or none.
        cache_budget: the most bytes that the cache takes; 0: the number in ``APL_CACHE_BUDGET``, or nine
            tenths of what is free on its disk.
        requests: for a URL, the most requests in flight to its server at once, from this user's processes on
            this machine; 0: the number in ``APL_REMOTE_REQUESTS``, or 256, of which 128 for one process.
        expected_digest: the `digest` of a store that you trust: 32 bytes, or hexadecimal. Another store is
            refused (`MismatchError`), and so is each block with other bytes, before anything of it is used
            (`CorruptError`), wherever it comes from: see "Pinned stores" in docs/API.md.

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
        requests: int = 0,
        expected_digest: bytes | str | None = None,
    ) -> None:
        most = whole("open_shards", open_shards, 0, U32)
        remote = (
            whole("remote_timeout_s", remote_timeout_s, 0, U32),
            flag("plain_http", plain_http),
            None if cache is None else absolute("cache", cache),
            whole("cache_budget", cache_budget, 0, U64),
            whole("requests", requests, 0, 1024),
        )
        mode, content = choice("io", io, _IO), digest("expected_content", expected_content)
        pin = digest("expected_digest", expected_digest)
        splits = None if split_directory is None else absolute("split_directory", split_directory)
        try:
            super().__init__(absolute("path", path), content, splits, mode, most, *remote, pin)
        except NotFoundError:
            name = os.fsdecode(path)
            if os.path.isdir(path) or is_url(name) or (name.endswith(".apl") and os.path.isfile(path)):
                raise  # what a list names, or where its splits are, is not there
            advice = "is a file; apldata.ingest() makes a store of an archive"
            what = advice if os.path.exists(path) else "is not there"
            raise NotFoundError(f"{os.fspath(path)!r}: {what}") from None
        self._opened_by = io
        self._open_shards = most
        self._remote = remote
        self._pin = pin
        _trees.register()

    @property
    def path(self) -> str:
        """Where the store is; for a URL, without its query, which may hold a secret."""
        return shown_path(super().path)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            super().path,
            self.content_digest,
            self.split_directory,
            self._opened_by,
            self._open_shards,
            *self._remote,
            self._pin,
        )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def expected_digest(self) -> str | None:
        """The digest that it was opened with, in hexadecimal; None: none, and its bytes are compared with nothing
        but what it says of them."""
        return None if self._pin is None else self._pin.hex()

    # ------------------------------------------------------------------------------------------- reading

    def _ids(self, ids: Ids, others: int = 0, from_end: bool = True) -> np.ndarray:
        """As uint64[n]. `others`: records of other stores, whose ids go on from those of this one."""
        whose = "all stores" if others else "the store"
        return numbers(ids, len(self) + others, whose, lambda id: self._no_record(id, others), from_end)

    def _no_record(self, id: int, others: int = 0) -> NoRecordError:
        known = (id, 1) if 0 <= id <= U64 else ()
        more = ", those of the other stores included" if others else ""
        last = len(self) + others - 1
        return NoRecordError(f"{self.path}: there is no record {id}: ids are 0 to {last}{more}", 0, *known)

    def get(self, ids: Ids, fields: Iterable[str] | None = None, threads: int | None = None) -> _core.Batch:
        """The records `ids`, in that order, repeats allowed; negative ones count from the end. A mask of
        bools, one for each record of the store, will do too.

        Each block is decoded once, however many of its records are requested; other fields are not decoded.
        `threads` is the number of threads that decode: None: one per core; 0: the caller alone. The batch
        owns its memory.

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
        return one_by_one(self, ids)

    def split_ids(self, split: str) -> np.ndarray:
        """The ids of a split, ascending: uint64[n]."""
        return np.frombuffer(self._split_ids(text("split", split)), np.uint64)

    def where(self, split: str | None = None, /, **conditions: Any) -> np.ndarray:
        """The ids of the records of a split (None: of the store) that meet all conditions, ascending:
        uint64[n]. For a field, a condition is a value, a list of accepted values, or a function of all its
        values that returns bool[n]; text is a class by its name, and a number by its number, also where names
        are numbers. A value that the field cannot hold, such as text for numbers or bools for a field of
        numbers, is an error; in a list, so are numbers if it can hold none of them. Fields of varying shape,
        but for text, and of several numbers have functions alone.

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
        return copied(self, list(self.schema), ids, names("fields", fields), threads)

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
        overlap: bool = False,
    ) -> Split:
        """Divides the split `parent` (None: "train") by a hash of the records' inputs: about `ratio` of it
        becomes the split `name`, and the rest is called ``f"{parent}-{name}"``. Records of which all inputs
        are equal are never on both sides, so ids and names should not be inputs; with `stratify`, a target,
        each class is divided exactly. Writes the file NAME.split beside the store.

        With `group`, the name of a field (of whole numbers, bools or bytes of a fixed shape, or text),
        records with the same value of it are on one side, such as all of one patient or one video. The ratio
        is then a fraction of the groups. Without `group`, `by` says what is hashed: "content", "key" (member
        and row of the source, the same in a shuffled store), or "id"; with the last two, equal inputs can be
        on both sides.

        To hold out two parts, let the second divide what the first leaves, and train on ``train-dev-val``:

            store.split("dev", 0.1)
            store.split("val", 0.1, parent="train-dev")

        A split that would share records with one that divides the same records by the same seed is refused:
        nearly all of the smaller are in the larger. `overlap` allows that, as for parts of growing size.

        Splits that come from a split that is replaced have to be made again, unless it has the same records.

        Raises:
            ExistsError: there is such a split, and `replace` is False.
            InvalidError: it would share records with another split.

        Warns:
            UserWarning: it shares records with a split that has another seed; splits have to be made again.
        """
        ratio = number("ratio", ratio, "a number above 0 and below 1")
        given = how(parent, stratify, seed, replace, group, by, overlap)
        return divided(self, text("name", name), ratio, given)

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
        overlap: bool = False,
    ) -> list[Split]:
        """Divides the split `parent` (None: "train") into `k` equal splits, ``f"{name}-0"`` and so on, for
        cross-validation: train on the rest of each. Each record is in exactly one of them, and equal inputs
        are in the same one; with `stratify`, a target, they have equally many records of each class. `group`
        and `by` are as in `split()`, as is `overlap`, which does not concern two divisions into parts. Writes
        a file for each, or none. With a test set, divide what it leaves: ``parent="train-test"``.

        Raises:
            ExistsError: there is such a split, and `replace` is False.
            InvalidError: they would share records with a split that divides the same records.
        """
        given = how(parent, stratify, seed, replace, group, by, overlap)
        return divided_in_parts(self, text("name", name), whole("k", k, 1, U32), 0.0, given)

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
        overlap: bool = False,
    ) -> list[Split]:
        """Divides `parent` into `n` splits like `folds()`, for the clients of federated learning. With
        `dirichlet` above 0, each class is divided into shares drawn from the symmetric Dirichlet distribution
        with that concentration; `stratify` is then the target that holds the classes (None: the only one),
        and splits can be empty."""
        concentration = number("dirichlet", dirichlet, "a number, at least 0", 0)
        given = how(parent, stratify, seed, replace, group, by, overlap)
        return divided_in_parts(self, text("name", name), whole("n", n, 1, U32), concentration, given)

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
        bad = bad_blocks(self._verify(threads_of(threads), function("progress", progress)))
        if bad and raises:
            raise corrupt(self.path, bad)
        return bad

    # ------------------------------------------------------------------------------------------- showing

    def __repr__(self) -> str:
        if self.closed:
            return f"<apldata.Store {self.path!r}, closed>"
        return store_repr(self)

    def _repr_html_(self) -> str:
        return store_html(self)
