"""apldata.torch.DataLoader as a DataLoader of torch's: its parts, and what tools build of them."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from torch_tools import flat, same, torch

import apldata
from apldata import CutMix, MixUp, Normalize, RandomChoice, RandomCrop, RandomFlip, Sampling

apltorch = pytest.importorskip("apldata.torch")
DataLoader, Dataset = apltorch.DataLoader, apltorch.Dataset
PLAIN = torch.utils.data.DataLoader
AUGMENT = [RandomCrop(32, 4), RandomFlip(), Normalize()]


def shifted(batch: Any) -> None:
    """A function over a whole batch, of the kind that every process can find."""
    batch["image"] = batch["image"] + batch.ids[:, None, None, None]


def rebuilt(loader: Any, **changed: Any) -> Any:
    """What a tool makes of a loader's parts that knows torch's loaders only."""
    names = (
        "num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context",
        "generator", "prefetch_factor", "persistent_workers",
    )  # fmt: skip
    parts = {"batch_sampler": loader.batch_sampler, **{name: getattr(loader, name) for name in names}}
    return PLAIN(loader.dataset, **{**parts, **changed})


# ------------------------------------------------------------------------------------------- the parts


def test_what_is_imported(store_path: str) -> None:
    """No torch for those who do not ask for it, and no torchvision or trainer for those who ask for torch.
    Where it is imported later, batches are trees to it from the next epoch on."""
    code = f"""
import sys
import apldata
loader = apldata.Loader({store_path!r}, batch_size=100)
assert "torch" not in sys.modules
from torch.utils._pytree import tree_leaves
assert len(tree_leaves(next(iter(loader)))) == 2
trainers = ("torchvision", "torchdata", "lightning", "accelerate", "transformers")
for name in trainers:
    sys.modules[name] = None    # as where it is not installed
import apldata.torch
from apldata.torch import DataLoader, Dataset
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_is_one_of_torchs(store_path: str) -> None:
    loader = DataLoader(store_path, 64, True, num_workers=2, drop_last=True, timeout=9, prefetch_factor=3)
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert (loader.batch_size, loader.num_workers, loader.drop_last, loader.timeout) == (64, 2, True, 9)
    assert (loader.prefetch_factor, loader.pin_memory, loader.worker_init_fn) == (3, False, None)
    assert loader.persistent_workers and not DataLoader(store_path, num_workers=0).persistent_workers
    assert loader.generator is None and loader.multiprocessing_context is None
    assert isinstance(loader.sampler, torch.utils.data.DistributedSampler)
    assert isinstance(loader.batch_sampler, torch.utils.data.BatchSampler)
    assert loader.batch_sampler.sampler is loader.sampler
    assert len(loader.dataset) == 1000 and loader._auto_collation
    assert loader._index_sampler is loader.batch_sampler


def test_samplers_tell_the_order(store_path: str, drawn: dict[str, Any]) -> None:
    loader = DataLoader(store_path, 64, True, seed=3)
    batches = list(loader.batch_sampler)
    assert [len(rows) for rows in batches] == [64] * 15 + [40]
    assert len(loader.batch_sampler) == len(batches) == len(loader) and len(loader.sampler) == 1000
    loader.sampler.set_epoch(0)
    assert list(loader.sampler) == [row for rows in batches for row in rows]
    for rows, (_, labels) in zip(batches, loader, strict=True):
        assert labels.tolist() == drawn["train"]["label"][rows].tolist()
    again = list(loader.batch_sampler)
    assert again != batches  # the epoch that comes next
    for rows, (_, labels) in zip(again, loader, strict=True):
        assert labels.tolist() == drawn["train"]["label"][rows].tolist()


def test_set_epoch_of_the_sampler_is_the_loaders(store_path: str) -> None:
    loader, other = DataLoader(store_path, 64, True), DataLoader(store_path, 64, True, first_epoch=5)
    loader.sampler.set_epoch(5)
    assert loader.epoch == 5 and same(flat(loader), flat(other))
    assert (loader.sampler.num_replicas, loader.sampler.rank, loader.sampler.epoch) == (1, 0, 6)


def test_a_loader_is_freed_while_its_sampler_is_held(store_path: str) -> None:
    loader = DataLoader(store_path, 64, True)
    sampler, gone = loader.batch_sampler, weakref.ref(loader)
    gc.disable()
    try:
        del loader
        assert gone() is None
    finally:
        gc.enable()
    assert sum(map(len, sampler)) == 1000


