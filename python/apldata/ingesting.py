"""apldata.ingest: a dataset archive becomes a store."""

from __future__ import annotations

import codecs
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

from apldata._arguments import (
    choice,
    flag,
    names_checked,
    number,
    optional_text,
    path_of,
    text,
    threads_of,
    whole,
    wrong_type,
    wrong_value,
)
from apldata._errors import ExistsError, InvalidError, advising
from apldata._progress import Bar, Progress
from apldata._store import Store
from apldata._units import share, size
from apldata._warning import warn
from apldata.kinds import Kind, texts_of

_PHASES = ("reading", "checking", "done")
_MAX_SIDE = 65500  # of a JPEG
_RATIO = "a number above 0 and below 1"
_INSTALL = {
    "apt-get": "apt-get install -y libarchive-dev libisal-dev",
    "dnf": "dnf install -y libarchive isa-l",
    "pacman": "pacman -S --needed libarchive isa-l",
}


class IngestWarning(UserWarning):
    """Something worth knowing that is not an error, such as rows that a source lacks."""


@dataclass(frozen=True)
class IngestSummary:
    """What an ingest has done."""

    db: str
    """The store's directory."""
    format: str
    """What the source is, such as ``"cifar-10-binary"``."""
    records: int
    raw_bytes: int
    """Of all values."""
    source_bytes: int
    """Size of the source, as it lies there."""
    file_bytes: int
    """Size of the store."""
    source_digest: str
    """SHA-256 of the source, in hex; of a directory, over its members."""
    seconds: float
    """How long it took, splits included."""

    @property
    def ratio(self) -> float:
        """The size of the store divided by the raw size."""
        return self.file_bytes / max(self.raw_bytes, 1)

    def __repr__(self) -> str:
        return (
            f"<IngestSummary {self.db}: {self.format}, {self.records:,} records, "
            f"{size(self.raw_bytes)} -> {size(self.file_bytes)} ({share(self.file_bytes, self.raw_bytes)}), "
            f"{self.seconds:.2f} s, source sha256 {self.source_digest[:12]}...>"
        )


def load_extension() -> ModuleType:
    """The extension that reads archives; where a library is missing, the error says what to install."""
    try:
        from apldata import _ingest
    except ImportError as error:
        line = next((v for k, v in _INSTALL.items() if shutil.which(k)), "install libarchive and ISA-L")
        raise ImportError(f"apldata.ingest: {error}; to have it: {line}", name="apldata._ingest") from error
    return _ingest


def _split_requests(
    split: Mapping[str, float | tuple[float, str]] | None,
) -> list[tuple[str, float, str | None]]:
    """(name, ratio, parent) of each split, so that what is no number is refused before anything is done."""
    if not isinstance(split, Mapping | None):
        raise wrong_type("split", "a mapping from names to ratios", split)
    requests = []
    for name, value in (split or {}).items():
        ratio, parent = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
        what = f"split {text('the name of a split', name)!r}: the ratio"
        share = number(what, ratio, _RATIO)
        if not 0 < share < 1:
            raise wrong_value(what, _RATIO, ratio)
        requests.append((name, share, optional_text(f"split {name!r}: the parent", parent)))
    _check_parents(requests)
    return requests


def _check_parents(requests: list[tuple[str, float, str | None]]) -> None:
    """Refuses two splits of one parent, which share records, before the store is made."""
    first: dict[str, str] = {}
    for name, ratio, parent in requests:
        before = first.setdefault(parent or "train", name)
        if before != name:
            rest = (ratio, f"{parent or 'train'}-{before}")
            raise InvalidError(
                f"split: {before!r} and {name!r} would share records: let {name!r} divide what {before!r} "
                f"leaves, {name!r}: {rest!r}"
            )


def _progress_function(
    progress: bool | Callable[[Progress], object], stack: ExitStack
) -> Callable[..., object] | None:
    """What the extension is to call, for what the caller wants to have called or shown."""
    if not callable(progress) and not flag("progress", progress):
        return None
    tell = progress if callable(progress) else stack.enter_context(Bar())
    return lambda phase, *numbers: tell(Progress(_PHASES[phase], *numbers))


