"""Transforms of torchvision given to a loader: they do what they do there, or are refused."""

from __future__ import annotations

import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_tools import MEAN, STD, epoch, to_float

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
v1 = pytest.importorskip("torchvision.transforms")
v2 = pytest.importorskip("torchvision.transforms.v2")

import apldata  # noqa: E402
from apldata import Loader, Normalize, PerPicture, RandomCrop, RandomFlip, RandomVerticalFlip, ToFloat32  # noqa: E402
from apldata._foreign import AddChannel, Wrapped, resolved  # noqa: E402
from apldata.torch import DataLoader, DeviceLoader  # noqa: E402

# --------------------------------------------------------------------------------- what runs in C instead


@pytest.mark.parametrize("v", [v1, v2])
def test_those_with_an_equal_are_translated(store: apldata.Store, v: Any) -> None:
    names = ("image",)
    given = v.Compose(
        [
            v.RandomCrop(32, padding=4, padding_mode="reflect"),
            v.RandomHorizontalFlip(0.3),
            v.RandomVerticalFlip(),
            v.ConvertImageDtype(torch.float32),
            v.Normalize(MEAN, STD),
        ]
    )
    expected = [
        RandomCrop((32, 32), 4, "reflect", field=names),
        RandomFlip(0.3, field=names),
        RandomVerticalFlip(0.5, field=names),
        Normalize(list(MEAN), list(STD), field=names),
    ]
    assert resolved(given, store) == expected
    assert resolved(given.transforms, store) == expected
    assert resolved(v.Compose([v.Compose(given.transforms[:2]), *given.transforms[2:]]), store) == expected
    assert resolved(torch.nn.Sequential(*given.transforms), store) == expected


def test_conversions_are_translated(store: apldata.Store) -> None:
    def of(*steps: Any) -> list[Any]:
        return resolved(steps, store)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert of(v2.ToTensor()) == of(v1.ToTensor()) == [ToFloat32(field=("image",))]
    assert of(v2.functional.to_tensor) == of(v2.ToImage(), to_float()) == [ToFloat32(field=("image",))]
    assert of(v2.ToDtype(torch.float32)) == [ToFloat32(scale=False, field=("image",))]
    assert of(to_float(), v2.Normalize([0.5], [0.2]), v2.ToDtype(torch.float16)) == [
        Normalize([0.5], [0.2], field=("image",)),
        apldata.ToFloat16(field=("image",)),
    ]
    assert of(v2.ToImage(), v2.ToPureTensor(), v2.Identity()) == []
    assert of(v2.CenterCrop(28)) == [apldata.CenterCrop((28, 28), field=("image",))]


def test_the_middle_is_rounded_as_there(store: apldata.Store, images: np.ndarray) -> None:
    """Whatever is left of a side."""
    for height in range(24, 33):
        step = v2.CenterCrop((height, 56 - height))
        expected = step(torch.from_numpy(images)).numpy()
        assert np.array_equal(epoch(store, step), expected)
        assert np.array_equal(epoch(store, apldata.CenterCrop((height, 56 - height))), expected)


@pytest.mark.parametrize("size", [(31, 32), (32, 31), (29, 30), (30, 30)])
@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_a_flip_before_the_middle_is_done_before(
    store: apldata.Store, images: np.ndarray, size: tuple[int, int], library: str
) -> None:
    if library == "torchvision":
        steps: Any = [v2.RandomHorizontalFlip(1), v2.RandomVerticalFlip(1), v2.CenterCrop(size)]
        expected = v2.Compose(steps)(torch.from_numpy(images)).numpy()
    else:
        a = pytest.importorskip("albumentations")
        steps = a.Compose([a.HorizontalFlip(p=1), a.VerticalFlip(p=1), a.CenterCrop(*size)])
        expected = np.stack([steps(image=x.transpose(1, 2, 0))["image"].transpose(2, 0, 1) for x in images])
    assert np.array_equal(epoch(store, steps), expected)
    assert isinstance(resolved(steps, store)[-1], Wrapped) == (size != (30, 30))