def test_attributes_are_fixed(store_path: str) -> None:
    loader = DataLoader(store_path, 64)
    for name in (
        "batch_size",
        "sampler",
        "dataset",
        "num_workers",
        "collate_fn",
        "seed",
        "timeout",
        "transforms",
    ):
        before = getattr(loader, name)
        with pytest.raises(ValueError, match=f"{name} cannot be set"):
            setattr(loader, name, 3)
        assert getattr(loader, name) is before
    loader.mine = 3
    assert loader.mine == 3


# ------------------------------------------------------------------------------------ built of the parts


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("collate", [False, True], ids=["plain", "collate_fn"])
def test_built_anew_by_torch(store_path: str, workers: int, collate: bool) -> None:
    """The same batches, epoch by epoch, in this process and in workers."""
    options: dict[str, Any] = {"seed": 4, "num_workers": workers, "transforms": [*AUGMENT, shifted]}
    if collate:
        options["collate_fn"] = torch.utils.data.default_collate
    expected = DataLoader(store_path, 64, True, **options)
    tool = rebuilt(DataLoader(store_path, 64, True, **options))
    for _ in range(2):
        assert same(flat(expected), flat(tool))


def test_built_anew_with_spawn(store_path: str) -> None:
    options: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": "spawn", "transforms": AUGMENT}
    tool = rebuilt(DataLoader(store_path, 64, True, **options))
    assert same(flat(DataLoader(store_path, 64, True, **options)), flat(tool))


def test_what_cannot_go_to_a_worker_says_so(store_path: str) -> None:
    options: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": "spawn"}
    tool = rebuilt(DataLoader(store_path, 64, True, transforms=[lambda batch: None], **options))
    with pytest.raises(apldata.InvalidError, match="top of a module"):
        next(iter(tool))


@pytest.mark.parametrize("world", [1, 2, 3])
def test_built_anew_for_a_rank(store_path: str, world: int) -> None:
    for rank in range(world):
        options: dict[str, Any] = {"rank": rank, "world": world, "transforms": AUGMENT}
        loader = DataLoader(store_path, 64, True, **options)
        assert (loader.sampler.num_replicas, loader.sampler.rank) == (world, rank)
        assert same(flat(rebuilt(loader, num_workers=0, persistent_workers=False, prefetch_factor=None)),
                    flat(DataLoader(store_path, 64, True, **options)))  # fmt: skip


@pytest.mark.parametrize("mixing", [CutMix(), RandomChoice([MixUp(0.2), CutMix()])], ids=["CutMix", "choice"])
@pytest.mark.parametrize(("world", "workers"), [(1, 0), (1, 2), (2, 0), (2, 2)])
def test_built_anew_with_mixing(store_path: str, mixing: Any, world: int, workers: int) -> None:
    """What is drawn for a batch does not depend on who makes it."""
    options: dict[str, Any] = {"world": world, "transforms": [RandomFlip(), Normalize(), mixing]}
    for rank in range(world):
        expected = flat(DataLoader(store_path, 64, True, rank=rank, **options))
        loader = DataLoader(store_path, 64, True, rank=rank, num_workers=workers, **options)
        tool = rebuilt(loader)
        assert [len(rows) for rows in loader.batch_sampler] == [len(images) for images, _ in expected]
        loader.sampler.set_epoch(0)
        assert same(flat(tool), expected)


def test_built_anew_in_another_order(store_path: str) -> None:
    """Batches skipped, every third, and rows in another order: still each as the loader makes it."""
    loader = DataLoader(store_path, 64, True, transforms=AUGMENT)
    images, labels = (torch.cat(parts) for parts in zip(*flat(loader), strict=True))
    loader.sampler.set_epoch(0)
    rows = list(loader.sampler)
    for order in (
        list(range(320, 1000)),
        [i for step in range(0, 1000 - 64, 192) for i in range(step, step + 64)],
        list(range(0, 1000, 3)),
        np.random.default_rng(0).permutation(1000).tolist(),
    ):
        chosen = [[rows[i] for i in order[at : at + 64]] for at in range(0, len(order), 64)]
        tool = PLAIN(loader.dataset, batch_sampler=chosen, collate_fn=loader.collate_fn)
        some, theirs = (torch.cat(parts) for parts in zip(*flat(tool), strict=True))
        assert torch.equal(some, images[order]) and torch.equal(theirs, labels[order])


def test_built_anew_after_the_loader_is_gone(store_path: str) -> None:
    tool = rebuilt(DataLoader(store_path, 64, True, num_workers=0, transforms=AUGMENT))
    gc.collect()
    assert same(flat(tool), flat(DataLoader(store_path, 64, True, transforms=AUGMENT)))


