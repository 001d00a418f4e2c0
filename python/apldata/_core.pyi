"""The extension: the C library, one to one. Names with an underscore are for the package's own use."""

import collections.abc
from collections.abc import Callable, ItemsView, Iterable, KeysView, Mapping, Sequence, ValuesView
from typing import Any, Self

import numpy as np

APL_MAX_DIMS: int
APL_MAX_VALUE: int
APL_MAX_BLOCK: int
APL_MAX_NAME: int
APL_MAX_CHANNELS: int
APL_U8: int
APL_F16: int
APL_BF16: int
APL_F32: int
APL_INPUT: int
APL_TARGET: int
APL_NAME: int
APL_IO_AUTO: int
APL_IO_MAP: int
APL_IO_READ: int
APL_BY_CONTENT: int
APL_BY_KEY: int
APL_BY_ID: int
APL_STRICT: int
APL_BOTTLENECK_TRAINING: int
APL_FREE: int
APL_NO_THREADS: int
APL_NCHW: int
APL_NHWC: int
APL_PAD_ZERO: int
APL_PAD_REFLECT: int
APL_PAD_EDGE: int
APL_PAD_SYMMETRIC: int
APL_FLIP_NONE: int
APL_FLIP_RANDOM: int
APL_FLIP_ALTERNATING: int
APL_SCALE_UNIT: int
APL_SCALE_NORMALISE: int
APL_SCALE_NONE: int
APL_SIZING_NONE: int
APL_SIZING_RESIZE: int
APL_SIZING_RANDOM: int
APL_ERASE_RESULT: int
APL_ERASE_PIXEL: int
APL_ERASE_NOISE: int
APL_POLICY_NONE: int
APL_POLICY_TRIVIAL_WIDE: int
APL_POLICY_RAND: int
APL_NEAREST: int
APL_BILINEAR: int
APL_BOX_XYXY: int
APL_BOX_XYWH: int
APL_BOX_CXCYWH: int
APL_COLLATE_RAGGED: int
APL_COLLATE_PAD: int
APL_COLLATE_PACK: int
APL_COLLATE_NODES: int
APL_COLLATE_EDGES: int
APL_COLLATE_EDGE_INDEX: int
APL_COLLATE_WINDOWS: int
APL_PART_LENGTHS: int
APL_PART_MASK: int
APL_PART_SEGMENTS: int
APL_PART_POSITIONS: int
APL_PART_GRAPHS: int
APL_PART_STARTS: int