@pytest.mark.parametrize(
    "steps",
    [
        lambda: [v2.RandomCrop(32, padding=4, fill=7)],
        lambda: [v2.RandomCrop(32, padding=[1, 2, 3, 4])],
        lambda: [v2.RandomCrop(32, padding=4, padding_mode="edge")],
        lambda: [v2.CenterCrop(40)],  # which pads
        lambda: [v2.RandomErasing(value="random")],
        lambda: [v2.RandomInvert()],
        lambda: [v2.ToDtype(torch.float64, scale=True)],
    ],
)
def test_others_are_not_translated(store: apldata.Store, steps: Any) -> None:
    (made,) = resolved(steps(), store)
    assert isinstance(made, Wrapped)


def test_the_first_that_differ_come_to_c(store: apldata.Store) -> None:
    """What follows a transform that is done in Python is done there too: their order stands."""
    made = resolved(
        [v2.RandomHorizontalFlip(), v2.RandomInvert(), v2.RandomVerticalFlip(), to_float()], store
    )
    assert made[0] == RandomFlip(field=("image",)) and isinstance(made[1], Wrapped) and len(made) == 2
    twice = resolved([v2.RandomHorizontalFlip(0.2), v2.RandomHorizontalFlip(0.2)], store)
    assert twice[0] == RandomFlip(0.2, field=("image",)) and isinstance(twice[1], Wrapped)
    after = resolved([RandomFlip(), v2.RandomHorizontalFlip()], store)
    assert isinstance(after[1], Wrapped)
    padded = resolved([to_float(), v2.Normalize(MEAN, STD), v2.RandomCrop(32, padding=4)], store)
    assert isinstance(padded[-1], Wrapped)  # pads with 0 after normalising


def test_the_values_are_those_of_torchvision(store: apldata.Store, images: np.ndarray) -> None:
    there = v2.Compose([to_float(), v2.Normalize(MEAN, STD)])(torch.from_numpy(images)).numpy()
    steps = v2.Compose([v2.ToImage(), to_float(), v2.Normalize(MEAN, STD)])
    assert np.abs(epoch(store, steps) - there).max() < 1e-6
    assert np.array_equal(epoch(store, to_float()), to_float()(torch.from_numpy(images)).numpy())
    half = v2.ToDtype(torch.float16, scale=True)
    assert np.array_equal(epoch(store, half), half(torch.from_numpy(images)).numpy())


def test_torch_gets_them_without_a_copy(store: apldata.Store) -> None:
    steps = v2.Compose([v2.RandomHorizontalFlip(p=1.0), to_float()])
    loader = DataLoader(store, 8, split="train", transforms=steps)
    assert not loader._functions
    plain = next(iter(DataLoader(store, 8, split="train")))[0]
    flipped = next(iter(loader))[0]
    assert flipped.dtype == torch.float32 and torch.equal(flipped, to_float()(plain.flip(3)))
    device = next(iter(DeviceLoader(store, batch_size=8, shuffle=False, device="cpu", transforms=steps)))[0]
    assert torch.equal(device, flipped)


# -------------------------------------------------------------------------------------------- in Python


def same(image: Any) -> Any:
    """What follows is done in Python, as this is."""
    return image


