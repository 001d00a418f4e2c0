"""The parts of an apldata.torch.DataLoader whose fields are collated, and what tools build of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_tools import torch

import apldata
from apldata import EdgeIndex, Field, MixUp, Nodes, Normalize, Pack, Pad, Ragged, RandomFlip, Windows, Writer
from apldata.kinds import Boxes, Tokens

apltorch = pytest.importorskip("apldata.torch")
DataLoader = apltorch.DataLoader
PLAIN = torch.utils.data.DataLoader
RECORDS, WAYS = 50, {
    "pad": {"tokens": Pad(fill=7)},
    "length": {"tokens": Pad(length=8, truncate=True)},
    "ragged": {"tokens": Ragged()},
    "buckets": {"tokens": Pad(bucket=3)},
    "ragged buckets": {"tokens": Ragged(bucket=2)},
    "boxes": {"boxes": Pad(), "tokens": Ragged()},
}  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("collated") / "db"
    fields = {
        "image": Field("image", "u8", (3, 8, 8)),
        "tokens": Field("tokens", "i32", (-1,), kind=Tokens()),
        "boxes": Field("boxes", "f32", (-1, 4), "target", kind=Boxes()),
        "label": Field("label", "u8", (), "target"),
    }
    draw = np.random.default_rng(3)
    with Writer(found, fields) as writer:
        for i in range(RECORDS):
            image, boxes = draw.integers(0, 256, (3, 8, 8)), [[0, 0, 1 + i % 7, 5]] * (i % 4)
            writer.append(image=image, tokens=np.arange(i * 5 % 12) + i, boxes=boxes, label=i)
    return found


def plain(value: Any) -> Any:
    """A copy that can be compared."""
    if isinstance(value, torch.Tensor):
        return [plain(one) for one in value.unbind()] if value.is_nested else (value.dtype, value.tolist())
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def epoch(loader: Any) -> list[Any]:
    return [plain(batch) for batch in loader]


def built(loader: Any, **more: Any) -> Any:
    return PLAIN(loader.dataset, batch_sampler=loader.batch_sampler, collate_fn=loader.collate_fn, **more)


IN_PROCESS = [(way, world, 0) for way in WAYS for world in (1, 2)]
IN_WORKERS = [(way, 1, 2) for way in ("pad", "length", "buckets")]  # torch sends no nested tensors from there


@pytest.mark.parametrize(("way", "world", "workers"), IN_PROCESS + IN_WORKERS)
def test_built_anew(path: Path, way: str, world: int, workers: int) -> None:
    options = {"seed": 4, "transforms": [RandomFlip()], "collate": WAYS[way]}
    for rank in range(world):
        loader = DataLoader(path, 4, True, rank=rank, world=world, **options)
        tool = built(loader, num_workers=workers)
        assert len(tool) == len(loader)
        first, second = epoch(tool), epoch(tool)
        loader.set_epoch(0)
        assert first == epoch(loader) and second == epoch(loader) and first != second


@pytest.mark.parametrize("way", WAYS)
def test_samples(path: Path, way: str) -> None:
    """Of numbers, the records as they are; of the sampler's indices, as the loader makes them."""
    loader = DataLoader(path, 4, True, collate=WAYS[way], fields=["tokens", "label", "boxes"])
    store = apldata.Store(path)
    for i in (0, 1, 9, RECORDS - 1):
        tokens, label, boxes = loader.dataset[i]
        record = store[i]
        assert label == i and tokens.tolist() == record["tokens"].tolist()
        assert boxes.tolist() == record["boxes"].tolist()
    rows = list(loader.sampler)[:6]
    for row in rows:
        tokens, label, *_ = loader.dataset[row]
        longest = 8 if way == "length" else None
        assert (
            label == int(row)
            and tokens[: label * 5 % 12].tolist() == list(range(label, label + label * 5 % 12))[:longest]
        )
        assert len(tokens) == (longest or label * 5 % 12)


@pytest.mark.parametrize("way", WAYS)
def test_rows_in_another_order(path: Path, way: str) -> None:
    """Padded to the longest that are asked for together."""
    options = {"fields": ["label", "tokens"], "collate": {"tokens": WAYS[way]["tokens"]}}
    loader = DataLoader(path, 4, True, **options)
    rows = list(loader.sampler)
    order = np.random.default_rng(1).permutation(RECORDS).tolist()
    chosen = [[rows[i] for i in order[at : at + 5]] for at in range(0, RECORDS, 5)]
    for some in [*chosen, rows[2:9], rows[1:2]]:
        (label, tokens, *parts) = next(
            iter(PLAIN(loader.dataset, batch_sampler=[some], collate_fn=loader.collate_fn))
        )
        assert label.tolist() == [int(row) for row in some]
        values = [np.arange(i * 5 % 12)[: 8 if way == "length" else 12] + i for i in label.tolist()]
        if tokens.is_nested:
            assert [one.tolist() for one in tokens.unbind()] == [one.tolist() for one in values]
            continue
        longest = 8 if way == "length" else max(map(len, values))
        fill = 7 if way == "pad" else 0
        padded = [[*one.tolist(), *[fill] * (longest - len(one))] for one in values]
        assert tokens.tolist() == padded and parts[0].tolist() == [len(one) for one in values]
        assert parts[1].sum(1).tolist() == parts[0].tolist() and parts[1].shape == tokens.shape


