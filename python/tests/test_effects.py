"""Colours and erasing in C: torchvision's pixels for the same factors, and factors drawn as there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_tools import transformed

import apldata
from apldata import (
    ColorJitter,
    Cutout,
    GaussianBlur,
    Grayscale,
    InvalidError,
    Loader,
    Normalize,
    RandAugment,
    RandomCrop,
    RandomErasing,
    RandomFlip,
    RandomGrayscale,
    RandomResizedCrop,
    Resize,
    ToFloat32,
    TrivialAugmentWide,
)

MEAN, STD = (0.49, 0.48, 0.44), (0.25, 0.24, 0.26)
SOME = 60  # images that are enough to compare
BOUND = 1.95  # of a Kolmogorov-Smirnov statistic times the root of the size: one in a thousand


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def images(drawn: dict[str, dict[str, np.ndarray]]) -> np.ndarray:
    return drawn["test"]["image"]


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images of one colour each: what is drawn shows in any of their pixels."""
    place = tmp_path_factory.mktemp("flat") / "db"
    with apldata.Writer(place, [apldata.Field("image", "u8", (3, 24, 20))]) as writer:
        writer.begin("test")
        writer.extend(image=np.full((2000, 3, 24, 20), 100, np.uint8))
    return place


# ------------------------------------------------------------------------------------------ the same pixels

FIXED = [
    ("brightness", 0.3), ("brightness", 1.7), ("contrast", 0.4), ("contrast", 1.0), ("contrast", 2.5),
    ("saturation", 0.237), ("saturation", 1.937), ("hue", -0.5), ("hue", -0.1), ("hue", 0.03), ("hue", 0.4),
]  # fmt: skip


@pytest.mark.parametrize(("name", "factor"), FIXED)
def test_a_factor_gives_what_it_gives_in_torchvision(
    store: apldata.Store, images: np.ndarray, name: str, factor: float
) -> None:
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    adjust = getattr(functional, f"adjust_{name}")
    there = adjust(torch.from_numpy(images[:SOME]), factor).numpy()
    here = transformed(store, ColorJitter(**{name: (factor, factor)}))[:SOME]
    difference = np.abs(here.astype(int) - there)
    assert difference.max() <= 1 and (difference > 0).mean() < 1e-2


