"""RandomResizedCrop's boxes have the distribution of torchvision's, and boxes of another are told from them.

A mask whose elements are their own row and column is resized with its image, by the nearest element: in a
result as large as the image, the first and the last are the corners of the box that the loader has taken."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from apldata import Field, Loader, RandomResizedCrop, Writer
from apldata.kinds import Mask

RECORDS, EPOCHS = 250, 8
DRAWS = RECORDS * EPOCHS
LEVEL = 0.001  # the chance of a false alarm, over all cases and figures together
TRIES = 10  # before torchvision gives up, and takes the middle


class Case(NamedTuple):
    height: int
    width: int
    scale: tuple[float, float] = (0.08, 1)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)


CASES = {
    "square": Case(64, 64),
    "wide": Case(32, 96),
    "tall": Case(96, 32),
    "tiny": Case(5, 7),
    "often the middle": Case(8, 80),  # hardly a box fits
    "always the middle": Case(3, 120),
    "other bounds": Case(64, 64, (0.02, 0.4), (1 / 2, 4)),
}

Boxes = np.ndarray  # int[n, 4]: top, left, height, width


def of_loader(case: Case, path: Path, kept: bool = False) -> Boxes:
    """What a loader takes of `RECORDS` images, in `EPOCHS` epochs."""
    places = np.indices((case.height, case.width), np.uint8)
    image: Any = np.zeros((3, case.height, case.width), np.uint8)
    field = Field("image", "u8", image.shape)
    if kept:
        out = io.BytesIO()
        pytest.importorskip("PIL.Image").fromarray(image.transpose(1, 2, 0)).save(out, "JPEG")
        image, field = out.getvalue(), Field("image", "u8", media="image/jpeg")
    with Writer(
        path, {"image": field, "places": Field("places", "u8", places.shape, "target", kind=Mask())}
    ) as writer:
        for _ in range(RECORDS):
            writer.append(image=image, places=places)
    crop = RandomResizedCrop((case.height, case.width), scale=case.scale, ratio=case.ratio)
    with Loader(path, batch_size=RECORDS, transforms=[crop], seed=3) as loader:
        corners = [batch["places"][..., [0, -1], [0, -1]] for _ in range(EPOCHS) for batch in loader]
    first, last = np.moveaxis(np.concatenate(corners).astype(int), 2, 0)
    return np.concatenate([first, last - first + 1], axis=1)


def of_torchvision(case: Case, seed: int) -> Boxes:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    torch = pytest.importorskip("torch")
    crop = v2.RandomResizedCrop((case.height, case.width), scale=case.scale, ratio=case.ratio)
    image = torch.empty(1, case.height, case.width)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        drawn = [crop.make_params([image]) for _ in range(DRAWS)]
    return np.array([[box[key] for key in ("top", "left", "height", "width")] for box in drawn])


def of_law(
    case: Case,
    seed: int,
    ratios: str = "log-uniform",
    areas: Callable[[np.ndarray], np.ndarray] = np.asarray,
    room: int = 1,
    tries: int = TRIES,
    turned: bool = False,
) -> Boxes:
    """Boxes drawn as torchvision's documents have it, or otherwise in one respect."""
    random = np.random.default_rng(seed)
    least, most = case.ratio
    width = np.full(DRAWS, min(case.width, round(case.height * most)))  # the middle, where no box fits
    height = np.full(DRAWS, min(case.height, round(case.width / least)))
    top, left = (case.height - height) // 2, (case.width - width) // 2
    left_over = np.arange(DRAWS)
    for _ in range(tries):
        area = case.height * case.width * areas(random.uniform(*case.scale, len(left_over)))
        ratio = random.uniform(least, most, len(left_over))
        if ratios == "log-uniform":
            ratio = np.exp(random.uniform(math.log(least), math.log(most), len(left_over)))
        w, h = np.rint(np.sqrt([area * ratio, area / ratio])).astype(int)[:: -1 if turned else 1]
        fits = (w > 0) & (w <= case.width) & (h > 0) & (h <= case.height)
        these, w, h = left_over[fits], w[fits], h[fits]
        width[these], height[these] = w, h
        top[these] = random.integers(np.maximum(case.height - h + room, 1))
        left[these] = random.integers(np.maximum(case.width - w + room, 1))
        left_over = left_over[~fits]
    return np.stack([top, left, height, width], axis=1)


