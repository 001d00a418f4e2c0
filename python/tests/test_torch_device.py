"""DeviceLoader: equal, bit by bit, to the Loader of the same options; on a GPU too where there is one."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import apldata  # noqa: E402
from apldata._units import size  # noqa: E402
from apldata.torch import DeviceLoader  # noqa: E402
from apldata.transforms import (  # noqa: E402
    AlternatingFlip,
    CenterCrop,
    ChannelsLast,
    Cutout,
    Normalize,
    RandomCrop,
    RandomFlip,
    RandomVerticalFlip,
    ToBFloat16,
    ToFloat16,
    ToFloat32,
)

CROP, FLIP = RandomCrop(32, padding=4), RandomFlip()
TRANSFORMS = {
    "none": [],
    "crop": [CROP],
    "flip": [FLIP],
    "sometimes": [RandomFlip(0.2), RandomVerticalFlip(0.7)],
    "down": [CROP, RandomVerticalFlip(), Cutout(5), Normalize(), ChannelsLast()],
    "cutout": [Cutout(8)],
    "reflect": [RandomCrop(32, padding=5, padding_mode="reflect"), AlternatingFlip()],
    "smaller": [RandomCrop((24, 20)), FLIP, ToFloat32()],
    "centre": [CenterCrop(28), Normalize()],
    "all-f32": [CROP, FLIP, Cutout(8), Normalize()],
    "all-f16": [CROP, FLIP, Cutout(9), Normalize(), ToFloat16()],
    "all-bf16": [CROP, FLIP, Cutout(8), Normalize(), ToBFloat16()],
    "given": [FLIP, Normalize((0.1, 0.5, 0.9), (0.3, 0.2, 0.1))],
    "unscaled": [CROP, ToFloat16(scale=False)],
    "nhwc": [CROP, FLIP, Cutout(8), Normalize(), ChannelsLast()],
    "nhwc-u8": [RandomCrop((20, 24), padding=2, padding_mode="reflect"), FLIP, ChannelsLast()],
}
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")),
]


def but_state(state: dict[str, Any]) -> dict[str, Any]:
    """Without what says which fields are read, and what they are."""
    return {key: value for key, value in state.items() if key != "state"}


def bits(tensor: Any) -> Any:
    """What a tensor consists of, as whole numbers."""
    whole = {2: torch.int16, 4: torch.int32}
    return tensor.view(whole[tensor.element_size()]) if tensor.is_floating_point() else tensor


def check_equal(batch: Any, given: Any) -> None:
    """A batch of a Loader, and of a DeviceLoader with fields image, label, id."""
    images, labels, ids = (tensor.cpu() for tensor in given)
    assert np.array_equal(ids.numpy(), batch.ids)
    assert labels.dtype == torch.int64
    assert np.array_equal(labels.numpy(), batch["label"])
    wanted = torch.from_dlpack(batch.column("image"))
    assert images.dtype == wanted.dtype
    assert torch.equal(bits(images), bits(wanted))


def loaders(store: Any, device: str = "cpu", transforms: Any = (), **options: Any) -> tuple[Any, Any]:
    options = {"split": "train", "batch_size": 96, "seed": 5, **options}
    made = DeviceLoader(
        store, device=device, transforms=transforms, fields=["image", "label", "id"], **options
    )
    return apldata.Loader(store, transforms=transforms, **options), made


def check_epoch(plain: Any, device: Any) -> None:
    assert plain.epoch == device.epoch
    assert len(plain) == len(device)
    for batch, given in zip(plain, device, strict=True):
        check_equal(batch, given)
        assert but_state(plain.state_dict()) == but_state(device.state_dict())


# ------------------------------------------------------------------------------------------- equality


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_equal(store: apldata.Store, name: str, device: str) -> None:
    plain, made = loaders(store, device, TRANSFORMS[name])
    for _ in range(2):
        check_epoch(plain, made)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["none", "crop", "all-f16", "reflect"])
def test_channels_last(store: apldata.Store, name: str, device: str) -> None:
    plain, _ = loaders(store, "cpu", TRANSFORMS[name])
    options: dict[str, Any] = {"split": "train", "batch_size": 96, "seed": 5, "device": device}
    made = DeviceLoader(
        store, transforms=TRANSFORMS[name], fields=["image", "label", "id"], channels_last=True, **options
    )
    for batch, given in zip(plain, made, strict=True):
        assert given[0].is_contiguous(memory_format=torch.channels_last)
        check_equal(batch, (given[0].contiguous(), *given[1:]))


@pytest.mark.parametrize(
    "options",
    [
        {"drop_last": True},
        {"shuffle": False},
        {"reuse": 2},
        {"sampling": apldata.Sampling("label", replacement=True, records=300)},
        {"window": 200, "bins": 8},
        {"split": "test", "seed": 2**64 - 1},
        {"first_epoch": 7},
        {"batch_size": 1000},
        {"batch_size": 5000},
        {"rank": 0, "world": 2},
        {"rank": 1, "world": 2},
        {"rank": 1, "world": 2, "drop_last": True},
        {"rank": 2, "world": 3, "lanes": 3, "batch_size": 64},
    ],
    ids=lambda options: "-".join(f"{key}={value}" for key, value in options.items()),
)
def test_options(store: apldata.Store, options: dict[str, Any]) -> None:
    plain, made = loaders(store, "cpu", TRANSFORMS["all-f32"], **options)
    for _ in range(2):
        check_epoch(plain, made)
        assert plain.receipt() == made.receipt()


def test_drawn_in_parts(store: apldata.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apldata.torch._draw._AHEAD", 250)
    plain, made = loaders(store, "cpu", TRANSFORMS["all-f32"])
    for _ in range(2):
        check_epoch(plain, made)


def test_a_split_of_ones_own(store_path: str, tmp_path: Path) -> None:
    store = apldata.Store(store_path, split_directory=tmp_path)
    store.split("val", 0.3)
    assert np.any(np.diff(store.split_ids("val").astype(np.int64)) > 1)
    for split in ("val", "train-val"):
        check_epoch(*loaders(store, "cpu", TRANSFORMS["all-f32"], split=split))


def test_genuine(genuine_path: str) -> None:
    store = apldata.Store(genuine_path)
    check_epoch(*loaders(store, "cpu", TRANSFORMS["all-bf16"], batch_size=128))


# --------------------------------------------------------------------------------- states and receipts


def test_states_go_both_ways(store: apldata.Store) -> None:
    transforms = TRANSFORMS["all-f32"]
    plain, made = loaders(store, "cpu", transforms)
    from_plain, from_made = loaders(store, "cpu", transforms)
    expected = [[batch.ids.copy() for batch in plain] for _ in range(2)]
    states: list[dict[str, Any]] = []
    for _ in made:
        states.append(json.loads(json.dumps(made.state_dict())))
    after = expected[0] + expected[1]
    for n, state in enumerate(states, 1):
        from_plain.load_state_dict(state)
        from_made.load_state_dict(state)
        assert from_made.state_dict() == state
        batches = list(zip(from_plain, from_made, strict=True))
        for (batch, given), ids in zip(batches, after[n:], strict=False):
            assert np.array_equal(batch.ids, ids)
            check_equal(batch, given)
        assert len(batches) == len(states) - n  # none, of the epoch whose last batch it was
        assert from_plain.receipt() == from_made.receipt()


def test_state_of_a_loader_goes_on(store: apldata.Store) -> None:
    plain, made = loaders(store, "cpu", TRANSFORMS["crop"])
    other, _ = loaders(store, "cpu", TRANSFORMS["crop"])
    for step, _ in enumerate(plain, 1):
        made.load_state_dict(plain.state_dict())
        other.load_state_dict(plain.state_dict())
        pairs = islice(zip(other, made, strict=True), 1)
        assert [check_equal(*pair) for pair in pairs] == [None] * (step < len(plain))
        assert made.state_dict() == other.state_dict()


def test_broken_off(store: apldata.Store) -> None:
    plain, made = loaders(store, "cpu", TRANSFORMS["crop"])
    for batch, given in islice(zip(plain, made, strict=True), 3):
        check_equal(batch, given)
    assert plain.receipt() == made.receipt()
    check_epoch(plain, made)
    for loader in (plain, made):
        loader.set_epoch(9)
    check_epoch(plain, made)
    for loader in (plain, made):
        loader.set_epoch(9)
    check_epoch(plain, made)


def test_receipts(store: apldata.Store) -> None:
    plain, made = loaders(store, "cpu", drop_last=True)
    assert plain.receipt() == made.receipt()
    for _ in zip(plain, made, strict=True):
        assert plain.receipt() == made.receipt()
    assert plain.receipt() == made.receipt()
    assert made.receipt()["delivered"] == 96 * len(made)


def test_a_state_of_another_order_is_refused(store: apldata.Store) -> None:
    plain, made = loaders(store, "cpu", TRANSFORMS["crop"])
    other, _ = loaders(store, seed=6)
    for batch, given in islice(zip(plain, made, strict=True), 2):
        check_equal(batch, given)
    before = made.state_dict()
    for state in (other.state_dict(), {"state": "00" * 96}, {}):
        with pytest.raises(apldata.Error):
            made.load_state_dict(state)
        assert made.state_dict() == before
    for batch, given in zip(plain, made, strict=True):
        check_equal(batch, given)


def test_set_epoch_within_an_epoch(store: apldata.Store) -> None:
    plain, made = loaders(store, "cpu", TRANSFORMS["all-f32"])
    for loader in (plain, made):
        next(iter(loader))
        loader.set_epoch(3)
    check_epoch(plain, made)
    assert made.epoch == 3


def test_memory_goes_with_the_loader(store: apldata.Store) -> None:
    made = DeviceLoader(store, device="cpu", transforms=TRANSFORMS["all-f32"])
    next(iter(made))
    gone = weakref.ref(made)
    values = weakref.ref(made._resident.columns[0].values)
    gc.disable()
    try:
        del made
        assert gone() is None
        assert values() is None
    finally:
        gc.enable()


def test_closed(store: apldata.Store) -> None:
    with DeviceLoader(store, device="cpu", batch_size=10) as made:
        next(iter(made))
    with pytest.raises((ValueError, apldata.Error)):
        made.load_state_dict({"state": "00"})


def test_several_threads(store: apldata.Store) -> None:
    made = DeviceLoader(store, device="cpu", batch_size=7, transforms=[CROP], fields=["image", "id"])
    iterator = iter(made)
    taken: list[Any] = []

    def take() -> None:
        taken.extend(iterator)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = torch.cat([ids for _, ids in taken])
    assert torch.equal(ids.sort().values, torch.arange(1000))


def test_iterators_are_independent(store: apldata.Store) -> None:
    plain, made = loaders(store)
    for (one, other), given in zip(zip(plain, plain), zip(made, made), strict=True):  # noqa: B905
        check_equal(one, given[0])
        check_equal(other, given[1])
    assert made.epoch == 1 and made.state_dict() == plain.state_dict()


# ------------------------------------------------------------------------------------ fields, refusals


@pytest.fixture(scope="module")
def mixed_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with fields of many types, of varying shape too."""
    path = str(tmp_path_factory.mktemp("stores") / "mixed")
    random = np.random.default_rng(3)
    fields = [
        apldata.Field("left", "u8", (3, 8, 8)),
        apldata.Field("right", "u8", (1, 6, 9)),
        *(
            apldata.Field(d, d, (2,), kind="plain")
            for d in ("u16", "u32", "u64", "i8", "i64", "f16", "f64", "bool")
        ),
        apldata.Field("class", "u16", (), "target"),
        apldata.Field("angle", "f32", (), "target"),
        apldata.Field("text", "utf8", (-1,), "name"),
        apldata.Field("points", "f32", (-1, 2), "name"),
    ]
    with apldata.Writer(path, fields, block_records=16) as writer:
        for n in range(100):
            values = {f.name: random.integers(0, 2, f.shape) * n for f in fields[2:10]}
            writer.append(
                left=random.integers(0, 256, (3, 8, 8), dtype=np.uint8),
                right=random.integers(0, 256, (1, 6, 9), dtype=np.uint8),
                text=f"record {n}",
                points=np.zeros((n % 3, 2), np.float32),
                angle=np.float32(n / 7),
                **{
                    name: np.asarray(value).astype(apldata.numpy_dtype(name))
                    for name, value in values.items()
                },
                **{"class": np.uint16(60000 + n)},
            )
    return path


