"""Transforms, bit for bit against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Loader, Normalize, PerPicture, RandomFlip, Store
from apldata.transforms import split_transforms

F32 = np.float32
FLIPS = "0110001000100111"  # of the records from 1000 on


@pytest.fixture(scope="module")
def pictures(drawn: dict[str, dict[str, np.ndarray]]) -> np.ndarray:
    return drawn["test"]["image"]  # u8 (300, 3, 32, 32); their ids begin at 1000


def transformed(store: Store, *transforms: Any, **options: Any) -> np.ndarray:
    """Of the split "test", in the order of ids."""
    settings = {"split": "test", "batch_size": 70, "shuffle": False, "transforms": transforms, **options}
    with Loader(store, **settings) as loader:
        batches = list(loader)
        return np.concatenate([batch["image"] for batch in batches])


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def scaled(pictures: np.ndarray, mean: Any = None, deviation: Any = None) -> np.ndarray:
    """v / 255 or (v - mean) / deviation, as one multiplication and one addition in float32."""
    values = pictures.astype(F32)
    if mean is None:
        return values * (F32(1) / F32(255))
    mean, deviation = (np.asarray(m, F32).reshape(1, -1, 1, 1) for m in (mean, deviation))
    return values * (F32(1) / deviation) + -mean / deviation


def test_none_are_no_transforms(store: Store, pictures: np.ndarray) -> None:
    with Loader(store, "test", 300, shuffle=False, transforms=None) as loader:
        assert same(next(iter(loader))["image"], pictures)


def test_none_is_none(store: Store, pictures: np.ndarray) -> None:
    assert same(transformed(store), pictures)


def test_unit_interval(store: Store, pictures: np.ndarray) -> None:
    unit = scaled(pictures)
    assert same(transformed(store, apldata.ToFloat32()), unit)
    assert same(transformed(store, apldata.ToFloat16()), unit.astype(np.float16))
    assert np.abs(unit - pictures / 255).max() < 1e-7


def test_as_it_is(store: Store, pictures: np.ndarray) -> None:
    assert same(transformed(store, apldata.ToFloat32(scale=False)), pictures.astype(F32))
    assert same(transformed(store, apldata.ToFloat16(scale=False)), pictures.astype(np.float16))


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_normalised_by_the_split(store: Store, pictures: np.ndarray, threads: int) -> None:
    expected = scaled(pictures, *store.moments("train"))
    assert same(transformed(store, apldata.Normalize(), threads=threads), expected)
    assert same(transformed(store, apldata.Normalize(), apldata.ToFloat32()), expected)
    assert same(transformed(store, apldata.ToFloat16(), apldata.Normalize()), expected.astype(np.float16))
    assert abs(expected.mean()) < 0.2 and abs(expected.std() - 1) < 0.2


def test_normalised_by_numbers(store: Store, pictures: np.ndarray) -> None:
    mean, std = [0.4914, 0.4822, 0.4465], (0.2470, 0.2435, 0.2616)
    expected = scaled(pictures, [255 * m for m in mean], [255 * s for s in std])
    assert same(transformed(store, apldata.Normalize(mean, std)), expected)
    assert same(transformed(store, apldata.Normalize(mean=np.array(mean), std=np.array(std))), expected)


def bfloat16_bits(values: np.ndarray) -> np.ndarray:
    """Rounded to nearest, ties to even."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def test_bfloat16(store: Store, pictures: np.ndarray) -> None:
    transforms = [apldata.Normalize(), apldata.ToBFloat16()]
    with Loader(store, "test", 300, shuffle=False, transforms=transforms) as loader:
        batch = next(iter(loader))
    view = batch.column("image")
    expected = bfloat16_bits(scaled(pictures, *store.moments("train")))
    assert view.dtype == "bf16" and same(np.asarray(view.bits()), expected)
    for use in (lambda: memoryview(view), lambda: view.__array_interface__):
        with pytest.raises((BufferError, AttributeError), match="bf16"):
            use()
    try:
        assert np.array_equal(batch["image"].view(np.uint16), expected)
    except TypeError as error:
        assert "ml_dtypes" in str(error)


