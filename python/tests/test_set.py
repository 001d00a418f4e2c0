"""Sets: many stores as one, read as the store that `apldata merge` makes of them."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND

import apldata
from apldata import Field, Loader, Store, Writer

pytestmark = pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")

RECORDS = (130, 75, 201)
BLOCKS = (32, 16, 50)


def run(*arguments: str | Path) -> None:
    subprocess.run([str(a) for a in (COMMAND, *arguments)], check=True, capture_output=True, timeout=120)


def make(directory: Path, shuffle: bool, mixed: bool) -> tuple[Path, Path]:
    """A set, and the store that its shards make."""
    shards = [directory / "set" / f"s{i}" for i in range(len(RECORDS))]
    shards[0].parent.mkdir(parents=True)
    draw = np.random.default_rng(1)
    for i, shard in enumerate(shards):
        fields = [
            Field("image", "u8", (3, 4, 4)),
            Field("label", "u8", (), "target", classes=("a", "b", "c")),
        ]
        with Writer(
            str(shard), fields, block_records=BLOCKS[i if mixed else 0], shuffle=i if shuffle else None
        ) as w:
            for split, count in (("train", RECORDS[i]), ("test", RECORDS[i] // 5)):
                w.begin(split)
                for _ in range(count):
                    w.append(image=draw.integers(0, 256, (3, 4, 4), "u1"), label=draw.integers(3))
    run("join", *shards, "-o", directory / "set")
    run("merge", *shards, directory / "merged")
    return directory / "set", directory / "merged"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Shards whose blocks have different sizes."""
    return make(tmp_path_factory.mktemp("plain"), shuffle=False, mixed=True)