def test_of_the_same_class_with_a_sampler(store_path: str) -> None:
    """`type(loader)(dataset, sampler=...)`, as Lightning does, brings all other options along."""
    loader = DataLoader(
        store_path, 64, True, seed=5, transforms=AUGMENT, ids=range(0, 1000, 2), drop_last=True
    )
    again = DataLoader(loader.dataset, 64, sampler=loader.sampler)
    assert again.seed == 5 and len(again) == 7 and same(flat(again), flat(loader))
    again = DataLoader(
        loader.dataset, batch_sampler=apltorch._sampler.BatchSampler(loader.sampler, 32, False)
    )
    assert len(again) == 16
    plain = DataLoader(
        loader.dataset,
        64,
        sampler=torch.utils.data.SequentialSampler(loader.dataset),
        transforms=loader.transforms,
    )
    sequential = torch.utils.data.SequentialSampler(loader.dataset)
    batches = apltorch._sampler.BatchSampler(sequential, 64, True)
    assert list(batches) == [list(range(at, at + 64)) for at in range(0, 448, 64)] and len(batches) == 7
    other = DataLoader(loader.dataset, batch_sampler=batches, transforms=loader.transforms)
    ordered = DataLoader(
        store_path, 64, False, seed=5, transforms=AUGMENT, ids=range(0, 1000, 2), drop_last=True
    )
    expected = flat(ordered)
    assert same(flat(plain), expected) and same(flat(other), expected)


def test_transforms_of_an_iterator(store_path: str) -> None:
    given = iter([apldata.ToFloat32()])
    images, _ = next(iter(DataLoader(store_path, 8, transforms=given)))
    assert images.dtype == torch.float32


def test_order_that_nobody_knows(store_path: str) -> None:
    loader = DataLoader(store_path, 64, True, in_order=False)
    with pytest.raises(apldata.InvalidError, match="in_order=False"):
        next(iter(loader.batch_sampler))


# -------------------------------------------------------------------------------------------- datasets


def test_dataset_of_some_ids(store_path: str, drawn: dict[str, Any]) -> None:
    ids = [700, 3, 512]
    with pytest.raises(apldata.InvalidError, match="do not ascend: sort them"):
        DataLoader(store_path, 2, ids=ids)
    loader = DataLoader(store_path, 2, True, ids=ids)
    assert len(loader.dataset) == 3
    assert [label for _, label in loader.dataset] == drawn["train"]["label"][ids].tolist()
    dataset = Dataset(store_path, ids=ids)
    assert dataset.targets == drawn["train"]["label"][ids].tolist()
    labels = torch.cat([labels for _, labels in DataLoader(dataset, 2, True)])
    assert sorted(labels.tolist()) == sorted(dataset.targets)
    with pytest.raises(apldata.NoRecordError, match="1100 is not of split train"):
        Dataset(store_path, ids=[1100])
    with pytest.raises(apldata.InvalidError, match="give one of them"):
        DataLoader(dataset, ids=[3])


@pytest.mark.parametrize(
    "options", [{"sampling": Sampling(records=300)}, {"sampling": Sampling("label")}, {"reuse": 2}]
)
def test_dataset_of_what_is_drawn(store_path: str, options: dict[str, Any]) -> None:
    loader = DataLoader(store_path, 64, True, **options)
    for _ in range(2):
        labels = torch.cat([labels for _, labels in loader]).tolist()
        assert len(loader.dataset) == len(labels) == loader.records
        assert [loader.dataset[i][1] for i in range(0, len(labels), 7)] == labels[::7]
    loader.set_epoch(0)
    assert same(flat(rebuilt(loader, num_workers=0, persistent_workers=False)), flat(loader))


def test_changes_that_would_change_nothing_are_refused(store_path: str) -> None:
    dataset, drawn = Dataset(store_path, "test"), apldata.Sampling(records=50)
    given = torch.utils.data.ConcatDataset([dataset, Dataset(store_path, "train")])
    loaders = [
        DataLoader(dataset, 100),
        DataLoader(store_path, 100, split="test"),
        DataLoader(torch.utils.data.Subset(dataset, range(10)), 5),
        DataLoader(given, 100),
        DataLoader(dataset, 100, shuffle=True, sampling=drawn),
    ]
    for loader in loaders:
        for name in ("transform", "target_transform"):
            with pytest.raises(
                apldata.InvalidError, match=rf"^{name} cannot be set while .*make another loader"
            ):
                setattr(loader.dataset, name, int)
        for name in ("transforms", "targets"):
            with pytest.raises(
                apldata.InvalidError, match=f"^{name} cannot be set|^{name} cannot be changed"
            ):
                setattr(loader.dataset, name, [])
        with pytest.raises(apldata.InvalidTypeError, match="transforms of a DataLoader cannot be changed"):
            loader.transforms.append(int)
    with pytest.raises(apldata.InvalidError, match="cannot be set while"):
        dataset.transform = int
    for name in ("split", "store", "fields"):
        with pytest.raises(apldata.InvalidError, match=f"^{name} of a Dataset cannot be set"):
            setattr(dataset, name, "train")
    for loader in loaders:
        loader.close()
    dataset.target_transform = lambda label: -label  # torch's DataLoader calls it
    assert dataset[3][1] == -dataset.targets[3]