@pytest.mark.parametrize("more", [[], [apldata.ToFloat32()], [apldata.Normalize(), apldata.ToFloat16()]])
def test_channels_last(store: Store, more: list[Any]) -> None:
    expected = transformed(store, *more).transpose(0, 2, 3, 1)
    assert same(transformed(store, apldata.ChannelsLast(), *more), np.ascontiguousarray(expected))


@pytest.mark.parametrize("size", [24, (20, 28), [32, 1], 1, np.int64(31)])
def test_centre_crop(store: Store, pictures: np.ndarray, size: Any) -> None:
    height, width = (size, size) if np.isscalar(size) else size
    y, x = round((32 - height) / 2), round((32 - width) / 2)  # as torchvision does
    assert same(transformed(store, apldata.CenterCrop(size)), pictures[:, :, y : y + height, x : x + width])


def padded(pictures: np.ndarray, padding: int, mode: str) -> np.ndarray:
    widths = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    return np.pad(pictures, widths, mode=mode)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("size", "padding", "mode"), [(32, 4, "constant"), (32, 4, "reflect"), ((28, 30), 0, "constant")]
)
def test_random_crops_are_crops(
    store: Store, pictures: np.ndarray, size: Any, padding: int, mode: str
) -> None:
    height, width = (size, size) if np.isscalar(size) else size
    crops = transformed(store, apldata.RandomCrop(size, padding, mode))
    assert crops.shape == (300, 3, height, width)
    around = padded(pictures, padding, mode)
    rows, columns = around.shape[2] - height + 1, around.shape[3] - width + 1
    found = np.zeros((rows, columns), int)
    for crop, picture in zip(crops, around, strict=True):
        places = [
            (y, x)
            for y in range(rows)
            for x in range(columns)
            if np.array_equal(crop, picture[:, y : y + height, x : x + width])
        ]
        assert places
        found[places[0]] += 1
    assert (found > 0).mean() > 0.8  # they come from everywhere


def flipped(store: Store, pictures: np.ndarray, transform: Any, epoch: int) -> np.ndarray:
    """Which of them are turned round; none is anything else."""
    seen = transformed(store, transform, first_epoch=epoch)
    turned = (seen == pictures[..., ::-1]).all((1, 2, 3))
    assert (turned | (seen == pictures).all((1, 2, 3))).all()
    return turned


def test_random_flip(store: Store, pictures: np.ndarray) -> None:
    one, two = (flipped(store, pictures, apldata.RandomFlip(), epoch) for epoch in (0, 1))
    assert 0.4 < one.mean() < 0.6 and 0.3 < (one == two).mean() < 0.7


@pytest.mark.parametrize("p", [0, 0.2, 0.5, 1])
def test_flips_with_a_probability(store: Store, pictures: np.ndarray, p: float) -> None:
    assert abs(flipped(store, pictures, apldata.RandomHorizontalFlip(p), 0).mean() - p) < 0.1
    seen = transformed(store, apldata.RandomVerticalFlip(p))
    turned = (seen == pictures[:, :, ::-1]).all((1, 2, 3))
    assert (turned | (seen == pictures).all((1, 2, 3))).all() and abs(turned.mean() - p) < 0.1


def test_one_half_is_what_it_was(store: Store) -> None:
    """The flips of a seed, an epoch and a record stay what they are."""
    seen, plain = (transformed(store, *given, seed=1)[:16] for given in ([RandomFlip()], []))
    flips = [int(not np.array_equal(a, b)) for a, b in zip(seen, plain, strict=True)]
    assert "".join(map(str, flips)) == FLIPS


def test_alternating_flip(store: Store, pictures: np.ndarray) -> None:
    sides = [flipped(store, pictures, apldata.AlternatingFlip(), epoch) for epoch in range(4)]
    assert 0.4 < sides[0].mean() < 0.6
    assert np.array_equal(sides[0], ~sides[1]) and np.array_equal(sides[0], sides[2])
    assert np.array_equal(sides[1], sides[3])


def test_cutout(store: Store, pictures: np.ndarray) -> None:
    seen = transformed(store, apldata.Cutout(8))
    changed = (seen != pictures).any(1)
    assert (seen.transpose(0, 2, 3, 1)[changed] == 0).all()
    for mask in changed:
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        assert len(rows) and np.ptp(rows) < 8 and np.ptp(columns) < 8