def test_fields_of_all_types(mixed_path: str) -> None:
    store = apldata.Store(mixed_path)
    transforms = [
        RandomCrop(8, padding=2, field="left"),
        RandomCrop((4, 5), field="right"),
        Cutout(3, field="right"),
    ]
    plain = apldata.Loader(store, batch_size=30, seed=1, transforms=transforms)
    made = DeviceLoader(store, plain.split, 30, device="cpu", seed=1, transforms=transforms)
    names = [field.name for field in store.schema if field.mark in ("input", "target")]
    for batch, given in zip(plain, made, strict=True):
        assert len(given) == len(names)
        for name, tensor in zip(names, given, strict=True):
            assert np.array_equal(tensor.numpy(), batch[name])
            if name != "class":
                assert tensor.numpy().dtype == batch[name].dtype
        assert given[names.index("class")].dtype == torch.int64


def test_varying_shapes_are_refused(mixed_path: str) -> None:
    for name in ("text", "points"):
        with pytest.raises(apldata.InvalidError, match=f"field {name} is .*of varying shape.*DataLoader"):
            DeviceLoader(mixed_path, device="cpu", fields=[name])


def test_refused(store: apldata.Store) -> None:
    with pytest.raises(apldata.InvalidError, match="no functions over batches"):
        DeviceLoader(store, device="cpu", transforms=[print])
    with pytest.raises(apldata.InvalidError, match="not among the fields wanted"):
        DeviceLoader(store, device="cpu", transforms=[CROP], fields=["label"])
    with pytest.raises(apldata.NotFoundError):
        DeviceLoader(store, "validation", device="cpu")
    with pytest.raises((apldata.InvalidError, ValueError)):
        DeviceLoader(store, device="cpu", batch_size=0)