def test_grey_is_that_of_torchvision(store: apldata.Store, images: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    for channels in (1, 3):
        there = v2.Grayscale(channels)(torch.from_numpy(images)).numpy()
        here = transformed(store, Grayscale(channels))
        assert here.shape == there.shape and np.abs(here.astype(int) - there).max() <= 1
        assert (here != there).mean() < 1e-3
    assert np.array_equal(transformed(store, RandomGrayscale(1)), transformed(store, Grayscale(3)))
    one = transformed(store, Grayscale(), Normalize([0.5], [0.25]))
    assert one.shape == (len(images), 1, 32, 32) and one.dtype == np.float32


def test_what_is_not_random_changes_nothing_else(store: apldata.Store, images: np.ndarray) -> None:
    assert np.array_equal(transformed(store, ColorJitter(), RandomGrayscale(0), RandomErasing(0)), images)
    assert np.array_equal(transformed(store, ColorJitter(0.5, p=0)), images)


# ------------------------------------------------------------------------------------------------- the draws


def ks(a: np.ndarray, b: np.ndarray) -> float:
    """The largest distance between the distributions of two samples, whatever their sizes."""
    every = np.sort(np.concatenate([a, b]))
    distance = np.abs(
        np.searchsorted(np.sort(a), every, "right") / len(a)
        - np.searchsorted(np.sort(b), every, "right") / len(b)
    )
    return float(distance.max() * np.sqrt(len(a) * len(b) / (len(a) + len(b))))


def drawn_there(transform: Any, n: int) -> np.ndarray:
    torch = pytest.importorskip("torch")
    torch.manual_seed(7)
    image = torch.full((3, 24, 20), 100, dtype=torch.uint8)
    return np.stack([transform(image).numpy() for _ in range(n)])


def test_factors_are_drawn_as_torchvision_draws_them(flat: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    here = transformed(flat, ColorJitter(0.4), seed=3)[:, 0, 0, 0].astype(float)
    there = drawn_there(v2.ColorJitter(0.4), 2000)[:, 0, 0, 0].astype(float)
    assert ks(here, there) < BOUND
    assert here.min() < 63 and here.max() > 137


def test_the_order_of_parts_is_random(store: apldata.Store, images: np.ndarray) -> None:
    """Brightness and contrast that both cut off what is above 255 give other pixels in either order."""
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    here = transformed(store, ColorJitter((2, 2), (3, 3)), seed=1).astype(int)
    counts = [0, 0]
    for mine, image in zip(here[:SOME], map(torch.from_numpy, images[:SOME]), strict=True):
        first = functional.adjust_contrast(functional.adjust_brightness(image, 2.0), 3.0).numpy()
        second = functional.adjust_brightness(functional.adjust_contrast(image, 3.0), 2.0).numpy()
        near = [np.abs(mine - one).max() <= 8 and np.abs(mine - one).mean() < 0.5 for one in (first, second)]
        assert any(near)
        counts[0] += near[0]
        counts[1] += near[1]
    assert min(counts) > SOME / 4


def test_probabilities(flat: Path, store: apldata.Store, images: np.ndarray) -> None:
    jittered = transformed(flat, ColorJitter((2, 2), p=0.3), seed=2)[:, 0, 0, 0] != 100
    assert abs(jittered.mean() - 0.3) < 4 * np.sqrt(0.21 / 2000)
    grey = transformed(store, RandomGrayscale(0.4))
    alike = (grey[:, 0] == grey[:, 1]).all(axis=(1, 2)) & (grey[:, 0] == grey[:, 2]).all(axis=(1, 2))
    assert abs(alike.mean() - 0.4) < 4 * np.sqrt(0.24 / len(images))
    assert np.array_equal(grey[~alike], images[~alike])


def box(image: np.ndarray) -> tuple[int, int, int, int] | None:
    """Top, left, height and width of what is not 100."""
    rows, columns = np.nonzero(image[0] != 100)
    if not len(rows):
        return None
    top, left = rows.min(), columns.min()
    height, width = rows.max() + 1 - top, columns.max() + 1 - left
    assert len(rows) == height * width
    return int(top), int(left), int(height), int(width)


def test_boxes_are_drawn_as_torchvision_draws_them(flat: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    here = [box(image) for image in transformed(flat, RandomErasing(0.7), seed=4)]
    there = [box(image) for image in drawn_there(v2.RandomErasing(0.7), 2000)]
    a, b = (np.array([one for one in found if one is not None], float) for found in (here, there))
    assert abs(len(a) - 1400) < 4 * np.sqrt(2000 * 0.21) + 60 and abs(len(a) - len(b)) < 130
    for column in range(4):
        assert ks(a[:, column], b[:, column]) < BOUND


# ---------------------------------------------------------------------------------------------- erased values


def test_erased_values(flat: Path) -> None:
    def erased(*transforms: Any) -> np.ndarray:
        return transformed(flat, *transforms, batch_size=500)

    norm = Normalize(list(MEAN), list(STD))
    size = ((0.1, 0.2), (1, 1))
    assert set(np.unique(erased(RandomErasing(1, *size, value=7)))) == {7, 100}
    before = erased(RandomErasing(1, *size, value=(255, 0, 7)), norm)
    for channel, value in enumerate((255, 0, 7)):
        wanted = (np.array([value, 100]) / 255 - MEAN[channel]) / STD[channel]
        assert np.allclose(np.unique(before[:, channel]), np.sort(wanted), atol=1e-5)
    after = erased(norm, RandomErasing(1, *size, value=-2.5))
    assert np.array_equal(after[:, 0] == -2.5, before[:, 0] == before[:, 0].max())  # of the same boxes
    noisy = erased(norm, RandomErasing(1, *size, value="random"))
    plain = transformed(flat, norm, batch_size=500)
    noise = noisy[noisy != plain]
    assert abs(noise.mean()) < 0.01 and abs(noise.std() - 1) < 0.01
    assert 0.09 * plain.size < len(noise) < 0.21 * plain.size


# -------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ColorJitter(-1), "brightness must be a number of at least 0"),
        (lambda: ColorJitter(contrast=(2, 1)), "contrast must be a pair"),
        (lambda: ColorJitter(saturation=[0, 0]), "would make all images the same"),
        (lambda: ColorJitter(hue=0.6), "hue must be a number from 0 to 0.5"),
        (lambda: ColorJitter(hue=(-1, 0)), "from -0.5 and at most 0.5"),
        (lambda: ColorJitter(0.1, p=2), "p must be a probability"),
        (lambda: Grayscale(2), "num_output_channels must be 1 or 3"),
        (lambda: RandomGrayscale(1.1), "p must be a probability"),
        (lambda: RandomErasing(scale=(0.5, 0.2)), "scale must be a pair"),
        (lambda: RandomErasing(scale=(0, 0)), "of which the second is above 0"),
        (lambda: RandomErasing(value="noise"), 'a number, numbers, or "random"'),
        (lambda: RandomErasing(ratio=(0, 1)), "ratio must be a pair"),
    ],
)
def test_wrong_arguments(make: Any, text: str) -> None:
    with pytest.raises(InvalidError, match=text):
        make()


@pytest.mark.parametrize(
    ("transforms", "text"),
    [
        (
            [Normalize(), ColorJitter(0.1)],
            r"ColorJitter\(.*\) after Normalize\(.*it is always applied before",
        ),
        ([RandomGrayscale(), ColorJitter(0.1)], "ColorJitter.* after RandomGrayscale"),
        ([ColorJitter(0.1), RandomCrop(32, 4)], "RandomCrop.* after ColorJitter"),
        ([RandomErasing(), RandomFlip()], "RandomFlip.* after RandomErasing"),
        ([RandomErasing(), Cutout(3)], "Cutout.* after RandomErasing"),
        ([RandomErasing(value="random")], "u8 cannot be erased by normal noise: .*ToFloat32"),
        ([RandomErasing(value=300)], r"erase_value\[0\] is 300"),
        ([RandomErasing(value=(1, 2))], "RandomErasing: 2 values for 3 channels"),
        ([Grayscale(), Normalize()], "grey images are normalised by a mean"),
        ([Grayscale(), Normalize(list(MEAN), list(STD))], "3 means for 1 channel"),
        ([Grayscale(), RandomGrayscale()], "sets the same"),
    ],
)
def test_what_does_not_go_together(store: apldata.Store, transforms: Any, text: str) -> None:
    with pytest.raises(InvalidError, match=text):
        Loader(store, transforms=transforms)


def test_orders_that_give_the_same(store: apldata.Store) -> None:
    first = transformed(store, RandomFlip(), ColorJitter(0.4), RandomGrayscale(), ToFloat32())
    second = transformed(store, ColorJitter(0.4), RandomGrayscale(), RandomFlip(), ToFloat32())
    assert np.array_equal(first, second)


def test_device_loader_refuses_them(store: apldata.Store) -> None:
    pytest.importorskip("torch")
    from apldata.torch import DeviceLoader

    with pytest.raises(InvalidError, match="changes no colours and erases nothing"):
        DeviceLoader(store, device="cpu", transforms=[ColorJitter(0.1)])
    for step in (Resize((16, 16)), RandomResizedCrop(16)):  # not only at the first batch
        with pytest.raises(InvalidError, match="DeviceLoader resizes nothing"):
            DeviceLoader(store, device="cpu", transforms=[step])


# ---------------------------------------------------------------------------------------- keyed by the record


def test_nothing_but_the_record_matters(store: apldata.Store) -> None:
    steps = [RandomCrop(32, 4), ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8), RandomGrayscale(0.2), RandomErasing()]
    alone = transformed(store, *steps, seed=9, threads=0)
    assert np.array_equal(transformed(store, *steps, seed=9, threads=3, batch_size=7), alone)
    with Loader(store, split="test", batch_size=33, seed=9, transforms=steps) as loader:
        for batch in loader:
            assert np.array_equal(batch["image"], alone[np.asarray(batch.ids) - 1000])
        again = {
            int(i): x for batch in loader for i, x in zip(batch.ids, np.array(batch["image"]), strict=True)
        }
    assert sum(np.array_equal(again[i + 1000], image) for i, image in enumerate(alone)) < len(alone) / 4


