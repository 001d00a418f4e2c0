"""Folders in .zip archives, and archives from standard input: what a directory gives, or one clear line."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import struct
import subprocess
import tarfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT

import apldata

COMMAND = Path(os.environ.get("APLINGEST", ROOT / "build/aplingest"))


def image(i: int) -> bytes:
    return b"P5 4 3 255\n" + bytes((7 * i + k) % 256 for k in range(12))


FILES = {f"train/{c}/größe {i}.pgm": image(i) for c in ("cat", "dog") for i in range(4)}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """The content digest of a directory of these files."""
    for name, data in FILES.items():
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    apldata.ingest(tmp_path / "photos", tmp_path / "folder.db")
    return apldata.Store(tmp_path / "folder.db").content_digest


class Pipe(io.RawIOBase):
    """Cannot be sought in: sizes and CRCs are written behind the data."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += data
        return len(data)


def zipped(method: int = zipfile.ZIP_DEFLATED, stream: bool = False, wide: bool = False) -> bytes:
    out = Pipe() if stream else io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("train/", b"")
        for name, data in FILES.items():
            with archive.open(name, "w", force_zip64=wide) as member:
                member.write(data)
    return bytes(out.data) if isinstance(out, Pipe) else out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_a_zip_is_a_folder(tmp_path: Path, folder: str, method: int, stream: bool, wide: bool) -> None:
    (tmp_path / "photos.zip").write_bytes(zipped(method, stream, wide))
    done = apldata.ingest(tmp_path / "photos.zip", tmp_path / "db")
    assert (done.format, done.records) == ("folder", 8)
    assert apldata.Store(tmp_path / "db").content_digest == folder


def refused(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "bad.zip").write_bytes(data)
    with pytest.raises(apldata.Error, match=words) as caught:
        apldata.ingest(tmp_path / "bad.zip", tmp_path / "none", format="folder")
    assert "bad.zip: " in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_every_flipped_byte_of_a_file_is_found(tmp_path: Path, folder: str, method: int) -> None:
    whole = zipped(method)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        member = archive.getinfo("train/dog/größe 2.pgm")
        begin = member.header_offset + 30 + len(member.filename.encode())
    for at in range(begin, begin + member.compress_size):
        damaged = bytearray(whole)
        damaged[at] ^= 4
        (tmp_path / "damaged.zip").write_bytes(damaged)
        try:
            apldata.ingest(tmp_path / "damaged.zip", tmp_path / "db", replace=True)
        except apldata.SourceError as error:
            assert "damaged.zip: train/dog/größe 2.pgm: " in str(error)
            assert "CRC" in str(error) or "bytes than the archive says" in str(error)
        else:  # bits behind the last symbol
            assert method == zipfile.ZIP_DEFLATED
            assert at == begin + member.compress_size - 1
            assert apldata.Store(tmp_path / "db").content_digest == folder


def test_cut_archives(tmp_path: Path) -> None:
    whole = zipped()
    for size in range(30, len(whole), 97):
        refused(tmp_path, whole[:size], "truncated|directory|known archive|header")


def one(name: str, change: Callable[[zipfile.ZipInfo], None] = lambda info: None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, data in FILES.items():
            archive.writestr(member, data)
        info = zipfile.ZipInfo(name)
        change(info)
        archive.writestr(info, image(9))
    return out.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names(tmp_path: Path, folder: str) -> None:
    refused(tmp_path, one("train/cat/größe 1.pgm"), "member train/cat/größe 1.pgm is there more than once")
    (tmp_path / "dot.zip").write_bytes(one("train/cat/.hidden.pgm"))  # as all that begins with a dot
    apldata.ingest(tmp_path / "dot.zip", tmp_path / "dot")
    assert apldata.Store(tmp_path / "dot").content_digest == folder
    refused(tmp_path, one("train/../../up.pgm"), "has a path that leads out of the archive")
    refused(tmp_path, one("/train/cat/up.pgm"), "has a path that leads out of the archive")
    link = one("train/cat/9.pgm", lambda info: setattr(info, "external_attr", 0o120777 << 16))
    refused(tmp_path, link, "9.pgm: is a link or the like")
    latin = one("train/cat/X9.pgm").replace(b"train/cat/X9", b"train/cat/\xe99")
    refused(tmp_path, latin, "its path is not UTF-8")
    other = one("train/cat/X9.pgm").replace(b"train/cat/X9", b"train/cat/Y9", 1)
    refused(tmp_path, other, "its own header has another name")


def directory_entry(data: bytes, name: bytes) -> int:
    """Where the directory's entry of a member begins."""
    return data.rindex(name) - 46


def test_members(tmp_path: Path) -> None:
    whole = one("train/cat/9.pgm")
    at = directory_entry(whole, b"train/cat/9.pgm")
    for offset, value, words in (
        (8, struct.pack("<H", 1), "9.pgm: is encrypted"),
        (10, struct.pack("<H", 14), r"9.pgm: is neither stored nor deflated \(method 14\)"),
        (20, struct.pack("<I", 1 << 30), "some overlap"),
        (20, struct.pack("<I", 30), "two sizes differ|reaches beyond|overlap"),
        (24, struct.pack("<I", 4000), "two sizes differ"),
        (42, struct.pack("<I", 3), "its header is not where the directory says"),
        (0, b"x", "directory is damaged"),
    ):
        refused(tmp_path, whole[: at + offset] + value + whole[at + offset + len(value) :], words)


def test_members_that_lie_one_over_another(tmp_path: Path) -> None:
    """As in archives that are made to unpack without end: many entries of one member."""
    whole = zipped()
    at, size = whole.index(b"PK\1\2", whole.index(b"PK\1\2") + 1), 0
    end = whole.rindex(b"PK\5\6")
    entry = whole[at : whole.index(b"PK\1\2", at + 1)]
    many = b"".join(entry.replace("größe 0".encode(), f"größe{i:02}".encode()) for i in range(99))
    size = len(many)
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 99, 99, size, at, 0)
    assert end > at
    refused(tmp_path, whole[:at] + many + tail, "some overlap|another name")