def test_a_record_is_augmented_alike_wherever_it_comes(store: Store) -> None:
    transforms = [
        apldata.RandomCrop(32, padding=4),
        apldata.RandomFlip(),
        apldata.Cutout(6),
        apldata.Normalize(),
    ]

    def by_id(**options: Any) -> dict[int, bytes]:
        with Loader(store, "test", seed=4, transforms=transforms, **options) as loader:
            return {
                int(i): x.tobytes()
                for batch in loader
                for i, x in zip(batch.ids, batch["image"], strict=True)
            }

    first = by_id(batch_size=70, threads=0)
    assert by_id(batch_size=33, threads=2) == first
    assert by_id(batch_size=33, shuffle=False) == first
    assert by_id(batch_size=300, first_epoch=1) != first
    with Loader(store, "test", 50, seed=5, transforms=transforms) as loader:
        assert all(batch["image"][0].tobytes() != first[int(batch.ids[0])] for batch in loader)


def test_the_order_given_is_no_matter(store: Store) -> None:
    transforms = [apldata.RandomCrop(28, 2), apldata.RandomFlip(), apldata.Normalize(), apldata.ToFloat16()]
    assert same(transformed(store, *transforms), transformed(store, *transforms[::-1]))
    named = [type(t)(**{**vars(t), "field": "image"}) for t in transforms]
    assert same(transformed(store, *transforms), transformed(store, *named))


@pytest.mark.parametrize(
    "make",
    [
        lambda: [apldata.RandomFlip(), apldata.AlternatingFlip()],
        lambda: [apldata.RandomFlip(), apldata.RandomFlip(field="image")],
        lambda: [apldata.RandomFlip(), apldata.RandomFlip(0.2)],
        lambda: [apldata.ToFloat16(), apldata.ToFloat32()],
        lambda: [apldata.RandomCrop(8, padding_mode="odd")],
        lambda: [apldata.RandomCrop((1, 2, 3))],
        lambda: [apldata.RandomCrop(-1)],
        lambda: [apldata.RandomCrop(0)],
        lambda: [apldata.CenterCrop(33)],
        lambda: [apldata.Normalize(mean=[0, 0, 0])],
        lambda: [apldata.Normalize(mean=[0, 0, 0], std=[1, 0, 1])],
        lambda: [apldata.Normalize(mean=[0, 0, 0], std=[1, float("nan"), 1])],
        lambda: [apldata.Normalize(mean=[0] * 20, std=[1] * 20)],
        lambda: [apldata.Normalize(mean=[0.1, 0.2], std=[1, 1])],
        lambda: [apldata.Normalize(mean=[0.1] * 2, std=[1] * 2)],
        lambda: [apldata.Cutout(-1)],
    ],
)
def test_nonsense_is_refused(store: Store, make: Any) -> None:
    with pytest.raises((ValueError, TypeError, apldata.Error)):
        Loader(store, "test", transforms=make())