def _notice(message: str) -> None:
    warn(message, IngestWarning)


def _sources(source: object) -> list[str]:
    if isinstance(source, (str, bytes, os.PathLike)) or not isinstance(source, Sequence):
        return [path_of("source", source)]
    if not source:
        raise wrong_value("source", "one source or more", source)
    return [path_of("source", each) for each in source]


def _class_names(classes: object) -> list[bytes]:
    if classes is None:
        return []
    if isinstance(classes, str) or not isinstance(classes, Sequence):
        raise wrong_type("classes", "a list of names", classes)
    names = [each for each in classes if isinstance(each, str) and each and "\0" not in each]
    if len(names) < len(classes) or not names:
        raise wrong_value("classes", "a list of names", classes)
    return [name.encode() for name in names]


def _column_types(types: object) -> list[bytes]:
    if types is None:
        return []
    if not isinstance(types, Mapping):
        raise wrong_type("types", "a dict of columns and their types", types)
    given = [f"{column}={kind}" for column, kind in types.items() if isinstance(kind, str)]
    if len(given) < len(types) or any("\0" in each for each in given):
        raise wrong_value("types", "a dict of columns and their types, such as {'age': 'f32'}", types)
    return [each.encode() for each in given]


def _columns(what: str, given: object) -> list[str]:
    if given is None:
        return []
    columns = [given] if isinstance(given, str) else given
    if not isinstance(columns, Sequence) or not all(isinstance(each, str) for each in columns):
        raise wrong_type(what, "the name of a column, or a list of names", given)
    return [text(what, each) for each in columns]


def _class_map(map: object) -> tuple[list[bytes], str | None]:
    """Lines of a folder and the name of its class, and what errors call them."""
    if map is None:
        return [], None
    if not isinstance(map, Mapping):
        path = path_of("map", map)
        lines = Path(path).read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
        if not lines or any(b"\0" in line for line in lines):
            raise wrong_value("map", "a file of lines such as 'n01440764 tench'", path)
        return lines, path.encode("utf-8", "replace").decode()
    lines = [f"{k}\t{v}".encode() for k, v in map.items() if isinstance(k, str) and isinstance(v, str)]
    if not lines or len(lines) < len(map) or any(set(line) & set(b"\0\n") for line in lines):
        raise wrong_value("map", "names of classes by folder, such as {'n01440764': 'tench'}", map)
    return lines, None


def _sizes(resize: object, max_side: int) -> tuple[int, int, int, int]:
    """The shorter side, width, height, and longest side that images get; 0 where nothing is said."""
    longest = whole("max_side", max_side, 0, _MAX_SIDE)
    if resize is None:
        return 0, 0, 0, longest
    if isinstance(resize, tuple | list) and len(resize) == 2:
        height, width = (whole("resize", side, 1, _MAX_SIDE) for side in resize)
        return 0, width, height, longest
    return whole("resize", resize, 1, _MAX_SIDE), 0, 0, longest