def test_targets_are_not_changed_in_place(store_path: str) -> None:
    dataset = Dataset(store_path, "test")
    for change in (
        lambda labels: labels.__setitem__(0, 1),
        lambda labels: labels.append(1),
        lambda labels: labels.sort(),
        lambda labels: labels.__iadd__([1]),
    ):
        with pytest.raises(TypeError, match=r"targets cannot be changed.*list\(dataset.targets\)"):
            change(dataset.targets)
    again = pickle.loads(pickle.dumps(dataset))
    assert again.targets == dataset.targets == copy.deepcopy(dataset.targets)
    assert dataset.targets + dataset.targets[:1] == [*dataset.targets, dataset.targets[0]]


def test_targets_and_classes(store_path: str, drawn: dict[str, Any]) -> None:
    dataset = Dataset(store_path, "test")
    assert dataset.targets == drawn["test"]["label"].tolist()
    assert dataset.class_to_idx["car"] == 1 and list(dataset.class_to_idx) == list(dataset.classes)
    assert Dataset(store_path, "test", in_memory=True).targets == dataset.targets
    with pytest.raises(apldata.InvalidError, match="one member"):
        _ = Dataset(store_path, fields=["image"]).targets


def test_subset_and_random_split(store_path: str, drawn: dict[str, Any]) -> None:
    whole = Dataset(store_path)
    parts = torch.utils.data.random_split(whole, [0.8, 0.2], torch.Generator().manual_seed(1))
    seen = []
    for part in parts:
        loader = DataLoader(part, 64, True)
        assert len(loader.dataset) == len(part) and loader.dataset[5][1] == part[5][1]
        seen += torch.cat([labels for _, labels in loader]).tolist()
    assert len(seen) == 1000 and sorted(seen) == sorted(whole.targets)
    inner = torch.utils.data.Subset(torch.utils.data.Subset(whole, range(100, 200)), [0, 1, 50])
    ((_, labels),) = DataLoader(inner, 10)
    assert labels.tolist() == drawn["train"]["label"][[100, 101, 150]].tolist()
    with pytest.raises(apldata.InvalidError, match="more than once"):
        DataLoader(torch.utils.data.Subset(whole, [1, 1]))


@pytest.mark.parametrize("name", ["__getitem__", "__getitems__"])
def test_samples_made_in_another_way_are_refused(store_path: str, name: str) -> None:
    def negated(self: Any, index: Any) -> Any:
        raise AssertionError("is called")

    whole = Dataset(store_path)
    own = type("Own", (Dataset,), {name: negated})(store_path)
    methods = {name: negated, "__getitems__": negated}  # torch's Subset wants both
    part = type("OwnPart", (torch.utils.data.Subset,), methods)(whole, [0, 1])
    both = type("OwnBoth", (torch.utils.data.ConcatDataset,), {name: negated})([whole])
    for dataset in (own, part, both, torch.utils.data.Subset(own, [0]), torch.utils.data.Subset(part, [0])):
        with pytest.raises(apldata.InvalidError, match=rf"^Own\w* has a {name} of its own.*transforms="):
            DataLoader(dataset)
    DataLoader(type("Named", (Dataset,), {})(store_path)).close()


def test_parts_that_are_not_shuffled_ascend(store_path: str, drawn: dict[str, Any]) -> None:
    whole, Subset = Dataset(store_path), torch.utils.data.Subset
    chosen = torch.utils.data.random_split(whole, [900, 100], torch.Generator().manual_seed(1))[1]
    turned = Subset(Subset(whole, [4, 3, 2]), [1, 0])  # 3, 4
    for part in (chosen, Dataset(store_path, ids=[3, 1]), Subset(whole, [0, -1, 5])):
        with pytest.raises(apldata.InvalidError, match=r"do not ascend: .*sorted\(part.indices\)"):
            DataLoader(part, 64)
        assert len(DataLoader(part, 64, True).dataset) == len(part)
    for part in (turned, Subset(whole, sorted(chosen.indices))):
        labels = torch.cat([labels for _, labels in DataLoader(part, 64)]).tolist()
        assert labels == [part[i][1] for i in range(len(part))]