@pytest.mark.parametrize(
    "make",
    [
        lambda v: v.Resize((20, 24)),
        lambda v: v.Resize(40),
        lambda v: v.CenterCrop((27, 31)),
        lambda v: v.Pad(3, fill=9),
        lambda v: v.Compose([v.Lambda(same), v.Grayscale(3)]),
        lambda v: v.Compose([v.Lambda(same), v.GaussianBlur(3, sigma=1.0)]),
        lambda v: v.Compose([v.Resize(16), v.ConvertImageDtype(torch.float32), v.Normalize(MEAN, STD)]),
        lambda v: v.Compose([v.Lambda(same), v.Grayscale(), v.ToTensor()]),
        lambda v: v.Lambda(lambda image: 255 - image),
        lambda v: v.functional.hflip,
    ],
)
@pytest.mark.parametrize("v", [v1, v2])
def test_what_is_not_random_is_as_there(store: apldata.Store, images: np.ndarray, make: Any, v: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        step = make(v)
    expected = []
    for image in torch.from_numpy(images):
        for part in getattr(step, "transforms", [step]):
            image = to_float()(image) if type(part).__name__ == "ToTensor" else part(image)
        expected.append(image)
    seen = epoch(store, step)
    assert seen.dtype == expected[0].numpy().dtype and np.array_equal(seen, torch.stack(expected).numpy())


RANDOM = {
    "jitter": lambda: v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "resized": lambda: v2.RandomResizedCrop(24),
    "erasing": lambda: v2.RandomErasing(p=1.0),
    "auto": lambda: v2.RandAugment(),
    "trivial": lambda: v1.TrivialAugmentWide(),
    "affine": lambda: v2.RandomAffine(20),
    "choice": lambda: v1.RandomChoice([v1.RandomRotation(30), v1.ColorJitter(0.5)]),
    "order": lambda: v1.RandomOrder([v1.RandomRotation(30), v1.ColorJitter(0.5)]),
    "apply": lambda: v2.RandomApply([v2.ColorJitter(0.5)], p=0.5),
    "noise": lambda: v2.Compose([to_float(), v2.GaussianNoise()]),
    "elastic": lambda: v2.ElasticTransform(20.0),
    "lambda": lambda: v2.Compose([v2.Lambda(lambda x: x.bitwise_xor(torch.randint(0, 256, (1,)).byte()))]),
}


@pytest.mark.parametrize("name", RANDOM)
def test_randomness_is_keyed_by_the_record(store: apldata.Store, name: str) -> None:
    """It hangs neither on threads, nor on batches, nor on order; and torch's own generator is left alone."""
    before = torch.get_rng_state()
    some = {"ids": range(1000, 1040)}
    first = epoch(store, RANDOM[name](), seed=3, threads=1, **some)
    assert np.array_equal(epoch(store, RANDOM[name](), seed=3, batch_size=11, threads=3, **some), first)
    assert np.array_equal(epoch(store, RANDOM[name](), seed=3, shuffle=True, **some), first)
    torch.manual_seed(7)
    assert np.array_equal(epoch(store, RANDOM[name](), seed=3, **some), first)
    assert not np.array_equal(epoch(store, RANDOM[name](), seed=3, first_epoch=1, **some), first)
    assert not np.array_equal(epoch(store, RANDOM[name](), seed=4, **some), first)
    torch.set_rng_state(before)


def test_each_image_has_a_draw_of_its_own(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (3, 8, 8))}) as writer:
        writer.begin("test")
        writer.extend(image=np.tile(np.arange(192, dtype=np.uint8).reshape(1, 3, 8, 8), (64, 1, 1, 1)))
    for step in (v2.ColorJitter(0.5), v2.RandomAffine(90), v2.RandomRotation(90)):
        seen = epoch(tmp_path / "s", step)
        assert len({image.tobytes() for image in seen}) > 32  # some turns are the same to so few pixels
    for step in (v2.RandomHorizontalFlip(), v2.Compose([v2.ColorJitter(1e-9), v2.RandomHorizontalFlip()])):
        assert 16 < (epoch(tmp_path / "s", step) == epoch(tmp_path / "s", [])).all((1, 2, 3)).sum() < 48


def test_copies_of_a_record_are_drawn_anew(store: apldata.Store) -> None:
    with Loader(store, "test", 600, ids=range(1000, 1010), reuse=2, transforms=v2.ColorJitter(0.5)) as loader:
        batch = next(iter(loader))
        assert len({image.tobytes() for image in batch["image"]}) == 20


def test_a_state_goes_on_with_the_same_images(store: apldata.Store) -> None:
    def loader() -> Any:
        return Loader(store, "test", 50, seed=2, transforms=[v2.ColorJitter(0.4), to_float()])

    with loader() as one, loader() as other:
        batches = iter(one)
        next(batches)
        other.load_state_dict(one.state_dict())
        assert np.array_equal(next(batches)["image"], next(iter(other))["image"])


def test_torchs_threads_stay_as_they_are(store: apldata.Store) -> None:
    before = torch.get_num_threads()
    epoch(store, v2.RandomAffine(10), ids=range(1000, 1020))
    assert torch.get_num_threads() == before


def test_an_empty_batch_has_the_shape_of_the_others(store: apldata.Store) -> None:
    steps = [v2.RandomResizedCrop(24), to_float()]
    rows = set()
    for rank in (0, 1):
        with Loader(store, "test", 8, ids=[1000], rank=rank, world=2, transforms=steps) as loader:
            for batch in loader:
                rows.add(len(batch["image"]))
                assert batch["image"].shape[1:] == (3, 24, 24) and batch["image"].dtype == np.float32
    assert rows == {0, 1}