# ------------------------------------------------------------------------------- torchvision's, translated


def test_those_of_torchvision_become_ours(store: apldata.Store) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from apldata._foreign import Wrapped, resolved

    def of(*steps: Any) -> list[Any]:
        return resolved(steps, store)

    names, floats = ("image",), v2.ToDtype(torch.float32, scale=True)
    jitter = ColorJitter((0.6, 1.4), (0.8, 1.2), (1, 1), (-0.1, 0.1), field=names)
    assert of(v2.ColorJitter(0.4, 0.2, 0, 0.1)) == [
        ColorJitter((0.6, 1.4), (0.8, 1.2), hue=(-0.1, 0.1), field=names)
    ]
    assert of(v2.RandomApply([v2.ColorJitter(0.4)], 0.8), v2.RandomGrayscale(0.2)) == [
        ColorJitter((0.6, 1.4), p=0.8, field=names),
        RandomGrayscale(0.2, field=names),
    ]
    assert jitter.settings()["hue"] == (-0.1, 0.1)
    assert of(v2.Grayscale(3)) == [Grayscale(3, field=names)]
    norm = Normalize(list(MEAN), list(STD), field=names)
    erase = {"ratio": (0.3, 3.3), "scale": (0.02, 0.33), "field": names}
    assert of(floats, v2.Normalize(MEAN, STD), v2.RandomErasing(0.25)) == [
        norm,
        RandomErasing(0.25, value=[0.0], **erase),
    ]
    assert of(floats, v2.RandomErasing(0.25, value=1), v2.Normalize(MEAN, STD)) == [
        RandomErasing(0.25, value=[255.0], **erase),
        norm,
    ]
    assert of(v2.RandomErasing(value=9), floats)[0] == RandomErasing(value=[9.0], **erase)
    for steps in (
        [floats, v2.ColorJitter(0.4)],
        [v2.RandomGrayscale(), v2.ColorJitter(0.4)],
        [floats, v2.RandomErasing(value="random"), v2.Normalize(MEAN, STD)],
        [v2.RandomErasing(value="random")],
        [v2.RandomErasing(), v2.RandomHorizontalFlip()],
        [v2.ColorJitter(200)],
    ):
        assert isinstance(of(*steps)[-1], Wrapped), steps