def figures(boxes: Boxes, case: Case) -> list[np.ndarray]:
    """Of each box: its area, its aspect ratio, and its position as a fraction of the room that it had."""
    top, left, height, width = boxes.T
    across, down = np.maximum(case.width - width, 1), np.maximum(case.height - height, 1)
    return [height * width, np.log(width / height), left / across, top / down]


def chance(mine: np.ndarray, other: np.ndarray) -> float:
    """The chance that two samples of one distribution lie so far apart, by Kolmogorov's and Smirnov's test;
    where values can be equal, at most that."""
    both = np.sort(np.concatenate([mine, other]))
    below = [np.searchsorted(np.sort(x), both, "right") / len(x) for x in (mine, other)]
    size = math.sqrt(len(mine) * len(other) / (len(mine) + len(other)))
    reach = np.abs(below[0] - below[1]).max() * (size + 0.12 + 0.11 / size)  # Stephens' correction
    terms = [2 * (-1) ** (k - 1) * math.exp(-2 * (k * reach) ** 2) for k in range(1, 101)]
    return min(1.0, sum(terms)) if reach > 0.2 else 1.0


def rejected(pairs: dict[str, tuple[Boxes, Boxes]]) -> list[str]:
    """The cases and figures in which two samples differ, by Holm's procedure."""
    names = ("area", "aspect ratio", "across", "down")
    tests = sorted(
        (chance(a, b), f"{name}: {figure}")
        for name, both in pairs.items()
        for figure, a, b in zip(names, *(figures(boxes, CASES[name]) for boxes in both), strict=True)
    )
    found = []
    for k, (p, name) in enumerate(tests):
        if p > LEVEL / (len(tests) - k):
            break
        found.append(f"{name} (p = {p:.2g})")
    return found


@pytest.fixture(scope="module")
def theirs() -> dict[str, Boxes]:
    return {name: of_torchvision(case, seed) for seed, (name, case) in enumerate(CASES.items())}


def test_boxes_are_distributed_as_torchvisions(theirs: dict[str, Boxes], tmp_path: Path) -> None:
    pairs = {name: (of_loader(case, tmp_path / name), theirs[name]) for name, case in CASES.items()}
    for name, (boxes, _) in pairs.items():
        assert len(boxes) == DRAWS
        assert len(np.unique(boxes, axis=0)) > 1 or name == "always the middle"
    assert rejected(pairs) == []
    middle, other = (np.unique(boxes, axis=0) for boxes in pairs["always the middle"])
    assert np.array_equal(middle, other)


def test_boxes_of_files_are_those_of_arrays(tmp_path: Path) -> None:
    case = CASES["wide"]
    of_arrays, of_files = (of_loader(case, tmp_path / str(kept), kept) for kept in (False, True))
    assert np.array_equal(of_arrays, of_files)


WRONG: dict[str, dict[str, Any]] = {
    "aspect ratios are uniform": {"ratios": "uniform"},
    "areas are clipped": {"areas": lambda area: np.maximum(area, 0.2)},
    "sides, not areas, are uniform": {"areas": lambda area: area**2},
    "width and height are exchanged": {"turned": True},
    "the last position is never taken": {"room": 0},
    "positions reach a pixel too far": {"room": 2},
    "one box is tried": {"tries": 1},
    "a hundred boxes are tried": {"tries": 100},
}


def test_the_law_as_it_is_written_is_torchvisions(theirs: dict[str, Boxes]) -> None:
    assert rejected({name: (of_law(CASES[name], 5), boxes) for name, boxes in theirs.items()}) == []


@pytest.mark.parametrize("wrong", WRONG)
def test_boxes_of_another_law_are_rejected(wrong: str, theirs: dict[str, Boxes]) -> None:
    drawn = {name: (of_law(CASES[name], 5, **WRONG[wrong]), boxes) for name, boxes in theirs.items()}
    assert rejected(drawn) != []