def test_mixing(store: apldata.Store) -> None:
    steps = [v2.RandomHorizontalFlip(), to_float(), v2.MixUp(num_classes=10)]
    loader = DataLoader(store, 32, seed=1, transforms=steps)
    images, labels = next(iter(loader))
    assert images.shape == (32, 3, 32, 32) and labels.shape == (32, 10) and labels.dtype == torch.float32
    assert torch.allclose(labels.sum(1), torch.ones(32))
    again = next(iter(DataLoader(store, 32, seed=1, transforms=steps)))
    assert torch.equal(again[0], images) and torch.equal(again[1], labels)


DRAW_FIRST = {
    "ColorJitter": lambda: v2.ColorJitter(0.4, 0.4, 0.4, 0.2),
    "ElasticTransform": lambda: v2.ElasticTransform(),
    "GaussianBlur": lambda: v2.GaussianBlur(3),
    "RandomAffine": lambda: v2.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10),
    "RandomCrop": lambda: v2.RandomCrop(24, (1, 2, 3, 4), pad_if_needed=True),
    "RandomResize": lambda: v2.RandomResize(20, 40),
    "RandomResizedCrop": lambda: v2.RandomResizedCrop(24),
    "RandomRotation": lambda: v2.RandomRotation(30),
    "RandomShortestSize": lambda: v2.RandomShortestSize([20, 30]),
    "ScaleJitter": lambda: v2.ScaleJitter((24, 24)),
}


def drawn_in(monkeypatch: pytest.MonkeyPatch, make: Any, name: str) -> tuple[Any, list[str]]:
    """What a step makes of an image, with the generator seeded, and where it drew."""
    from apldata.torch import _torchvision

    places: list[str] = []

    class Noted(_torchvision.Keyed):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in self._drawing:
                names = {frame.name for frame in traceback.extract_stack()}
                places.append("make_params" if "make_params" in names else "elsewhere")
            return super().__torch_function__(func, types, args, kwargs)

    image = torch.arange(3 * 32 * 32, dtype=torch.uint8).reshape(3, 32, 32)
    keyed = Noted()
    monkeypatch.setattr(_torchvision.here, "keyed", keyed, raising=False)
    found = []
    for seed in range(20):
        keyed.generator.manual_seed(seed)
        found.append(make(image))
    return found, places


@pytest.mark.parametrize("name", DRAW_FIRST)
def test_those_that_draw_first_draw_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from apldata.torch import _torchvision

    step = DRAW_FIRST[name]()
    quick = _torchvision._draws_first(step)
    expected, places = drawn_in(monkeypatch, _torchvision._Drawing(step), name)
    found, again = drawn_in(monkeypatch, quick, name)
    assert places and set(places) == {"make_params"} and again == places
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    assert len({one.shape for one in found}) > 1 or not torch.equal(found[0], found[1])


def test_all_that_draw_first_are_compared() -> None:
    from apldata.torch import _torchvision

    assert set(DRAW_FIRST) == _torchvision._DRAW_FIRST
    assert _torchvision._draws_first(v2.RandomErasing()) is None
    hooked = v2.ColorJitter(0.4)
    hooked.register_forward_hook(darken)
    assert _torchvision._draws_first(hooked) is None


@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_closing_ends_the_work_on_a_batch(store: apldata.Store, library: str) -> None:
    """At the next record: Python must not exit while a thread is in the middle of torch's code."""
    calls: list[Any] = []
    taken = threading.Event()  # the first batch: a loader that is closed before hands out none
    before = threading.active_count()

    def close_soon(image: Any, **options: Any) -> Any:
        calls.append(image)
        if len(calls) == 40:  # the first batch has 30
            assert taken.wait(60)
            loader.close()
        return image

    steps: Any = v2.Compose([v2.RandomRotation(1), close_soon])
    if library == "albumentations":
        a = pytest.importorskip("albumentations")
        steps = a.Compose([a.Lambda(image=close_soon, p=1)])
    loader = Loader(store, batch_size=30, transforms=steps)
    for _ in loader:
        taken.set()
        while len(calls) < 40 or threading.active_count() > before:
            time.sleep(0.01)
        break
    assert len(calls) == 40


