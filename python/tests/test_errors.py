"""Errors: picklable, with key and cause, of the kinds that Python has for them."""

from __future__ import annotations

import builtins
import copy
import errno
import pickle

import pytest

import apldata
from apldata import _errors

KINDS = sorted(_errors._KINDS.values(), key=lambda kind: kind.status)


@pytest.mark.parametrize("kind", KINDS)
def test_they_travel(kind: type[apldata.Error]) -> None:
    error = kind("file: place: cause", 28, 100, 64)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is kind and str(other) == "file: place: cause"
        assert (other.errno, other.records, other.status) == (28, range(100, 164), kind.status)
    bare = pickle.loads(pickle.dumps(kind("cause")))
    assert (str(bare), bare.errno, bare.records) == ("cause", None, None)


def test_each_status_has_its_own() -> None:
    assert len({kind.status for kind in KINDS}) == len(KINDS) == 18
    for kind in KINDS:
        assert type(_errors.make(kind.status, "m")) is kind and issubclass(kind, apldata.Error)
        assert getattr(apldata, kind.__name__) is kind
    assert type(_errors.make(99, "m")) is apldata.Error


def test_python_knows_their_kinds() -> None:
    relations = {
        apldata.InvalidError: ValueError,
        apldata.NoMemoryError: MemoryError,
        apldata.IOError: OSError,
        apldata.NoSpaceError: apldata.IOError,
        apldata.ExistsError: FileExistsError,
        apldata.NotFoundError: LookupError,
        apldata.TimeoutError: builtins.TimeoutError,
        apldata.IncompleteError: apldata.SourceError,
    }
    assert all(issubclass(kind, base) for kind, base in relations.items())


def test_a_full_disk_is_told_apart() -> None:
    for number in (errno.ENOSPC, errno.EDQUOT):
        error = _errors.storage_error("db", OSError(number, "no room"))
        assert type(error) is apldata.NoSpaceError and (str(error), error.errno) == ("db: no room", number)
    assert type(_errors.storage_error("db", OSError(errno.EIO, "?"))) is apldata.StorageError


def test_one_line_with_the_name(tmp_path: pytest.TempPathFactory) -> None:
    with pytest.raises(apldata.NotFoundError) as caught:
        apldata.Store(f"{tmp_path}/gone\nfar")
    assert "gone" in str(caught.value) and "\n" not in str(caught.value)