def test_mixed_images(path: Path) -> None:
    fields = ["image", "tokens", "label"]
    transforms, collate = [Normalize(), MixUp(num_classes=RECORDS)], {"tokens": Pad(bucket=2)}
    options = {"fields": fields, "transforms": transforms, "collate": collate}
    for rank in range(2):
        loader = DataLoader(path, 4, True, rank=rank, world=2, **options)
        assert epoch(built(loader)) == epoch(DataLoader(path, 4, True, rank=rank, world=2, **options))


def test_samples_with_keys(path: Path) -> None:
    """A collate_fn gets dicts that have the lengths and masks too."""
    options = {"collate": {"tokens": Pad()}, "as_dict": {"label": "labels"}, "fields": ["tokens", "label"]}
    seen: list[Any] = []
    next(iter(DataLoader(path, 4, collate_fn=lambda samples: seen.extend(samples) or 1, **options)))
    assert list(seen[3]) == ["tokens", "labels", "tokens_lengths", "tokens_mask"]
    loader = DataLoader(path, 4, **options)
    assert list(loader.dataset[3]) == ["tokens", "labels"] and list(next(iter(built(loader)))) == list(
        seen[3]
    )


def test_other_batch_size_of_buckets(path: Path) -> None:
    loader = DataLoader(path, 4, True, collate={"tokens": Pad(bucket=3)})
    batches = apltorch._sampler.BatchSampler(loader.sampler, 8, False)
    with pytest.raises(apldata.InvalidError, match=r"order depends on batch_size, which is 4, not 8: make"):
        next(iter(batches))
    again = DataLoader(loader.dataset, batch_sampler=batches)
    assert epoch(again) == epoch(DataLoader(path, 8, True, collate={"tokens": Pad(bucket=3)}))


@pytest.mark.parametrize("how", [Pack(16), Windows(4)], ids=["Pack", "Windows"])
def test_rows_that_are_no_records(path: Path, how: Any) -> None:
    loader = DataLoader(path, 4, True, collate={"tokens": how})
    assert loader.dataset[9][0].tolist() == apldata.Store(path)[9]["tokens"].tolist()
    assert len(loader.batch_sampler) == len(loader) == len(list(loader))
    for sampler in (loader.sampler, loader.batch_sampler):
        with pytest.raises(apldata.InvalidError, match=rf"rows of {type(how).__name__}\(\) are no records"):
            next(iter(sampler))


def test_graphs(tmp_path: Path) -> None:
    fields = {"x": Field("x", "f32", (-1, 2)), "edges": Field("edges", "i64", (2, -1))}
    with Writer(tmp_path / "db", fields) as writer:
        for i in range(10):
            writer.append(x=np.full((i + 1, 2), i), edges=[[0] * i, [i] * i])
    loader = DataLoader(tmp_path / "db", 4, True, collate={"x": Nodes(), "edges": EdgeIndex()})
    assert epoch(built(loader)) == epoch(
        DataLoader(tmp_path / "db", 4, True, collate={"x": Nodes(), "edges": EdgeIndex()})
    )
    assert loader.dataset[3][0].shape == (4, 2)
    rows = list(loader.sampler)
    for some in (rows[:1], rows[5:2:-1]):
        with pytest.raises(apldata.InvalidError, match="field x is joined across the records of a batch"):
            list(loader.dataset.__getitems__(some))


@pytest.mark.parametrize("way", ["pack", "graphs"])
def test_a_collate_fn_gets_no_samples_of_joined_records(tmp_path: Path, way: str) -> None:
    """It may take whole arrays."""
    with Writer(tmp_path / "s", {"x": ("f32", (-1,)), "ei": ("i64", (2, -1))}) as writer:
        for _ in range(6):
            writer.append(x=[1, 2], ei=[[0], [1]])
    collate = {"pack": {"x": Pack(4)}, "graphs": {"x": Nodes(), "ei": EdgeIndex()}}[way]
    told = r"collate: field x is joined .*no single samples: a collate_fn gets whole arrays .*samples\['x'\]$"
    with pytest.raises(apldata.InvalidError, match=told):
        next(iter(DataLoader(tmp_path / "s", 3, collate=collate, collate_fn=list)))
    loader = DataLoader(tmp_path / "s", 3, collate=collate, collate_fn=lambda samples: samples["x"].sum())
    assert sum(loader) == 18
