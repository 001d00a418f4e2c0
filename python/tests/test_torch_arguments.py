"""apldata.torch.DataLoader: torch's arguments, and what they mean here."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_tools import equal, flat, same, torch

import apldata
from apldata import ToBFloat16

apltorch = pytest.importorskip("apldata.torch")
DataLoader = apltorch.DataLoader


@pytest.mark.parametrize("workers", [None, 0, 1, 3])
def test_num_workers_are_threads(store_path: str, workers: int | None) -> None:
    before = len(os.listdir("/proc/self/task"))
    loader = DataLoader(store_path, 64, True, num_workers=workers, seed=3)
    added = len(os.listdir("/proc/self/task")) - before
    assert added == loader.num_workers
    assert workers is None or added == workers
    assert len(next(iter(loader))[1]) == 64
    loader.close()
    assert len(os.listdir("/proc/self/task")) == before
    loader = DataLoader(store_path, 64, True, num_workers=workers, seed=3)
    assert same(flat(loader), flat(DataLoader(store_path, 64, True, num_workers=0, seed=3)))


def test_seed_and_generator(store_path: str) -> None:
    generator = torch.Generator().manual_seed(2**63 + 11)
    by_generator = flat(DataLoader(store_path, 64, True, generator=generator))
    assert same(by_generator, flat(DataLoader(store_path, 64, True, seed=2**63 + 11)))
    assert not same(by_generator, flat(DataLoader(store_path, 64, True)))
    torch.manual_seed(99)  # which ranks often set to different values
    assert same(flat(DataLoader(store_path, 64, True)), flat(DataLoader(store_path, 64, True, seed=0)))
    with pytest.raises(apldata.InvalidError, match="generator and seed"):
        DataLoader(store_path, generator=generator, seed=1)


def test_in_order_false(store_path: str, drawn: dict[str, Any]) -> None:
    loader = DataLoader(store_path, 64, True, in_order=False, num_workers=3)
    for _ in range(2):
        images = torch.cat([images for images, _ in flat(loader)]).numpy().reshape(1000, -1)
        expected = drawn["train"]["image"].reshape(1000, -1)
        assert np.array_equal(np.unique(images, axis=0), np.unique(expected, axis=0))


def test_drop_last(store_path: str) -> None:
    loader = DataLoader(store_path, 300, True, drop_last=True)
    assert len(loader) == 3 and [len(labels) for _, labels in loader] == [300] * 3


def test_ranks_by_argument(store_path: str) -> None:
    ids = []
    for rank in range(3):
        loader = DataLoader(
            store_path, 64, True, rank=rank, world=3, collate_fn=lambda batch: batch.ids.copy()
        )
        assert len(loader) == 6
        ids += list(loader)
    assert sorted(np.concatenate(ids).tolist()) == list(range(1000))


def test_a_rank_may_get_an_empty_batch(store_path: str) -> None:
    rows = [[len(x) for x, _ in DataLoader(store_path, 333, rank=rank, world=3)] for rank in range(3)]
    assert sum(map(sum, rows)) == 1000 and len({len(steps) for steps in rows}) == 1
    assert min(map(min, rows)) == 0


def test_rank_from_torch_distributed(store_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributed, "is_available", lambda: True)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    by_torch = flat(DataLoader(store_path, 64, True))
    assert len(by_torch) == 8
    assert same(by_torch, flat(DataLoader(store_path, 64, True, rank=1, world=2)))
    assert len(DataLoader(store_path, 64, True, rank=0, world=1)) == 16


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without distributed")
def test_torch_distributed_goes_before_the_launcher(
    store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert len(DataLoader(store_path, 64)) == 8
    init = f"file://{tmp_path}/init"
    torch.distributed.init_process_group("gloo", init_method=init, rank=0, world_size=1)
    try:
        assert len(DataLoader(store_path, 64)) == 16
    finally:
        torch.distributed.destroy_process_group()


def test_collate_fn_is_over_the_whole_batch(store_path: str, drawn: dict[str, Any]) -> None:
    threads = set()

    def collate(batch: Any) -> dict[str, Any]:
        threads.add(threading.current_thread().name)
        return {"mean": batch["image"].mean(axis=(1, 2, 3)), "n": batch.rows}

    results = list(DataLoader(store_path, 100, collate_fn=collate))
    assert [result["n"] for result in results] == [100] * 10
    means = np.concatenate([result["mean"] for result in results])
    assert np.allclose(means, drawn["train"]["image"].mean(axis=(1, 2, 3)))
    assert threads == {"apldata-ahead"}


def test_collate_fn_that_fails(store_path: str) -> None:
    with pytest.raises(TypeError, match="returned None"):
        next(iter(DataLoader(store_path, 100, collate_fn=lambda batch: None)))
    with pytest.raises(ZeroDivisionError):
        next(iter(DataLoader(store_path, 100, collate_fn=lambda batch: 1 / 0)))


def test_functions_replace_and_add_fields(store_path: str, drawn: dict[str, Any]) -> None:
    def change(batch: Any) -> None:
        batch["image"] = batch["image"].astype(np.float32) / 2
        batch["label"] = torch.nn.functional.one_hot(torch.from_numpy(batch["label"]).long(), 10)
        batch["twice"] = batch["image"][:, 0, 0, 0] * 2

    batch = next(iter(DataLoader(store_path, 10, transforms=[change])))
    assert batch._fields == ("image", "label", "twice")
    assert batch.image.dtype == torch.float32 and batch.label.shape == (10, 10)
    assert equal(batch.image * 2, drawn["train"]["image"][:10])
    assert equal(batch.twice, drawn["train"]["image"][:10, 0, 0, 0])
    bf16 = next(iter(DataLoader(store_path, 10, transforms=[ToBFloat16(), lambda batch: None])))
    assert bf16.image.dtype == torch.bfloat16


def test_pin_memory_without_cuda(store_path: str) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.warns(UserWarning, match="no CUDA"):
        loader = DataLoader(store_path, 64, pin_memory=True)
    assert not loader.pin_memory and len(flat(loader)) == 16


def test_accepted_without_effect(store_path: str) -> None:
    loader = DataLoader(
        store_path, 64, multiprocessing_context="spawn", persistent_workers=False, pin_memory_device="cuda:0"
    )
    assert len(flat(loader)) == 16


def test_timeout(store_path: str) -> None:
    assert len(flat(DataLoader(store_path, 64, timeout=30))) == 16


def test_prefetch_factor_is_the_queue(store_path: str) -> None:
    loader = DataLoader(store_path, 10, num_workers=1, prefetch_factor=7)
    next(iter(loader))
    end = time.monotonic() + 10
    while loader.stats()["queued"] < 7 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    assert loader.stats()["queued"] in (7, 8)  # a thread may have one more in its hands


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sampler": [1, 2]}, "sampler: .*torch's DataLoader over apldata.torch.Dataset"),
        ({"batch_sampler": [[1, 2]]}, "batch_sampler: .*torch's DataLoader over apldata.torch.Dataset"),
        ({"worker_init_fn": print}, "worker_init_fn: .*no worker processes"),
        ({"batch_size": None}, "batch_size None.*1 is the smallest"),
        ({"batch_size": 0}, "batch_size must be .*at least 1; got 0"),
        ({"num_workers": -1}, "num_workers .*at least 0; got -1"),
        ({"num_workers": 0, "prefetch_factor": 2}, "prefetch_factor with num_workers=0.*would do"),
        ({"prefetch_factor": 2, "queue_depth": 2}, "prefetch_factor and queue_depth"),
        ({"prefetch_factor": 0}, "prefetch_factor must be .*at least 1; got 0"),
        ({"timeout": -1}, "timeout must be seconds.* got -1"),
        ({"pin_memory_device": "xla"}, "pin_memory_device must be .* got 'xla'"),
        ({"rank": 1}, "rank and world"),
    ],
)
def test_nonsense_is_refused(store_path: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(apldata.InvalidError, match=message):
        DataLoader(store_path, **arguments)


def test_other_data_is_refused(store_path: str) -> None:
    with pytest.raises(TypeError, match=r"a store's path.*got list.*apldata.ingest"):
        DataLoader([1, 2, 3])
    with pytest.raises(TypeError, match="threads"):
        DataLoader(store_path, threads=2, num_workers=2)


def test_over_a_dataset(store_path: str) -> None:
    dataset = apltorch.Dataset(store_path, "test", fields=["label", "image"])
    loader = DataLoader(dataset, 100)
    assert loader.dataset is dataset and next(iter(loader))._fields == ("label", "image") and len(loader) == 3
    with pytest.raises(apldata.InvalidError, match="transforms="):
        DataLoader(apltorch.Dataset(store_path, transform=print))
    with pytest.raises(apldata.InvalidError, match="split 'train'"):
        DataLoader(dataset, split="train")


def test_what_others_look_at(store_path: str) -> None:
    loader = DataLoader(store_path, 64, drop_last=True, num_workers=2)
    assert (loader.batch_size, loader.num_workers, loader.drop_last) == (64, 2, True)
    assert len(loader.dataset) == 1000 and loader.dataset[3][0].shape == (3, 32, 32)
    assert loader.persistent_workers and isinstance(loader, torch.utils.data.DataLoader)


def test_misspelt_arguments(store_path: str) -> None:
    with pytest.raises(TypeError, match="DataLoader has no argument 'transform': did you mean 'transforms'"):
        DataLoader(store_path, transform=[])
