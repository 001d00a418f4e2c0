"""The systems that are compared, and the settings tried of each: those that were best on few cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Setting(NamedTuple):
    """What is measured once a round: work, threads (or processes) that work, and the loader's own variant."""

    work: str
    threads: int
    variant: str


@dataclass(frozen=True)
class System:
    """One system: its title in tables, environment, loader, store, settings.

    `kind`: `apl`, `limit` (APL's C loop), `loader`, or `hand`: code without any loader. `packed`: its store
    is compressed. `store`: whose store it reads, if not its own. `epochs`: at least this many in each round.
    """

    title: str
    environment: str
    loader: str
    settings: list[Setting]
    kind: str = "loader"
    packed: bool = False
    store: str = ""
    epochs: int = 1


def both(u8: list[tuple[int, str]], f32: list[tuple[int, str]]) -> list[Setting]:
    """Settings of (threads, variant) for the two kinds of work."""
    return [Setting("u8", *setting) for setting in u8] + [Setting("f32", *setting) for setting in f32]


def same(*settings: tuple[int, str]) -> list[Setting]:
    """The same settings for both kinds of work."""
    return both(list(settings), list(settings))


SYSTEMS = {
    "apl": System("APL", "apl", "apl_loader", same((1, "loader"), (2, "loader")), "apl", True),
    "apl-torch": System(
        "APL, torch DataLoader", "apl", "apl_torch", same((1, "torch"), (2, "torch")), "apl", True, "apl"
    ),
    "apl-c": System("APL, C loop", "", "", same((1, "c"), (2, "c")), "limit", True, "apl"),
    "by-hand": System(
        "One NumPy array, by hand",
        "in_memory",
        "in_memory",
        both([(1, "index"), (2, "index")], [(1, "numpy"), (1, "gather"), (2, "gather")]),
        "hand",
        store="torch",
    ),
    "tensor": System(
        "One PyTorch tensor, by hand",
        "torch",
        "torch_tensor",
        both([(1, "index"), (2, "index")], [(1, "gather"), (2, "gather")]),
        "hand",
        store="torch",
    ),
    "torch": System(
        "PyTorch DataLoader, batched",
        "torch",
        "torch_loader",
        same((1, "batched-0"), (2, "batched-2")),
    ),
    "torch-sample": System(
        "PyTorch DataLoader, per sample",
        "torch",
        "torch_loader",
        both([(1, "sample-0"), (2, "sample-2")], [(2, "sample-2")]),
        store="torch",
    ),
    "stateful": System(
        "StatefulDataLoader, batched",
        "torch",
        "torch_loader",
        same((1, "stateful-0"), (2, "stateful-2")),
        store="torch",
    ),
    "lmdb": System(
        "LMDB + zstd, by hand", "lmdb", "lmdb_zstd", same((1, "batched-0"), (2, "batched-2")), packed=True
    ),
    "ffcv": System(
        "FFCV",
        "ffcv",
        "ffcv_loader",
        both([(1, "random"), (2, "random")], [(1, "random"), (2, "quasi")]),
    ),
    "spdl": System("SPDL, .npy", "spdl", "spdl_npy", same((1, "npy"), (2, "npy"))),
    "spdl-tar": System("SPDL, tar", "spdl", "spdl_tar", same((1, "tar"))),
    "datasets": System("Hugging Face datasets", "datasets", "hf_datasets", same((1, "iter"))),
    "tfdata": System("tf.data, cached", "tfdata", "tf_data", same((1, "cached"), (2, "cached"))),
    "grain": System(
        "Grain, ArrayRecord", "grain", "grain_loader", both([(2, "processes")], [(2, "threads")]), packed=True
    ),
    "array-record": System(
        "ArrayRecord, by hand", "grain", "array_record_loader", same((1, "read")), packed=True, store="grain"
    ),
    "streaming": System("MosaicML Streaming", "streaming", "streaming_mds", same((2, "mds")), packed=True),
    "webdataset": System("WebDataset, tar", "webdataset", "webdataset_tar", same((2, "tar"))),
    "litdata": System("LitData", "litdata", "litdata_loader", same((1, "raw-0"), (2, "raw-2"))),
}