@names_checked()
def ingest(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    db: str | os.PathLike[str],
    *,
    progress: bool | Callable[[Progress], object] = False,
    shuffle: int | None = None,
    replace: bool = False,
    partial: bool = False,
    threads: int | None = None,
    codec: str | None = None,
    level: int = 0,
    block_records: int = 0,
    split: Mapping[str, float | tuple[float, str]] | None = None,
    stratify: str | None = None,
    format: str | None = None,
    classes: Sequence[str] | None = None,
    image: str | Sequence[str] | None = None,
    mask: str | Sequence[str] | None = None,
    label: str | None = None,
    types: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind | str] | None = None,
    outside: bool = False,
    follow_links: bool = False,
    tokens: str | None = None,
    document_end: int | None = None,
    chunk: int = 0,
    skip_bad: int = 0,
    check: bool = True,
    allow_warnings: bool = False,
    keep_files: bool = False,
    images: str | None = None,
    jpeg: int | Literal["baseline"] = 0,
    resize: int | tuple[int, int] | None = None,
    max_side: int = 0,
    orient: bool = False,
    map: Mapping[str, str] | str | os.PathLike[str] | None = None,
    force: bool = False,
) -> IngestSummary:
    """Makes a store of a dataset: an archive, a directory, or files.

    Nothing is extracted to disk, and nothing in the source is ever executed. On failure, nothing of the new
    store is left behind, and an older one stays untouched. Other Python threads keep running.

    Args:
        source: a directory, or an archive: .tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2 or .zip (``"-"`` reads
            one from standard input). It holds CIFAR-10 or CIFAR-100 in the binary or the python layout, or
            images in one folder per class, ``CLASS/*.jpg`` or ``SPLIT/CLASS/*.png``: JPEGs are kept as they
            are, others decoded. The format is detected from the contents. Or files of other formats, plain or
            compressed, or a directory of them: IDX, such as MNIST; NumPy's ``.npy`` and ``.npz``; TFRecord;
            WebDataset; tokens; tables (CSV, TSV, JSON lines), with or without a column of image paths; any
            other files, as bytes. A list gives several sources that belong together.
        db: the directory of the store, which is created.
        progress: True shows a bar on stderr (tqdm's, if it is installed; one line at the end if stderr is not
            a terminal). A function is called with a :class:`Progress`, at most ten times a second and at
            each change of phase; an exception in it cancels the ingest and is raised here.
        shuffle: a seed: store the records of each split in a keyed random order.
        replace: replace an existing store, and its split files. `force` is another name for it.
        partial: accept a source that lacks members, rows or shards. Damage is never accepted.
        threads: threads that encode; None: one per core; 0: none, the caller does the work.
        codec: ``"raw"``, ``"zstd"``, ``"shuffle"``, ``"delta"`` or ``"picture"``; None: chosen by trial.
        level: of zstd, for that codec, -128 ... 22; 0: chosen by trial.
        block_records: records in a block, 1 ... 65536; 0: 128, or more of small, fewer of large ones.
        split: splits to make afterwards: ``{"val": 0.1}`` puts a tenth of ``train`` into ``val`` and the rest
            into ``train-val``; ``{"val": (0.1, "parent")}`` divides another split. Made in this order; two of
            one parent would share records and are refused: ``{"test": 0.1, "val": (0.1, "train-test")}``.
        stratify: a field: these splits have exactly that share of each of its classes.
        format: instead of the one detected from the contents: one of ``"cifar"``,
            ``"folder"``, ``"webdataset"``, ``"idx"``, ``"npy"``, ``"list"``, ``"tfrecord"``, ``"tokens"``
            and ``"raw"``.
        classes: names of the classes of labels that come without names (idx, npy, webdataset).
        image: for a table, the column of image paths, or several; None: found by its contents.
        mask: for a table, the column of paths of masks, or several; for WebDataset, the field of masks, such
            as ``"mask"`` of ``.mask.png``, or several: images whose pixels are class numbers, which are kept.
        label: for a table, the column of labels; None: ``label``, if there is one.
        types: for a table, the types of columns: ``{"age": "f32", "boxes": "f32[-1,4]"}``; those of other
            columns are inferred.
        kinds: what fields are, from `apldata.kinds` or in the words of ``--field``, whatever the source says:
            ``{"boxes": "boxes,xywh", "labels": Label(per="boxes")}``. Values that contradict it are bad. In a table, a column of image paths that is said to be a mask or a map is read as such.
        outside: paths in a table may be absolute or lead out of its folder.
        follow_links: follow symbolic links in a directory, to files and directories, wherever they lead.
            Without it, they are errors where something is expected behind them.
        tokens: ``"u16"`` or ``"u32"``: the source is streams of such tokens.
        document_end: the token that ends each document of a stream; each document is a record.
        chunk: without `document_end`, with which it cannot be given, the number of tokens in a record; 0:
            65,536.
        skip_bad: how many bad files or rows of tables, such as images that cannot be decoded, to leave out,
            each with a warning; the next one is an error.
        check: decode each image once to check it.
        allow_warnings: keep images that their library only warns of, as it reads them, each with a warning;
            without, they are bad. A JPEG becomes a baseline one of what libjpeg reads of it.
        keep_files: store JPEGs as they came. By default they are stored without loss in an indexed form, so
            that readers decode only the parts under a crop; reading one returns its file byte for byte.
        images: how images in folders are stored: ``"jpeg"``: JPEG files are kept and others re-encoded as
            JPEG; ``"pixels"``: all are decoded and stored without loss; None: the kind of most of them
            decides.
        jpeg: a quality, 1 ... 100: re-encode all images in folders as JPEGs of that quality; 0: do not.
            ``"baseline"``: store progressive JPEGs as baseline ones with the same coefficients, which can be
            indexed; they decode to the same pixels, but the original bytes are lost.
        resize: the length of the shorter side of all images in folders, or their (height, width), as for
            :class:`~apldata.transforms.Resize`. JPEGs that do not have this size yet are re-encoded, at
            `jpeg` or else 90.
        max_side: shrink images whose longer side exceeds this; 0: no limit. With `resize`, images are resized
            once, to the size that comes of both.
        orient: turn images as their EXIF orientation says; these JPEGs are re-encoded, at `jpeg` or else 95.
        map: names for the classes of folders: ``{"n01440764": "tench"}``, or a file of such lines,
            ``n01440764 tench``. Classes are still numbered in the order of the folders.

    Returns:
        A summary of what was done.

    Raises:
        SourceError, CorruptError, UnsupportedError: the source, or an image in it, is damaged or of a kind
            that cannot be read.
        IncompleteError: the source ends early, or lacks members or rows.
        ExistsError: there is a store already, and `replace` is False.
        BusyError: another writer, in this or another process, is writing it.
        NoSpaceError, StorageError: the system could not read or write.
        KeyboardInterrupt: Ctrl-C; nothing is left behind.
        ImportError: a library that reads archives is missing; the message says how to install it.

    Warns:
        IngestWarning: notes, such as which members `partial` accepted as missing.
    """
    extension = load_extension()
    requests = _split_requests(split)
    stratify = optional_text("stratify", stratify)
    replace = bool(flag("replace", replace)) or bool(flag("force", force))
    shuffled = shuffle is not None and shuffle is not False
    first, *more = _sources(source)
    image_columns = _columns("image", image)
    dtype = 0 if tokens is None else choice("tokens", tokens, {"u16": 3, "u32": 5})
    if dtype and format is None:
        format = "tokens"
    arguments = (
        first, path_of("db", db),
        optional_text("codec", codec), whole("level", level, -128, 22), threads_of(threads),
        whole("block_records", block_records, 0, 65536), shuffled,
        0 if shuffle is True or not shuffled else whole("shuffle", shuffle), replace,
        flag("partial", partial), optional_text("format", format), whole("skip_bad", skip_bad),
        not flag("check", check), flag("keep_files", keep_files),
        flag("allow_warnings", allow_warnings),
        [os.fsencode(path) for path in more], _class_names(classes),
        image_columns[0] if image_columns else None, optional_text("label", label), _column_types(types),
        flag("outside", outside),
        dtype, whole("chunk", chunk, 0, 1 << 24),
        -1 if document_end is None else whole("document_end", document_end, 0, (1 << 32) - 1),
        optional_text("images", images),
        -1 if jpeg == "baseline" else whole("jpeg", jpeg, 0, 100), _sizes(resize, max_side),
        flag("orient", orient), *_class_map(map), flag("follow_links", follow_links),
        [name.encode() for name in image_columns[1:]], [name.encode() for name in _columns("mask", mask)],
        [each.encode() for each in texts_of(kinds)],
    )  # fmt: skip
    began = time.monotonic()
    with ExitStack() as stack, advising(ExistsError, "replace=True puts another in its place"):
        values = extension.ingest(*arguments, _progress_function(progress, stack), _notice)
    if requests:
        store = Store(db)
        for name, ratio, parent in requests:
            store.split(name, ratio, parent, stratify=stratify, replace=replace)
    name, records, raw_bytes, source_bytes, file_bytes, digest = values
    seconds = time.monotonic() - began
    return IngestSummary(
        os.fsdecode(db), name, records, raw_bytes, source_bytes, file_bytes, digest.hex(), seconds
    )