def test_concatenated(store_path: str, drawn: dict[str, Any]) -> None:
    both = torch.utils.data.ConcatDataset([Dataset(store_path), Dataset(store_path, "test")])
    loader = DataLoader(both, 100, transforms=AUGMENT)
    assert len(loader.dataset) == 1300 and loader.dataset[1007][1] == both[1007][1]
    labels = torch.cat([labels for _, labels in loader])
    assert labels.tolist() == [*drawn["train"]["label"], *drawn["test"]["label"]]
    tool = rebuilt(DataLoader(both, 100, True, transforms=AUGMENT), num_workers=0, persistent_workers=False)
    assert same(flat(tool), flat(DataLoader(both, 100, True, transforms=AUGMENT)))
    part = torch.utils.data.ConcatDataset(
        [torch.utils.data.Subset(both.datasets[0], [5, 9]), both.datasets[1]]
    )
    loader = DataLoader(part, 500)
    assert (
        len(loader.dataset) == 302
        and loader.dataset[1][1] == part[1][1]
        and loader.dataset[2][1] == part[2][1]
    )
    ((_, labels),) = loader
    assert labels.tolist() == [*drawn["train"]["label"][[5, 9]], *drawn["test"]["label"]]


def test_a_dataset_with_a_loader_is_still_small(store_path: str) -> None:
    loader = DataLoader(store_path, 64, True, transforms=[lambda batch: None])
    copy = pickle.loads(pickle.dumps(loader.dataset))
    assert len(pickle.dumps(loader.dataset)) < 5000 and copy[3][1] == loader.dataset[3][1]


# -------------------------------------------------------------------------------------- samples and dicts


def test_collate_fn_over_samples(store_path: str) -> None:
    expected = flat(DataLoader(store_path, 64, True, transforms=AUGMENT))

    def stack(samples: Any) -> Any:
        images, labels = zip(*samples, strict=True)
        assert isinstance(labels[0], int) and len(samples) == len(images) and samples[-1][1] == labels[-1]
        return torch.stack(images), torch.tensor(labels)

    assert same(flat(DataLoader(store_path, 64, True, transforms=AUGMENT, collate_fn=stack)), expected)
    default = torch.utils.data.default_collate
    assert same(flat(DataLoader(store_path, 64, True, transforms=AUGMENT, collate_fn=default)), expected)
    samples = next(iter(DataLoader(store_path, 64, True, collate_fn=lambda samples: samples)))
    assert isinstance(samples, list) and len(samples) == 64 and samples[0][0].shape == (3, 32, 32)


def test_collate_fn_that_returns_the_batch(store_path: str) -> None:
    def doubled(batch: Any) -> Any:
        batch["image"] = batch["image"].astype(np.float32) * 2
        return batch

    batch = next(iter(DataLoader(store_path, 64, collate_fn=doubled)))
    assert batch.image.dtype == torch.float32 and len(batch.image) == 64


def test_batches_as_dicts(store_path: str) -> None:
    loader = DataLoader(store_path, 64, as_dict=True)
    batch = next(iter(loader))
    assert list(batch) == ["image", "label"] and batch["label"].dtype == torch.int64
    keys = {"image": "pixel_values", "label": "labels"}
    batch = next(iter(DataLoader(store_path, 64, as_dict=keys, transforms=AUGMENT)))
    assert list(batch) == ["pixel_values", "labels"] and batch["pixel_values"].dtype == torch.float32
    dataset = Dataset(store_path, as_dict=keys)
    assert list(dataset[3]) == ["pixel_values", "labels"] and dataset[3]["labels"] == dataset.targets[3]
    assert list(next(iter(DataLoader(dataset, 4)))) == ["pixel_values", "labels"]
    default = torch.utils.data.default_collate
    batch = next(iter(DataLoader(store_path, 4, as_dict=keys, collate_fn=default)))
    assert batch["pixel_values"].shape == (4, 3, 32, 32)
    for wrong, message in (({"images": "x"}, "no field 'images'"), ("image", "as_dict must be")):
        with pytest.raises(apldata.InvalidError, match=message):
            DataLoader(store_path, as_dict=wrong)


def test_tuples_that_others_rebuild(store_path: str) -> None:
    batch = next(iter(DataLoader(store_path, 8)))
    again = type(batch)([one + 1 for one in batch])
    assert again.label.tolist() == (batch.label + 1).tolist()
    assert type(batch)(*batch).label is batch.label and type(batch)(image=1, label=2) == (1, 2)
    with pytest.raises(TypeError):
        type(batch)(1, 2, 3)