def test_a_second_one_is_not_ignored(store: Store) -> None:
    mean_std = [0.5, 0.5, 0.5], [0.2, 0.2, 0.2]
    for pair in ([Normalize(*mean_std), Normalize()], [Normalize(), Normalize(*mean_std)]):
        with pytest.raises(apldata.InvalidError, match=r"Normalize\(.*after Normalize\(.*give one of them"):
            Loader(store, transforms=pair)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Images, masks that are their first channels, and the same without a dimension of channels."""
    path = str(tmp_path_factory.mktemp("scenes") / "s")
    image = np.random.default_rng(3).integers(0, 256, (64, 3, 16, 16), dtype=np.uint8)
    mask = apldata.Field("mask", "u8", (1, 16, 16), "target")
    with apldata.Writer(
        path, {"image": ("u8", (3, 16, 16)), "mask": mask, "grey": ("u8", (16, 16))}
    ) as writer:
        writer.extend(image=image, mask=image[:, :1], grey=image[:, 0])
    return path


def test_images_of_a_record_are_one_draw(scenes: str) -> None:
    fields = ["image", "mask", "grey"]
    crop = [apldata.RandomCrop(14, padding=2, field=fields), RandomFlip(0.4, field=fields)]
    apart = [RandomFlip(field=name) for name in fields]
    more = [apldata.RandomVerticalFlip(field=fields), apldata.Cutout(5, field=fields)]
    for transforms in (crop, apart, more, crop + more):
        with Loader(scenes, batch_size=64, seed=2, transforms=transforms) as loader:
            batch = next(iter(loader))
            assert np.array_equal(batch["image"][:, :1], batch["mask"])
            assert np.array_equal(batch["image"][:, 0], batch["grey"])
            alone = [RandomFlip(0.4, field="mask"), apldata.RandomCrop(14, padding=2, field="mask")]
        if transforms is crop:
            with Loader(scenes, batch_size=64, seed=2, fields=["mask"], transforms=alone) as loader:
                assert np.array_equal(next(iter(loader))["mask"], batch["mask"])


@pytest.mark.parametrize("dtype", ["u8", "i32"])
def test_what_moves_an_image_does_not_leave_its_mask(dtype: str, tmp_path: Path) -> None:
    with apldata.Writer(
        tmp_path / "s",
        {"image": ("u8", (3, 8, 8)), "mask": apldata.Field("mask", dtype, (8, 8), "target"), "label": "u8"},
    ) as writer:
        writer.append(image=np.zeros((3, 8, 8)), mask=np.zeros((8, 8)), label=1)
    moving = [
        RandomFlip(), apldata.RandomVerticalFlip(), apldata.AlternatingFlip(), apldata.RandomCrop(4),
        apldata.CenterCrop(4),
    ]  # fmt: skip
    for transform in moving:
        with pytest.raises(
            apldata.InvalidError, match=f"{type(transform).__name__} moves 'image', but what is 'mask'"
        ):
            Loader(tmp_path / "s", transforms=[Normalize(), transform])
        Loader(tmp_path / "s", fields=["image", "label"], transforms=[transform]).close()
    Loader(tmp_path / "s", transforms=[Normalize([0.5], [0.5])]).close()


def test_messages_name_the_fields(scenes: str, tmp_path: Path) -> None:
    fields = {"left": ("u8", (3, 16, 16)), "right": ("u8", (3, 16, 16)), "grey": ("u8", (16, 16))}
    with apldata.Writer(tmp_path / "pair", fields) as writer:
        writer.append(**{name: np.zeros(shape) for name, (_, shape) in fields.items()})
    for step in (RandomFlip(), Normalize()):
        with pytest.raises(apldata.InvalidError, match=r"2 fields are images.*grey: u8\[16,16\]"):
            Loader(tmp_path / "pair", transforms=step)
    with pytest.raises(apldata.InvalidError, match=r"field image is not among the fields wanted"):
        Loader(scenes, fields=["grey", "mask"], transforms=RandomFlip(field="image"))
    with apldata.Writer(tmp_path / "s", {"photo": ("u8", (32, 32, 3)), "label": "u8"}) as writer:
        writer.append(photo=np.zeros((32, 32, 3)), label=1)
    wanted = (
        r"no field is an image, which is u8\[C,H,W\] with C at most 16, u8\[\*,\*,\*\].* u8\[H,W\].*; "
        r"the fields are photo: u8\[32,32,3\], label: u8; of field photo the channels come last"
    )
    for use in (
        lambda: Loader(tmp_path / "s", transforms=[RandomFlip()]),
        Store(tmp_path / "s").moments,
        lambda: Store(tmp_path / "s").picture,
    ):
        with pytest.raises(apldata.NotFoundError, match=wanted):
            use()
    with pytest.raises(apldata.NotFoundError, match=r"no field is an image.*photo"):
        Store(tmp_path / "s").moments(field="photo")


@pytest.mark.parametrize("shape", [(16, 16, 3), (2, 9, 4), (-1, -1, 3), (8, -1, 1), (16, 16, 2)])
def test_channels_that_come_last_are_not_taken_for_the_height(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Such images were flipped by reversing their colours."""
    with apldata.Writer(tmp_path / "s", {"photo": ("u8", shape), "label": "u8"}) as writer:
        writer.append(photo=np.zeros([abs(side) for side in shape]), label=1)
    last = r"no field is an image.*; of field photo the channels come last, and should come first"
    for use in (lambda: Loader(tmp_path / "s", transforms=[RandomFlip()]), Store(tmp_path / "s").moments):
        with pytest.raises(apldata.NotFoundError, match=last):
            use()
    with pytest.raises(apldata.Error, match=r"photo is u8.*; its channels come last, and should come first"):
        Loader(tmp_path / "s", transforms=[RandomFlip(field="photo")])


