"""Collations of boxes and what belongs to them hold what steps in Python have left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_removed_boxes import make

from apldata import EdgeIndex, InvalidError, Loader, Nodes, Pad, PerPicture, Ragged

FIELDS = ("boxes", "labels")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images with 0 to 4 boxes, in the order of their ids."""
    return make(tmp_path_factory.mktemp("collated") / "s")


def torchvision() -> list[Any]:
    pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    return [v2.RandomAdjustSharpness(1.0), v2.RandomCrop(30), v2.SanitizeBoundingBoxes()]


def albumentations() -> list[Any]:
    A = pytest.importorskip("albumentations")
    params = A.BboxParams("pascal_voc", label_fields=["labels"])
    return [A.Compose([A.RandomCrop(30, 30), A.Transpose()], bbox_params=params)]


def by_id(db: Path, steps: list[Any], collate: Any, **options: Any) -> dict[int, dict[str, Any]]:
    """Of each record what its batch holds of it, as far as lengths and masks say."""
    found = {}
    with Loader(db, batch_size=7, seed=2, transforms=steps, collate=collate, **options) as loader:
        for batch in loader:
            for row, record in enumerate(batch.ids.tolist()):
                found[record] = {name: rows_of(batch, name, row) for name in FIELDS}
    return found


def rows_of(batch: Any, name: str, row: int) -> np.ndarray:
    """The values of a row; what pads them is the fill, and where it says."""
    value = batch[name][row]
    if f"{name}_lengths" not in batch:
        return np.array(value)
    length, mask = batch[f"{name}_lengths"][row], batch[f"{name}_mask"]
    assert isinstance(batch[name], np.ndarray) and mask.shape == batch[name].shape[:2]
    assert mask.dtype == bool and (mask[row] == (np.arange(len(value)) < length)).all()
    assert (value[length:] == -1).all()
    return np.array(value[:length])


COLLATIONS = {
    "padded": lambda: Pad(fill=-1),
    "to a length": lambda: Pad(9, fill=-1),
    "no longer than": lambda: Pad(4, fill=-1),
    "cut off": lambda: Pad(2, fill=-1, truncate=True),
    "ragged": lambda: Ragged(),
}


@pytest.mark.parametrize("library", [torchvision, albumentations])
@pytest.mark.parametrize("name", COLLATIONS)
def test_collations_hold_what_is_left(scenes: Path, name: str, library: Any) -> None:
    how = COLLATIONS[name]()
    expected, found = by_id(scenes, library(), None), by_id(scenes, library(), dict.fromkeys(FIELDS, how))
    assert len({len(values["boxes"]) for values in expected.values()}) > 2 and len(found) == 24
    for record, values in expected.items():
        for field in FIELDS:
            most = 2 if name == "cut off" else None
            assert found[record][field].dtype == values[field].dtype
            assert np.array_equal(found[record][field], values[field][:most]), (record, field)


@pytest.mark.parametrize("library", [torchvision, albumentations])
@pytest.mark.parametrize("field", FIELDS)
def test_one_field_alone_is_collated(scenes: Path, field: str, library: Any) -> None:
    expected, found = by_id(scenes, library(), None), by_id(scenes, library(), {field: Pad(fill=-1)})
    for record, values in expected.items():
        assert all(np.array_equal(found[record][name], values[name]) for name in FIELDS)


@pytest.mark.parametrize("how", [Pad(fill=-1, bucket=2), Ragged(bucket=2)])
def test_buckets(scenes: Path, how: Any) -> None:
    collate = {"boxes": how, "labels": type(how)(**({"fill": -1} if isinstance(how, Pad) else {}))}
    expected, found = by_id(scenes, torchvision(), None), by_id(scenes, torchvision(), collate)
    assert sorted(found) == sorted(expected)
    for record, values in expected.items():
        assert all(np.array_equal(found[record][name], values[name]) for name in FIELDS)


def test_padding_is_no_box(scenes: Path) -> None:
    """With XYWH and a fill above 0, it looked like one."""
    for values in by_id(
        scenes, torchvision(), {"boxes": Pad(fill=-1)}, kinds={"boxes": "boxes,xywh"}
    ).values():
        assert len(values["boxes"]) == len(values["labels"])
    collate = {"boxes": Pad(fill=5), "labels": Pad(fill=-1)}
    with Loader(scenes, batch_size=24, transforms=torchvision(), collate=collate) as loader:
        (batch,) = loader
        assert np.array_equal(batch["labels_mask"], batch["labels"] > 0)
        assert np.array_equal(batch["boxes_lengths"], batch["labels_lengths"])


def test_what_is_left_is_too_long(scenes: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    keep = [v2.RandomAdjustSharpness(1.0), v2.SanitizeBoundingBoxes()]
    told = "record 3: field boxes is 3 long, and is to be padded to 2: truncate it, or pad to more"
    loader = Loader(scenes, transforms=keep, shuffle=False, collate={"boxes": Pad(2)})
    with loader, pytest.raises(InvalidError, match=told) as caught:
        next(iter(loader))
    assert caught.value.records == range(3, 4)


@pytest.mark.parametrize("library", [torchvision, albumentations])
def test_functions_before_and_after(scenes: Path, library: Any) -> None:
    seen: list[Any] = []

    def look(batch: Any) -> None:
        seen.append((type(batch["boxes"]), len(batch["boxes"])))

    steps = [look, *library(), look]
    with Loader(scenes, batch_size=24, transforms=steps, collate={"boxes": Pad()}) as loader:
        (batch,) = loader
    assert seen == [(list, 24), (np.ndarray, 24)] and batch["boxes_mask"].shape == batch["boxes"].shape[:2]


def test_steps_that_leave_the_field_alone_change_nothing(scenes: Path) -> None:
    """It is collated in C, also before functions."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    seen = []
    steps = [lambda batch: seen.append(batch["boxes"].shape), PerPicture(v2.RandomInvert(1.0))]
    with Loader(
        scenes, batch_size=24, transforms=steps, collate={"boxes": Pad(), "labels": Ragged()}
    ) as loader:
        (batch,) = loader
    assert seen == [(24, 4, 4)] and batch["boxes_lengths"].sum() == len(batch["labels"].values)


@pytest.mark.parametrize("how", [Nodes(), EdgeIndex()])
def test_other_collations_are_refused(scenes: Path, how: Any) -> None:
    with pytest.raises(
        InvalidError, match=r"collate: .*runs in Python, and changes boxes.*by Pad\(\) or Ragged\(\), not "
    ):
        Loader(scenes, transforms=torchvision(), collate={"boxes": how})


def test_tensors(scenes: Path) -> None:
    torch = pytest.importorskip("torch")
    from apldata.torch import DataLoader

    collate = {"boxes": Ragged(), "labels": Pad(fill=-1)}
    with DataLoader(scenes, batch_size=24, transforms=torchvision(), collate=collate) as loader:
        (batch,) = loader
    assert batch._fields == ("image", "boxes", "labels", "labels_lengths", "labels_mask")
    assert batch.boxes.is_nested and batch.labels.dtype == torch.int64
    lengths = [len(boxes) for boxes in batch.boxes.unbind()]
    assert batch.labels_lengths.tolist() == batch.labels_mask.sum(1).tolist() == lengths