def test_placements_are_of_a_loaders_batch(store: apldata.Store) -> None:
    flip = {"flip": 1}
    (batch,) = islice(apldata.Loader(store, batch_size=10, reuse=2, fields=[]), 1)
    assert len(store._placements(flip, 0, batch)) == 10 * 5 * 4
    assert set(batch.copies.tolist()) <= {0, 1}
    read = store.get([1, 2])
    assert read.copies is None
    with pytest.raises(apldata.InvalidError):
        store._placements(flip, 0, read)
    with pytest.raises(apldata.InvalidError):
        store._transform({"crop_height": 99})
    for wrong in (None, 3, "batch"):
        with pytest.raises(TypeError):
            store._placements(flip, 0, wrong)
    with pytest.raises(TypeError, match="there is no 'turn'"):
        store._placements({"turn": 1}, 0, batch)
    batch.release()
    with pytest.raises(ValueError, match="released"):
        store._placements(flip, 0, batch)


def test_too_little_memory(store: apldata.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apldata.torch._resident._free_bytes", lambda device: 1 << 20)
    with pytest.raises(apldata.InvalidError, match=r"1000 records decoded, needs 0\.01 GiB on cpu, which"):
        DeviceLoader(store, device="cpu")


def test_bytes_needed(store: apldata.Store) -> None:
    held = 1000 * (3 * 40 * 40 + 8)
    assert DeviceLoader.bytes_needed(store, transforms=[CROP]) == 2 * held  # as much again while it is filled
    made = DeviceLoader(store, device="cpu", transforms=[CROP])
    assert f"{size(held)} on cpu" in repr(made)


def test_tensors_belong_to_the_caller(store: apldata.Store) -> None:
    made = DeviceLoader(store, device="cpu", batch_size=100, fields=["image", "id"])
    batches = list(made)
    for images, ids in batches:
        images.add_(1)
        ids.zero_()
    made.set_epoch(0)
    for (images, _), (changed, _) in zip(made, batches, strict=True):
        assert torch.equal(images + 1, changed)