def test_channels_may_be_few_and_small(tmp_path: Path) -> None:
    """Where the first and the last dimension may be channels, the first is taken, and convert() says so."""
    with pytest.warns(
        apldata.IngestWarning, match=r"column photo: u8\[3,5,4\]: the first dimension is taken"
    ):
        apldata.convert({"photo": np.zeros((2, 3, 5, 4), "u1")}, tmp_path / "s")
    Loader(tmp_path / "s", transforms=[RandomFlip()]).close()
    for shape in ((2, 5, 7), (16, 5, 6), (1, 28, 28)):
        apldata.convert({"photo": np.zeros((2, *shape), "u1")}, tmp_path / "s", replace=True)
        Loader(tmp_path / "s", transforms=[RandomFlip()]).close()


def test_per_picture_names_the_records_whose_shapes_differ(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (3, -1, -1))}) as writer:
        for height in (8, 8, 9):
            writer.append(image=np.zeros((3, height, 7)))
    told = r"field image: .* \(3, 8, 7\) of record 0, \(3, 9, 7\) of record 2: crop or resize them to one"
    each = apldata.PerPicture(lambda picture: picture)
    with (
        Loader(tmp_path / "s", transforms=[each], shuffle=False) as loader,
        pytest.raises(apldata.InvalidError, match=told),
    ):
        next(iter(loader))


def test_per_picture(store: Store, pictures: np.ndarray) -> None:
    def albumentations_style(*, image: np.ndarray) -> dict[str, np.ndarray]:
        assert image.shape == (32, 32, 3) and image.flags.c_contiguous
        return {"image": image[:16, ::-1].astype(F32)}

    seen = transformed(store, apldata.PerPicture(albumentations_style))
    assert same(seen, pictures[:, :, :16, ::-1].astype(F32))
    plain = apldata.PerPicture(lambda picture: 255 - picture, keyword=None, channels_last=False)
    assert same(transformed(store, plain), 255 - pictures)


def test_they_show_themselves() -> None:
    assert "size=32, padding=4" in repr(apldata.RandomCrop(32, padding=4))
    assert apldata.RandomFlip() == apldata.RandomFlip() and "Per" in repr(apldata.PerPicture(len))


def test_one_number_for_all_channels(store: Store) -> None:
    three = transformed(store, Normalize([0.3] * 3, [0.2] * 3))
    assert same(transformed(store, Normalize(0.3, 0.2)), three)
    assert same(transformed(store, Normalize([0.3], [0.2])), three)


def test_moments_of_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="divide mean and std by 255"):
        split_transforms([Normalize((125.3, 123.0, 113.9), (63.0, 62.1, 66.7))])


def test_a_class_instead_of_a_transform() -> None:
    with pytest.raises(TypeError, match=r"RandomFlip is a class: write RandomFlip\(\)"):
        split_transforms([RandomFlip])


def test_a_single_transform() -> None:
    assert split_transforms(RandomFlip()) == split_transforms([RandomFlip()])


def test_per_picture_takes_functions_as_they_are() -> None:
    picture = np.arange(48, dtype=np.uint8).reshape(1, 3, 4, 4)
    functions = [
        lambda p: p[::-1],
        lambda image: {"image": image[::-1]},
        lambda **given: given["image"][::-1],
    ]
    for function in functions:
        batch = {"image": picture}
        PerPicture(function)(batch)
        assert np.array_equal(batch["image"], picture[:, :, ::-1])
    first = [lambda p: p.transpose(2, 0, 1), lambda p: np.ascontiguousarray(p.transpose(2, 0, 1))]
    for function in first:  # channels first
        batch = {"image": picture}
        PerPicture(function)(batch)
        assert np.array_equal(batch["image"], picture)
    batch = {"image": picture[:, 0]}
    PerPicture(lambda p: p.T)(batch)
    assert np.array_equal(batch["image"], picture[:, 0].transpose(0, 2, 1))
    with pytest.raises(ValueError, match="returned None"):
        PerPicture(lambda image: None)({"image": picture})