def test_translated_values_are_those_of_torchvision(store: apldata.Store, images: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    steps = v2.Compose(
        [
            v2.ColorJitter(brightness=(1.3, 1.3)),
            v2.Grayscale(3),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
            v2.RandomErasing(0),
        ]
    )
    there = np.stack([steps(torch.from_numpy(image)).numpy() for image in images])
    assert np.abs(transformed(store, steps) - there).max() < 1.01 / 255 / min(STD)


# ---------------------------------------------------------------------------------------------------- blur


@pytest.mark.parametrize(
    ("size", "sigma"), [(3, 0.1), (3, 1.0), ((5, 9), 2.0), (23, 1.7), (23, 9.0), (1, 1.0)]
)
def test_blur_is_that_of_torchvision(
    store: apldata.Store, images: np.ndarray, size: Any, sigma: float
) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    there = v2.GaussianBlur(size, sigma)(torch.from_numpy(images[:SOME])).numpy()
    here = transformed(store, GaussianBlur(size, sigma))[:SOME]
    difference = np.abs(here.astype(int) - there)
    assert difference.max() <= 1 and (difference > 0).mean() < 1e-2


def test_blur_is_refused_where_it_cannot_be(store: apldata.Store) -> None:
    for size in (2, 0, (3, 4), (3, 3, 3), 257):
        with pytest.raises(InvalidError, match="kernel_size"):
            GaussianBlur(size)
    with pytest.raises(InvalidError, match="sigma"):
        GaussianBlur(3, (2, 1))
    with pytest.raises(InvalidError, match="a blur of 65 x 65 pixels, of a crop of 32 x 32"):
        Loader(store, transforms=GaussianBlur(65))


# ------------------------------------------------------------------------------------------------ policies


def operations(policy: Any, at: int, height: int, width: int) -> list[tuple[str, float]]:
    """All that torchvision's policy may do with the magnitude number `at`."""
    found = []
    for kind, (magnitudes, signed) in policy._AUGMENTATION_SPACE.items():
        values = magnitudes(31, height, width)
        value = 0.0 if values is None else float(values[at])
        found += [(kind, value)] + ([(kind, -value)] if signed else [])
    return found


FILL = [9.0, 200.0, 50.0]


@pytest.mark.parametrize(
    ("interpolation", "wide", "fill"),
    [
        ("nearest", False, FILL),
        ("nearest", True, FILL),
        ("bilinear", False, FILL),
        ("bilinear", True, FILL),
        ("bilinear", False, 0),
        ("bilinear", False, None),
    ],
)
def test_operations_are_those_of_torchvision(
    store: apldata.Store, images: np.ndarray, interpolation: str, wide: bool, fill: Any
) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from torchvision.transforms import InterpolationMode

    mode = InterpolationMode(interpolation)
    if wide:
        there: Any = v2.TrivialAugmentWide(interpolation=mode, fill=fill)
        mine = transformed(store, TrivialAugmentWide(interpolation=interpolation, fill=fill), seed=5)
    else:
        there = v2.RandAugment(1, 17, interpolation=mode, fill=fill)
        mine = transformed(store, RandAugment(1, 17, 31, interpolation, fill), seed=5)
    some = torch.from_numpy(images[:SOME])
    found = np.zeros(SOME, bool)
    seen: set[tuple[str, bool]] = set()
    for kind, value in {
        one for at in (range(31) if wide else (17,)) for one in operations(there, at, 32, 32)
    }:
        made = there._apply_image_or_video_transform(some, kind, value, mode, there._fill).numpy()
        off = (np.abs(mine[:SOME].astype(int) - made) > 1).mean(axis=(1, 2, 3))
        same = off <= (0.002 if kind[:5] in ("Shear", "Trans", "Rotat") else 0)  # but for pixels between two
        found |= same
        seen |= {(kind, value < 0)} if same.any() else set()
    assert found.all()
    assert len({kind for kind, _ in seen}) == 14 and len(seen) >= 14 + 5


def test_policies_draw_all_kinds_alike(tmp_path: Path) -> None:
    """Of one image many times over: as many results as there are, each as often as the others."""
    random = np.random.default_rng(4)
    image = random.integers(20, 200, (3, 20, 20), dtype=np.uint8)
    with apldata.Writer(tmp_path / "db", [apldata.Field("image", "u8", (3, 20, 20))]) as writer:
        writer.begin("test")
        writer.extend(image=np.broadcast_to(image, (4000, 3, 20, 20)))
    made = transformed(tmp_path / "db", RandAugment(1, 20), batch_size=1000)
    _, counts = np.unique(made.reshape(4000, -1), axis=0, return_counts=True)
    expected = 4000 / 14
    assert len(counts) == 4 + 9 * 2 + 1  # posterize, solarize, autocontrast, equalize; signed ones; none
    halves, wholes = counts[counts < 0.75 * expected], counts[counts >= 0.75 * expected]
    assert len(halves) == 18 and len(wholes) == 5
    statistic = ((wholes - expected) ** 2 / expected).sum() + (
        (halves - expected / 2) ** 2 / (expected / 2)
    ).sum()
    assert statistic < 50  # 22 degrees of freedom: one in a thousand


def test_magnitudes_are_rounded_as_by_torch(tmp_path: Path) -> None:
    """Number 15 of 31 from 0 to 32 is a little less than 16: nothing moves by 16 pixels."""
    image = np.random.default_rng(4).integers(20, 200, (1, 40, 40), dtype=np.uint8)
    with apldata.Writer(tmp_path / "db", [apldata.Field("image", "u8", (1, 40, 40))]) as writer:
        writer.begin("test")
        writer.extend(image=np.broadcast_to(image, (4000, 1, 40, 40)))
    made = transformed(tmp_path / "db", TrivialAugmentWide(), batch_size=1000)
    moved = {by: (made[:, :, by:] == image[:, :-by]).all((1, 2, 3)).sum() for by in range(14, 19)}
    assert moved[16] == 0 and min(moved[by] for by in (14, 15, 17, 18)) > 0


def test_policies_of_torchvision_become_ours(store: apldata.Store) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from apldata._foreign import Wrapped, resolved

    names = ("image",)
    made = resolved([v2.RandomHorizontalFlip(), v2.TrivialAugmentWide(), v2.GaussianBlur(3)], store)
    assert made == [
        RandomFlip(field=names),
        TrivialAugmentWide(field=names),
        GaussianBlur((3, 3), field=names),
    ]
    assert resolved(v2.RandAugment(1, 5, fill=[1, 2, 3]), store) == [
        RandAugment(1, 5, fill=[1, 2, 3], field=names)
    ]
    assert resolved(v2.RandomApply([v2.GaussianBlur(5, (1, 2))], 0.5), store) == [
        GaussianBlur((5, 5), (1.0, 2.0), p=0.5, field=names)
    ]
    for step in (v2.AutoAugment(), v2.RandomRotation(5, expand=True), v2.GaussianBlur(99)):
        try:
            assert isinstance(resolved(step, store)[-1], Wrapped)
        except InvalidError as error:
            assert "99" in str(error) or "adding" in str(error)  # torch cannot reflect as much


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: RandAugment(-1), "num_ops must be"),
        (lambda: RandAugment(magnitude=31), "magnitude must be"),
        (lambda: RandAugment(fill=256), "fill must be numbers from 0 to 255"),
        (lambda: TrivialAugmentWide(1), "num_magnitude_bins must be"),
        (lambda: TrivialAugmentWide(interpolation="cubic"), "interpolation must be"),
    ],
)
def test_wrong_arguments_of_policies(make: Any, text: str) -> None:
    with pytest.raises(InvalidError, match=text):
        make()
