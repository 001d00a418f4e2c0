"""bfloat16, which NumPy does not know by itself, in transforms in Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_tools import torch

from apldata import Field, InvalidError, Loader, ToBFloat16, Writer

v2 = pytest.importorskip("torchvision.transforms.v2")
apltorch = pytest.importorskip("apldata.torch")


@pytest.fixture(autouse=True, params=["without ml_dtypes", "with it"])
def numpy_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "with it":
        pytest.importorskip("ml_dtypes")
    else:
        monkeypatch.setitem(sys.modules, "ml_dtypes", None)


def make(path: Path, *shape: int) -> np.ndarray:
    pixels = np.random.default_rng(1).integers(0, 256, (6, *shape), dtype=np.uint8)
    with Writer(path, [Field("image", "u8", shape), Field("label", "u8", (), "target")]) as writer:
        writer.extend(image=pixels, label=np.ones(6))
    return pixels


STEPS = {
    "normalize": lambda: [v2.Normalize([0.5], [0.25])],
    "python": lambda: [v2.Lambda(lambda image: image * 2)],
    "both": lambda: [v2.Normalize([0.5], [0.25]), v2.RandomInvert(p=0), v2.Lambda(lambda image: image + 1)],
    "none": list,
}


@pytest.mark.parametrize("shape", [(1, 12, 10), (12, 10)])
@pytest.mark.parametrize("name", STEPS)
def test_torchvision_after_a_conversion(tmp_path: Path, name: str, shape: tuple[int, ...]) -> None:
    pixels, steps = make(tmp_path / "db", *shape), STEPS[name]()
    to_bfloat16 = v2.ToDtype(torch.bfloat16, scale=True)
    expected = v2.Compose([to_bfloat16, *steps])(torch.from_numpy(pixels.reshape(6, 1, 12, 10)))
    for first in (to_bfloat16, ToBFloat16()):
        if first is not to_bfloat16 and name == "none":
            continue
        with apltorch.DataLoader(tmp_path / "db", 6, transforms=[first, *steps]) as loader:
            images, _ = next(iter(loader))
        assert images.dtype == torch.bfloat16 and torch.equal(images, expected)


def test_a_step_without_bfloat16_is_refused_at_the_first_batch(tmp_path: Path) -> None:
    def halves(image: Any) -> Any:
        if image.dtype == torch.bfloat16:
            raise TypeError("not this one")
        return image

    make(tmp_path / "db", 3, 12, 10)
    with pytest.raises(InvalidError, match="not this one"):
        next(iter(Loader(tmp_path / "db", transforms=[ToBFloat16(), v2.Lambda(halves)])))
    A = pytest.importorskip("albumentations")
    with pytest.raises(InvalidError, match=r"takes no bfloat16: say ToFloat32\(\) before it"):
        Loader(tmp_path / "db", transforms=[ToBFloat16(), A.Transpose()])