# --------------------------------------------------------------------------------------------- standard input


def from_pipe(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [str(COMMAND), "--no-progress", *options]
    return subprocess.run(command, input=data, capture_output=True, timeout=120, check=False)


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in FILES.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
def test_standard_input(tmp_path: Path, folder: str) -> None:
    for i, data in enumerate((tarred(), zipped())):
        done = from_pipe(data, "-", str(tmp_path / f"db{i}"))
        assert done.returncode == 0, done.stderr
        assert apldata.Store(tmp_path / f"db{i}").content_digest == folder
        (tmp_path / "archive").write_bytes(data)
        with (tmp_path / "archive").open("rb") as file:
            command = [str(COMMAND), "-q", "-", str(tmp_path / f"again{i}")]
            subprocess.run(command, stdin=file, check=True, timeout=120)
        assert apldata.Store(tmp_path / f"again{i}").content_digest == folder
    for data, options, words in (
        (tarred()[:-30], (), b"standard input: ends early at byte"),
        (b"", (), b"standard input: is empty"),
        (b"a,b\n1,2\n", (), b"standard input: it seems to be text"),
        (
            b"a,b\n1,2\n",
            ("--format", "list"),
            b"standard input: the format list needs files or directories",
        ),
        (bytes(1 << 20), ("--format", "folder"), b"standard input: "),
    ):
        done = from_pipe(data, *options, "-", str(tmp_path / "none"))
        assert done.returncode == 1
        assert words in done.stderr, done.stderr
        assert done.stderr.count(b"\n") == 1
        assert not (tmp_path / "none").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def copied(pid: int) -> int:
    """How many bytes a process holds in files without a name."""
    sizes = [0]
    for fd in os.listdir(f"/proc/{pid}/fd"):
        state = os.stat(f"/proc/{pid}/fd/{fd}")
        if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
            sizes.append(state.st_size)
    return sum(sizes)


def cifar(rows: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("data_batch_1.bin", "data_batch_2.bin"):
            info = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            info.size = rows * 3073
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return out.getvalue()


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_what_is_read_once_is_not_copied(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """It is told by its first bytes, through what it is packed with."""
    data = pack(cifar(2000))
    command = [str(COMMAND), "-q", "--partial", "-", str(tmp_path / "db")]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert child.stdin
    child.stdin.write(data[:-1])
    child.stdin.flush()
    if pack is bytes:
        deadline = time.monotonic() + 60
        while not (tmp_path / "db").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert copied(child.pid) <= 1 << 18
    child.stdin.write(data[-1:])
    child.stdin.close()
    assert child.wait(60) == 0
    (tmp_path / "cifar.tar").write_bytes(cifar(2000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apldata.ingest(tmp_path / "cifar.tar", tmp_path / "other", partial=True)
    store = apldata.Store(tmp_path / "db")
    assert store.content_digest == apldata.Store(tmp_path / "other").content_digest


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
def test_archives_of_bytes_are_not_copied(tmp_path: Path) -> None:
    done = from_pipe(tarred(), "--format", "raw", "-", str(tmp_path / "db"))
    assert done.returncode == 0, done.stderr
    assert sorted(apldata.Store(tmp_path / "db").get(range(8))["path"]) == sorted(FILES)


def endless_tar(archive: bytes) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)
    yield packer.compress(archive)
    while True:
        yield packer.compress(bytes(1 << 20))


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
@pytest.mark.parametrize("archive", [b"", b"no tar" * 1000])
def test_endless_input_that_is_no_archive(tmp_path: Path, archive: bytes) -> None:
    command = [str(COMMAND), "-q", "-", str(tmp_path / "db")]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdin and child.stderr
    with contextlib.suppress(BrokenPipeError):
        for data in endless_tar(archive):
            child.stdin.write(data)
            child.stdin.flush()
    with contextlib.suppress(BrokenPipeError):
        child.stdin.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait(60) == 1
    assert said.startswith(b"aplingest: standard input: ") and said.count(b"\n") == 1
    assert not list(tmp_path.iterdir())