# -------------------------------------------------------------------------------------- shapes, hooks, mixing


def test_grey_images_get_their_channel(tmp_path: Path) -> None:
    digits = np.random.default_rng(1).integers(0, 256, (40, 28, 28), dtype=np.uint8)
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (28, 28))}) as writer:
        writer.begin("test")
        writer.extend(image=digits)
    steps = v2.Compose([v2.ToImage(), to_float(), v2.Normalize((0.1307,), (0.3081,))])
    expected = (digits[:, None] / 255 - 0.1307) / 0.3081
    seen = epoch(tmp_path / "s", steps)
    assert seen.shape == (40, 1, 28, 28) and np.abs(seen - expected).max() < 1e-5
    assert isinstance(resolved(steps, apldata.Store(tmp_path / "s"))[-1], AddChannel)
    assert epoch(tmp_path / "s", [v2.RandomRotation(3), to_float()]).shape == (40, 1, 28, 28)
    assert np.allclose(epoch(tmp_path / "s", Normalize(0.1307, 0.3081)), expected[:, 0], atol=1e-5)
    device = DeviceLoader(
        tmp_path / "s", "test", 40, shuffle=False, device="cpu", transforms=[Normalize(0.1, 0.2)]
    )
    assert np.array_equal(next(iter(device))[0].numpy(), epoch(tmp_path / "s", Normalize(0.1, 0.2)))


def test_images_of_varying_shape(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (3, -1, -1))}) as writer:
        writer.begin("test")
        for _ in range(30):
            writer.append(image=random.integers(0, 256, (3, *random.integers(20, 60, 2)), dtype=np.uint8))
    assert epoch(tmp_path / "s", [v2.RandomResizedCrop(24), to_float()]).shape == (30, 3, 24, 24)
    assert epoch(tmp_path / "s", [v2.Resize((24, 20))]).shape == (30, 3, 24, 20)
    with Loader(tmp_path / "s", "test", 30, transforms=v2.Resize(16)) as loader:
        assert {min(image.shape[1:]) for image in next(iter(loader))["image"]} == {16}


@pytest.mark.parametrize("shape", [(24, 28, 3), (12, 14, 2)])
def test_channels_last_as_stored(tmp_path: Path, shape: tuple[int, ...]) -> None:
    image = np.random.default_rng(1).integers(0, 256, (20, *shape), dtype=np.uint8)
    with apldata.Writer(tmp_path / "s", {"image": ("u8", shape)}) as writer:
        writer.begin("test")
        writer.extend(image=image)
    assert np.array_equal(
        epoch(tmp_path / "s", v2.RandomHorizontalFlip(1), kinds={"image": "image"}),
        image[:, :, ::-1].transpose(0, 3, 1, 2),
    )


def test_a_second_normalize_is_given_what_the_first_makes(store: apldata.Store, images: np.ndarray) -> None:
    seen = epoch(store, [to_float(), v2.Normalize(MEAN, STD), v2.Normalize((0.5,) * 3, (2.0,) * 3)])
    once = epoch(store, [to_float(), v2.Normalize(MEAN, STD)])
    assert seen.dtype == np.float32 and np.allclose(seen, (once - 0.5) / 2, atol=1e-6)
    assert np.allclose(seen, epoch(store, [Normalize(MEAN, STD), v2.Normalize((0.5,) * 3, (2.0,) * 3)]))


def darken(module: Any, given: Any, result: Any) -> Any:
    return result // 2


