"""Damages a store in many ways, and reads it in every way; a child process of test_damage.py.

    python damage_child.py STORE FOLDER KIND CASE...

STORE is whole; FOLDER gets the copy that is damaged. A case is a number: of the byte that is flipped, of the
bytes that are left, or of those that are appended. What comes out must be the data of STORE, or an error of
the package that names the file. Prints each case before it is tried: a crash is about the last.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import apldata

faulthandler.enable()
Arrays = dict[str, Any]


def equal(one: Any, other: Any) -> bool:
    """Two columns: arrays, or lists of texts."""
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else list(one) == list(other)


class Reader:
    """Every way of reading, each compared with what is due."""

    def __init__(self, whole: str) -> None:
        with apldata.Store(whole) as store:
            self.due: Arrays = store.to_numpy()
            self.train = store.split_ids("train")
            self.told = self.tell(store)

    def rows(self, batch: Any, ids: np.ndarray) -> None:
        """The rows of a batch are the records `ids`."""
        assert batch.rows == len(ids), "rows are missing"
        for name, column in self.due.items():
            want = column[ids] if isinstance(column, np.ndarray) else [column[i] for i in ids]
            assert equal(batch[name], want), f"wrong bytes in {name} of {list(ids)}"

    def arrays(self, store: apldata.Store) -> None:
        found = store.to_numpy(threads=2)
        for name, column in self.due.items():
            assert equal(found[name], column), f"to_numpy: wrong bytes in {name}"

    def get(self, store: apldata.Store) -> None:
        for i in range(0, len(store), 11):
            ids = np.array([i, len(store) - 1 - i], np.uint64)
            self.rows(store.get(ids), ids)

    def epoch(self, store: apldata.Store) -> None:
        met = []
        with apldata.Loader(store, "train", 10, threads=1) as loader:
            for batch in loader:
                self.rows(batch, batch.ids)
                met.extend(batch.ids.tolist())
        assert sorted(met) == self.train.tolist(), "not every record came once"

    def tolerant(self, store: apldata.Store) -> None:
        """An epoch that leaves out what is corrupt: the others come, and receipts count what is missing."""
        met, left = [], []
        with apldata.Loader(store, "train", 10, threads=1, skip_corrupt=len(store)) as loader:
            for batch in loader:
                self.rows(batch, batch.ids)
                met.extend(batch.ids.tolist())
                left.extend(batch.skipped.tolist())
            skipped = loader.receipt()["skipped"]
        assert skipped >= len(left) and len(met) + skipped == len(self.train), "records were lost unnoticed"
        assert len(set(met)) == len(met) and not set(met) & set(left), "a record came twice"

    @staticmethod
    def tell(store: apldata.Store) -> str:
        # The format's minor version alone has no checksum: any that is higher must do.
        info = {key: value for key, value in store.info.items() if key != "format"}
        return repr((info, store.schema, store.splits, store.members, store.moments("train")))

    def describe(self, store: apldata.Store) -> None:
        assert self.tell(store) == self.told, "the description is wrong"
        assert sum(store.class_counts("train").values()) == len(self.train)

    def try_all(self, path: str, io: str) -> int:
        """How many of the ways ended in an error; opening comes first."""

        def allowed(way: Callable[[apldata.Store], None], store: apldata.Store) -> int:
            try:
                way(store)
            except (apldata.CorruptError, apldata.VersionError) as error:
                self.check(error, path)
                assert "block" in str(error) and error.records, f"no block is named: {error}"
                return 1
            return 0

        try:
            store = apldata.Store(path, io=io)
        except (apldata.CorruptError, apldata.VersionError) as error:
            self.check(error, path)
            return 1
        with store:
            ways = (self.describe, self.arrays, self.get, self.epoch)
            errors = sum(allowed(way, store) for way in ways)
            assert allowed(self.tolerant, store) == 0, "what is corrupt was not left out"
            found = self.verified(store, path)
            assert not errors or found, "verify did not find what could not be read"
            return errors + found

    def verified(self, store: apldata.Store, path: str) -> int:
        try:
            store.verify(threads=1)
        except apldata.CorruptError as error:
            self.check(error, path)
            return 1
        return 0

    @staticmethod
    def check(error: apldata.Error, path: str) -> None:
        assert path in str(error) and "\n" not in str(error), f"not an error that names the file: {error!r}"


def flip(file: int, byte: int, size: int) -> None:
    old = os.pread(file, 1, byte)[0]
    os.pwrite(file, bytes([old ^ (1 << byte % 8 or 1)]), byte)


def cut(file: int, length: int, size: int) -> None:
    os.ftruncate(file, length)


def append(file: int, more: int, size: int) -> None:
    os.pwrite(file, os.pread(file, more, 0) if more % 2 else bytes(more), size)


def cut_open(reader: Reader, path: str, length: int) -> int:
    """The file is cut while it is open, and read, not mapped."""
    with apldata.Store(path, io="read") as store:
        os.truncate(path + "/data.mdb", length)
        try:
            reader.arrays(store)
        except apldata.CorruptError as error:
            reader.check(error, path)
            return 1
        return 0


def main(whole: str, folder: str, kind: str, cases: list[int]) -> None:
    reader = Reader(whole)
    hurt = f"{folder}/hurt"
    shutil.copytree(whole, hurt)
    os.chmod(hurt + "/data.mdb", 0o644)
    content = Path(hurt, "data.mdb").read_bytes()
    file = os.open(hurt + "/data.mdb", os.O_RDWR)
    errors = 0
    assert reader.try_all(hurt, "map") == 0 and reader.try_all(hurt, "read") == 0
    for case in cases:
        print(kind, case, flush=True)
        if kind == "cut_open":
            errors += cut_open(reader, hurt, case)
        else:
            {"flip": flip, "cut": cut, "append": append}[kind](file, case, len(content))
            errors += reader.try_all(hurt, "read" if case % 3 == 0 else "map") > 0
        os.pwrite(file, content, 0)
        os.ftruncate(file, len(content))
    print("errors", errors)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], [int(case) for case in sys.argv[4:]])
