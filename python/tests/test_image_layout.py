"""Images whose shape does not tell whether their channels come first or last."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import (
    ChannelsLast,
    Field,
    Loader,
    PerPicture,
    RandomFlip,
    RandomResizedCrop,
    Store,
    ToFloat32,
    Writer,
)

IMAGES = np.random.default_rng(1).integers(0, 256, (6, 3, 32, 3), dtype=np.uint8)
UNCLEAR = "image: u8\\[3,32,3\\]: the first dimension is taken for the channels"


def image(layout: str | None, shape: tuple[int, ...] = (3, 32, 3)) -> dict[str, Field]:
    return {"image": Field("image", "u8", shape, layout=layout)}


def write(path: Path, layout: str | None, shape: tuple[int, ...] = (3, 32, 3)) -> Store:
    with Writer(path, image(layout, shape)) as writer:
        writer.extend(image=list(IMAGES) if -1 in shape else IMAGES)
        writer.append(image=IMAGES[0].tolist())
    return Store(path)


@pytest.mark.parametrize("shape", [(3, 32, 3), (-1, -1, 3)])
def test_a_writer_moves_the_channels_that_come_last(tmp_path: Path, shape: tuple[int, ...]) -> None:
    store = write(tmp_path / "s", "HWC", shape)
    assert store.schema["image"].shape == (3, *shape[:2])
    for record in range(7):
        assert np.array_equal(store[record]["image"], IMAGES[record % 6].transpose(2, 0, 1))


@pytest.mark.parametrize("kind", ["arrays", "rows", "pillow"])
def test_convert_moves_them_too(tmp_path: Path, kind: str) -> None:
    source: Any = {"image": IMAGES}
    if kind == "rows":
        source = ({"image": one} for one in IMAGES)
    elif kind == "pillow":
        pillow = pytest.importorskip("PIL.Image")
        source = [{"image": pillow.fromarray(one)} for one in IMAGES]
    apldata.convert(source, tmp_path / "s", types=image("HWC"))
    assert np.array_equal(Store(tmp_path / "s").to_numpy()["image"], IMAGES.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("given", [[RandomFlip()], [PerPicture(lambda one: one)]])
def test_an_unclear_shape_is_a_warning_wherever_it_is_decided(tmp_path: Path, given: list[Any]) -> None:
    with pytest.warns(UserWarning, match=UNCLEAR) as heard:
        store = write(tmp_path / "s", None)
    assert heard[0].filename == __file__
    with pytest.warns(UserWarning, match=UNCLEAR) as heard, Loader(store, transforms=given):
        pass
    assert heard[0].filename == __file__
    with pytest.warns(apldata.IngestWarning, match=UNCLEAR) as heard:
        apldata.convert({"image": IMAGES}, tmp_path / "t")
    assert [one.filename for one in heard] == [__file__]


def test_torchvision_on_an_unclear_shape_is_a_warning(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    store = write(tmp_path / "s", "CHW")
    with pytest.warns(UserWarning, match=UNCLEAR), Loader(store, transforms=[v2.RandomAutocontrast()]):
        pass


@pytest.mark.filterwarnings("error")
def test_what_is_said_or_clear_is_no_warning(tmp_path: Path) -> None:
    assert write(tmp_path / "s", "CHW").schema["image"].shape == (3, 32, 3)
    apldata.convert({"image": IMAGES}, tmp_path / "t", types=image("CHW"))
    for number, shape in enumerate([(3, 4, 4), (3, 32, 32), (32, 32, 3), (4, 8)]):
        with Writer(tmp_path / str(number), {"image": ("u8", shape)}) as writer:
            writer.append(image=np.zeros(shape))
    with Loader(tmp_path / "0", transforms=[RandomFlip()]):
        pass


def test_a_wrong_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="field image: the layout must be 'HWC', 'CHW' or None; got 'NHWC'"):
        Writer(tmp_path / "s", image("NHWC"))
    with pytest.raises(ValueError, match=r"field image: a layout needs a shape of three dimensions"):
        Writer(tmp_path / "s", image("HWC", (32, 3)))
    writer = Writer(tmp_path / "s", image("HWC"))
    with pytest.raises(ValueError, match=r"shape \(3, 3, 32\), where \(3, 32, 3\) is needed"):
        writer.append(image=np.zeros((3, 3, 32)))
    writer.discard()


@pytest.mark.parametrize("first", [[], [RandomResizedCrop(14)], [ToFloat32()]])
def test_functions_get_channels_as_they_want_them(tmp_path: Path, first: list[Any]) -> None:
    """Also after ChannelsLast(), which batches keep."""
    pixels = np.random.default_rng(0).integers(0, 256, (5, 3, 14, 18), dtype=np.uint8)
    with Writer(tmp_path / "s", {"image": ("u8", (3, 14, 18))}) as writer:
        writer.extend(image=pixels)
    seen = set()

    def turn(image: np.ndarray) -> np.ndarray:
        seen.add(image.shape)
        return image[::-1]

    def turn_first(image: np.ndarray) -> np.ndarray:
        return image[:, ::-1]

    def made(*steps: Any) -> np.ndarray:
        with Loader(tmp_path / "s", batch_size=5, shuffle=False, transforms=[*first, *steps]) as loader:
            return np.array(next(iter(loader))["image"])

    expected = made()[:, :, ::-1]
    for each in (PerPicture(turn), PerPicture(turn_first, channels_last=False)):
        assert np.array_equal(made(each), expected)
        assert np.array_equal(made(ChannelsLast(), each), expected.transpose(0, 2, 3, 1))
    assert len(seen) == 1 and seen.pop()[2] == 3
    views = made(ChannelsLast(), PerPicture(lambda image: np.stack([image[::-1], image])))
    assert np.array_equal(views[:, 0], expected.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("shape", [(16, 16, 5), (16, 64, 13), (8, 8, 12)])
def test_many_channels_are_unclear_too(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Where they are taken for images, not where they are written: they may be none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Writer(tmp_path / "s", {"image": ("u8", shape)}) as writer:
            writer.append(image=np.zeros(shape))
    with pytest.warns(UserWarning, match="the first dimension is taken for the channels, not the last"):
        Loader(tmp_path / "s", transforms=[RandomFlip()]).close()


@pytest.mark.parametrize("shape", [(3, 32, 16), (13, 64, 64), (1, 80, 16), (16, 8, 8)])
def test_many_channels_that_are_clear(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with Writer(tmp_path / "s", {"image": ("u8", shape)}) as writer:
        writer.append(image=np.zeros(shape))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Loader(tmp_path / "s", transforms=[RandomFlip()]).close()