class View:
    """An array of a batch; lent to NumPy, PyTorch, JAX and others without a copy."""

    shape: tuple[int, ...]
    dtype: str
    rows: int
    lent: bool
    offsets: View | None
    shapes: View | None
    ragged: bool
    __array_interface__: dict[str, Any]
    def bits(self) -> View: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class Batch(Mapping[str, Any]):
    rows: int
    ids: np.ndarray
    skipped: np.ndarray
    copies: np.ndarray | None
    pieces: np.ndarray | None
    epoch: int
    position: int
    _store: Any
    def __new__(cls, values: Mapping[str, Any] | Iterable[tuple[str, Any]], /) -> dict[str, Any]: ...  # type: ignore[misc]
    def __getitem__(self, name: str, /) -> Any: ...
    def __setitem__(self, name: str, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> collections.abc.Iterator[str]: ...
    def __contains__(self, name: object) -> bool: ...
    def __enter__(self) -> Batch: ...
    def __exit__(self, *error: object) -> None: ...
    def column(self, name: str) -> View: ...
    def keys(self) -> KeysView[str]: ...
    def values(self) -> ValuesView[Any]: ...
    def items(self) -> ItemsView[str, Any]: ...
    def get(self, name: str, default: Any = None, /) -> Any: ...
    def release(self) -> None: ...
    def _held(self) -> dict[str, Any]: ...
    def _set_rows(self, rows: int, /) -> None: ...
    def _repr_html_(self) -> str: ...

class Store:
    @property
    def path(self) -> str: ...
    split_directory: str | None
    closed: bool
    def __init__(
        self,
        path: Any,
        expected_content: bytes | None = None,
        split_directory: Any = None,
        io: int = 0,
        open_shards: int = 0,
        remote_timeout_s: int = 0,
        plain_http: int = 0,
        cache: Any = None,
        cache_budget: int = 0,
        requests: int = 0,
        expected_digest: bytes | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def close(self) -> None: ...
    def _get(self, ids: np.ndarray, fields: Sequence[str] | None = None, threads: int = 0) -> Batch: ...
    def _info(self) -> dict[str, Any]: ...
    def _fields(self) -> list[dict[str, Any]]: ...
    def _splits(self) -> list[tuple[str, int, int]]: ...
    def _members(self) -> list[tuple[str, str, int, int, int]]: ...
    def _skipped(self) -> list[tuple[str, str]]: ...
    def _moments(self, split: str, field: str, /) -> list[tuple[float, float]]: ...
    def _class_counts(self, split: str, field: str, /) -> list[int]: ...
    def _split_ids(self, name: str, /) -> bytearray: ...
    def _split_files(self) -> list[dict[str, Any]]: ...
    def _split_make(
        self,
        name: str,
        ratio: float,
        parent: str | None = None,
        stratify: str | None = None,
        seed: int = 0,
        threads: int = 0,
        replace: bool = False,
        group: str | None = None,
        by: int = 0,
        overlap: bool = False,
    ) -> str | None: ...
    def _split_parts(
        self,
        name: str,
        parts: int,
        concentration: float = 0,
        parent: str | None = None,
        stratify: str | None = None,
        seed: int = 0,
        threads: int = 0,
        replace: bool = False,
        group: str | None = None,
        by: int = 0,
        overlap: bool = False,
    ) -> str | None: ...
    def _split_verify(self, name: str, threads: int = 0, /) -> None: ...
    def _transform(self, transform: dict[str, Any], split: str | None = None, /) -> dict[str, Any]: ...
    def _placements(self, transform: dict[str, Any], seed: int, batch: Batch, /) -> bytearray: ...
    def _verify(
        self, threads: int = 0, progress: Callable[[int, int], object] | None = None, /
    ) -> list[tuple[str, int, int, int, list[int], str]]: ...

def metrics(readers: list[tuple[Reader, str, str, str]], /) -> str: ...

class Reader:
    epoch: int
    batches: int
    batch_size: int
    def __init__(
        self, store: Store, options: dict[str, Any], connect: dict[str, Any] | None = None
    ) -> None: ...
    def next(self, timeout: float = 0, /) -> Batch | None: ...
    def next_epoch(self) -> None: ...
    def state(self) -> bytes: ...
    def receipt(self) -> dict[str, Any]: ...
    def stats(self) -> str: ...
    def explain(self, recent: bool, /) -> tuple[int, str]: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...

class Iterator:
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any: ...
    def _read_from(
        self, reader: Reader, timeout: float, convert: Callable[[Batch], Any] | None, /
    ) -> None: ...
    def _stop(self) -> None: ...

class Writer:
    def __init__(
        self,
        path: Any,
        *,
        threads: int = 0,
        block_records: int = 0,
        codec: str | None = None,
        level: int = 0,
        replace: bool = False,
        shuffle_seed: int | None = None,
        tool: str | None = None,
    ) -> None: ...
    def add_field(self, name: str, dtype: str, mark: int, shape: Sequence[int], /) -> None: ...
    def set_media(self, field: str, media: str, /) -> None: ...
    def set_indexed(self, field: str, /) -> None: ...
    def set_classes(self, field: str, names: Sequence[str], /) -> None: ...
    def set_source(self, format: str, sha256: bytes | None = None, /) -> None: ...
    def skipped(self, path: str, why: str, /) -> None: ...
    def begin_member(self, name: str, split: str, number: int, /) -> None: ...
    def append(self, values: Sequence[tuple[Any, Sequence[int] | None]], rows: int = 1, /) -> None: ...
    def commit(self, progress: Callable[[int, int, int], object] | None = None, /) -> None: ...
    def progress(self) -> tuple[int, int, int]: ...
    def close(self) -> None: ...

def join(set: bytes, shards: tuple[bytes, ...], replace: bool, append: bool, /) -> None: ...
def dismiss(path: str, timeout_ms: int, /) -> None: ...
def serve(
    store: Store,
    options: dict[str, Any],
    path: str,
    ranks: tuple[int, ...],
    idle_ms: int,
    ready: Callable[[], object],
    /,
) -> None: ...
def version() -> str: ...
def cores() -> int: ...
def jpeg_check(file: bytes | bytearray | memoryview, decode: bool = True, /) -> tuple[int, int, int]: ...
def state_position(state: bytes, /) -> tuple[int, int]: ...