def content(loader: Any) -> list[Any]:
    """Of each batch its ids and values."""
    return [(batch.ids.tolist(), batch["image"].tobytes(), batch["label"].tobytes()) for batch in loader]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_set_is_the_merged_store(tmp_path: Path, shuffle: bool, mixed: bool) -> None:
    many, one = (Store(str(path)) for path in make(tmp_path, shuffle, mixed))
    assert len(many) == len(one) == sum(n + n // 5 for n in RECORDS)
    assert many.splits == one.splits
    for i in (0, 129, 130, 405, 406, len(one) - 1):
        assert many[i]["label"] == one[i]["label"]
        np.testing.assert_array_equal(many[i]["image"], one[i]["image"])
    for split in ("train", "test"):
        every = [
            content(Loader(store, split, batch_size=32, shuffle=False, fields=("image", "label")))
            for store in (many, one)
        ]
        assert every[0] == every[1]


def test_digests_are_those_of_the_shards(pair: tuple[Path, Path]) -> None:
    """As the docstrings say: the set's is not the merged store's, and fields have none."""
    many, one = (Store(str(path)) for path in pair)
    shards = b"".join(
        bytes.fromhex(Store(str(pair[0] / f"s{i}")).content_digest) for i in range(len(RECORDS))
    )
    assert many.content_digest == hashlib.sha256(shards).hexdigest() != one.content_digest
    assert {field.digest for field in many.schema} == {"0" * 64}


@pytest.mark.parametrize("threads", [0, 2])
def test_shuffled_batches_are_those_of_any_number_of_threads_and_open_shards(
    pair: tuple[Path, Path], threads: int
) -> None:
    due = content(Loader(Store(str(pair[0])), "train", batch_size=16, seed=3, threads=1))
    assert sorted(i for ids, *_ in due for i in ids) == list(range(sum(RECORDS)))
    values = {i: Store(str(pair[1]))[i] for i in range(0, sum(RECORDS), 37)}
    for ids, images, _ in due:
        for k, i in enumerate(ids):
            if i in values:
                assert images[48 * k : 48 * k + 48] == values[i]["image"].tobytes()
    for most in (1, 2):
        store = Store(str(pair[0]), open_shards=most)
        assert content(Loader(store, "train", batch_size=16, seed=3, threads=threads)) == due


def test_a_whole_window_shuffles_as_in_the_merged_store(tmp_path: Path) -> None:
    """One shard has the blocks of the store that it makes; so all of the order is the same."""
    shard = tmp_path / "set" / "s"
    shard.parent.mkdir()
    with Writer(str(shard), [Field("image", "u8", (5,)), Field("label", "u8", (), "target")]) as w:
        for i in range(300):
            w.append(image=np.full(5, i % 256, "u1"), label=i % 7)
    run("join", shard, "-o", tmp_path / "set")
    many, one = (
        content(Loader(Store(str(path)), batch_size=16, seed=9)) for path in (tmp_path / "set", shard)
    )
    assert many == one


def test_ranks_share_a_set_and_resume(pair: tuple[Path, Path]) -> None:
    store = Store(str(pair[0]))
    options = {"split": "train", "batch_size": 10, "seed": 4, "world": 2, "drop_last": False}
    whole = [content(Loader(store, rank=rank, **options)) for rank in range(2)]
    assert sorted(i for r in whole for ids, *_ in r for i in ids) == list(range(sum(RECORDS)))
    for rank in range(2):
        loader = Loader(store, rank=rank, **options)
        batches = iter(loader)
        for _ in range(5):
            next(batches)
        state = loader.state_dict()
        again = Loader(store, rank=rank, **options)
        again.load_state_dict(state)
        assert content(again) == whole[rank][5:]


def test_a_state_is_resumed_from_the_list_that_it_names(tmp_path: Path) -> None:
    directory, _ = make(tmp_path, shuffle=False, mixed=False)
    shards = [directory / f"s{i}" for i in range(3)]
    run("join", "--force", *shards[:2], "-o", directory)
    options = {"split": "train", "batch_size": 10, "seed": 4}
    whole = content(Loader(str(directory), **options))
    loader = Loader(str(directory), **options)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    state = loader.state_dict()
    old = Store(str(directory))
    pickled = pickle.dumps((old, old["train"]))
    run("join", "--add", shards[2], "-o", directory)
    assert content(batches) == whole[3:]  # what is open goes on
    with pytest.raises(apldata.MismatchError, match="another list of this set") as error:
        grown = Loader(str(directory), **options)
        grown.load_state_dict(state)
        next(iter(grown))
    path = next(word for word in str(error.value).split() if word.endswith(".apl"))
    assert Path(path).parent == directory
    again = Loader(path, **options)
    again.load_state_dict(state)
    assert content(again) == whole[3:]
    assert len(Store(str(directory))) > len(Store(path)) == len(old)
    copy, view = pickle.loads(pickled)
    assert copy.content_digest == old.content_digest and len(view) == len(old["train"])
    os.remove(path)
    with pytest.raises(apldata.MismatchError, match="content digest"):
        pickle.loads(pickled)


def test_open_shards(pair: tuple[Path, Path]) -> None:
    store = Store(str(pair[0]), open_shards=1)
    copy = pickle.loads(pickle.dumps(store))
    for i in (0, 200, 100, 399):
        np.testing.assert_array_equal(copy[i]["image"], store[i]["image"])
    for bad in (-1, 2**32):
        with pytest.raises(apldata.InvalidError, match="open_shards"):
            Store(str(pair[0]), open_shards=bad)


def test_a_directory_of_splits_that_is_not_there_is_named(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for path in (pair[0], pair[0] / "set.apl", pair[1]):
        with pytest.raises(apldata.NotFoundError, match=r"/none: cannot open the directory for splits"):
            Store(path, split_directory=tmp_path / "none")


def test_a_set_is_not_written_over(pair: tuple[Path, Path]) -> None:
    before = sorted(os.listdir(pair[0]))
    for replace in (False, True):
        with pytest.raises(apldata.InvalidError, match="is a set, and cannot be a store too"):
            Writer(str(pair[0]), [Field("x", "u8")], replace=replace)
    assert sorted(os.listdir(pair[0])) == before


@pytest.mark.parametrize("workers", [0, 2])
def test_torch_reads_sets(pair: tuple[Path, Path], workers: int) -> None:
    torch = pytest.importorskip("torch")
    apltorch = pytest.importorskip("apldata.torch")
    images = [
        torch.cat([batch[0] for batch in apltorch.DataLoader(str(path), 16, split="test")]) for path in pair
    ]
    assert torch.equal(*images)
    loaders = [
        torch.utils.data.DataLoader(apltorch.Dataset(str(path), "train"), batch_size=64, num_workers=workers)
        for path in pair
    ]
    for many, one in zip(*loaders, strict=True):
        assert torch.equal(many[0], one[0])
        assert torch.equal(many[1], one[1])


def test_a_first_split_that_is_not_train_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    for split in ("test", "train"):
        with apldata.Writer(tmp_path / "set" / split, {"x": "u8"}) as writer:
            writer.begin(split)
            writer.append(x=1)
    shards = [tmp_path / "set" / split for split in ("test", "train")]
    with pytest.warns(UserWarning, match=r"set: the first split is 'test', which loaders read unless told"):
        apldata.join(shards, tmp_path / "set")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.join(reversed(shards), tmp_path / "set", replace=True)