@pytest.mark.parametrize("register", ["register_forward_hook", "container", "replaced"])
def test_hooks_are_called(store: apldata.Store, images: np.ndarray, register: str) -> None:
    steps = v2.Compose([v2.RandomHorizontalFlip(1)])
    if register == "replaced":
        step = steps.transforms[0]
        step.transform = lambda image, params: image.flip(-1) // 2
    else:
        (steps if register == "container" else steps.transforms[0]).register_forward_hook(darken)
    assert np.array_equal(epoch(store, steps), images[..., ::-1] // 2)


def test_hooks_of_what_is_never_called_are_refused(store: apldata.Store) -> None:
    step = v2.PILToTensor()
    step.register_forward_hook(darken)
    with pytest.raises(apldata.InvalidError, match=r"PILToTensor.*not called.*v2.Identity"):
        Loader(store, transforms=step)


@pytest.mark.parametrize("container", [v1.RandomChoice, v2.RandomChoice])
def test_a_choice_of_mixing_is_made_for_each_batch(store: apldata.Store, container: Any) -> None:
    steps = [to_float(), container([v2.CutMix(num_classes=10), v2.MixUp(num_classes=10), v2.Identity()])]
    loader = DataLoader(store, 16, seed=1, transforms=steps)
    batches = [tuple(x.clone() for x in batch) for batch in loader]
    assert {labels.ndim for _, labels in batches} == {1, 2}
    again = DataLoader(store, 16, seed=1, transforms=steps)
    for (images, labels), (same, its) in zip(batches, again, strict=True):
        assert torch.equal(images, same) and torch.equal(labels, its)


# -------------------------------------------------------------------------------- what cannot be applied


@pytest.mark.parametrize(
    "printed", [lambda x: x, lambda x: [x], lambda x: x.numpy(), lambda x: repr(x.numpy())]
)
def test_messages_have_no_pixels(store: apldata.Store, printed: Any) -> None:
    def refuse(image: Any) -> Any:
        raise ValueError(f"cannot take {printed(image)}")

    loader = Loader(store, transforms=v2.Compose([v2.ColorJitter(0.1), refuse]))
    with loader, pytest.raises(apldata.InvalidError, match=r"ValueError: cannot take [^0-9]*\.\.\.$"):
        next(iter(loader))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: v2.RandomCrop(50),
            "RandomCrop.*cannot be applied to image: u8.3,32,32.: ValueError: Required crop",
        ),
        (lambda: v2.Normalize(MEAN, STD), "Normalize.*cannot be applied.*float tensor"),
        (lambda: v2.FiveCrop(8), "FiveCrop.*several images for one: return them as one"),
        (lambda: v2.Compose([v2.Lambda(lambda x: x.getbands())]), "Lambda.*cannot be applied"),
        (lambda: [v2.RandomAffine(9), v2.Compose([lambda x: 1 / 0])], "ZeroDivisionError"),
        (
            lambda: [apldata.ChannelsLast(), v2.ColorJitter(0.2)],
            "after ChannelsLast.*leave ChannelsLast.. out",
        ),
        (lambda: [v2.RandomInvert(), Normalize()], "runs in C.*put it before"),
        (lambda: v2.RandomHorizontalFlip, "is a class: write RandomHorizontalFlip"),
        (lambda: PerPicture(v2.ColorJitter(0.2), field="picture"), "no field picture"),
    ],
)
def test_they_are_refused_at_the_first_batch_at_the_latest(
    store: apldata.Store, make: Any, message: str
) -> None:
    with pytest.raises((apldata.InvalidError, apldata.NotFoundError), match=message):
        next(iter(DataLoader(store, transforms=make())))


def test_a_store_without_images(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"x": ("f32", (7,))}) as writer:
        writer.extend(x=np.zeros((5, 7)))
    with pytest.raises(
        apldata.NotFoundError, match=r"no field is an image, which is u8\[C,H,W\].*x: f32\[7\].*kinds="
    ):
        Loader(tmp_path / "s", transforms=v2.RandomHorizontalFlip())


def test_device_loaders_refuse_what_is_python(store: apldata.Store) -> None:
    with pytest.raises(apldata.InvalidError, match=r"RandomInvert.*DeviceLoader runs no functions"):
        DeviceLoader(store, device="cpu", transforms=v2.RandomInvert())


# -------------------------------------------------------------------------------------------- PerPicture


def test_per_picture(store: apldata.Store, images: np.ndarray) -> None:
    unit = to_float()(torch.from_numpy(images)).numpy()
    assert np.array_equal(epoch(store, PerPicture(v2.functional.to_tensor)), unit)
    assert np.array_equal(epoch(store, PerPicture(v2.Compose([v2.ToImage(), to_float()]))), unit)
    jitter = v2.Compose([v2.ColorJitter(0.4), to_float()])
    assert np.array_equal(epoch(store, PerPicture(jitter)), epoch(store, jitter))
    turned = PerPicture(lambda image: v2.functional.to_image(image).flip(2))  # a tensor, (3, 32, 32)
    assert np.array_equal(epoch(store, turned), images[..., ::-1])
