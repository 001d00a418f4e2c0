"""Which member of a sample of apldata.torch.Dataset is its label, and which its image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import apldata
from apldata import Field, InvalidError, Writer
from apldata.torch import Dataset

FIELDS = {
    "image": Field("image", "u8", (3, 4, 4)),
    "caption": Field("caption", "utf8"),
    "id": Field("id", "i64"),
    "label": Field("label", "u8", (), "target", classes=("cat", "dog")),
    "age": Field("age", "i64", (), "target"),
}
LABELS, AGES = [1, 0, 1], [30, 40, 50]


def make(path: Path, *names: str, **others: Field) -> Path:
    fields = {name: others.get(name, FIELDS.get(name)) for name in names}
    values = {"image": lambda k: np.full((3, 4, 4), k), "caption": str, "id": lambda k: 7 + k}
    values |= {"label": lambda k: LABELS[k], "age": lambda k: AGES[k]}
    with Writer(path, fields) as writer:
        for k in range(3):
            writer.append(**{name: values[name](k) for name in names})
    return path


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        ("image", "label"), ("label", "image"), ("image", "caption", "label"), ("id", "image", "label"),
        ("image", "age", "label"), ("label", "age", "image"), ("image", "id", "caption", "label"),
    ],
)  # fmt: skip
def test_the_label_is_that_with_classes(tmp_path: Path, names: tuple[str, ...], in_memory: bool) -> None:
    """Wherever it stands: with `classes` go its numbers."""
    given: dict[str, Any] = {"in_memory": in_memory, "as_dict": True}
    dataset = Dataset(make(tmp_path / "s", *names), **given)
    assert dataset.classes == ("cat", "dog") and list(dataset.targets) == LABELS
    moved = Dataset(dataset.store, transform=lambda x: x + 100, target_transform=lambda y: -y, **given)
    for k, sample in enumerate(moved):
        assert (sample["image"] == 100 + k).all() and sample["label"] == -LABELS[k]
        assert all(sample[name] == dataset[k][name] for name in names if name not in ("image", "label"))


def test_a_label_without_classes(tmp_path: Path) -> None:
    """The only target; or the second of two members."""
    plain = Field("label", "u8", (), "target")
    assert list(Dataset(make(tmp_path / "a", "id", "image", "label", label=plain)).targets) == LABELS
    assert list(Dataset(make(tmp_path / "b", "image", "id")).targets) == [7, 8, 9]
    several = make(tmp_path / "c", "image", "age", "label", label=plain)
    with pytest.raises(InvalidError, match="targets: the label may be any of age, label: choose two"):
        _ = Dataset(several).targets
    with pytest.raises(InvalidError, match="target_transform: the label may be any of age, label"):
        Dataset(several, target_transform=abs)
    assert list(Dataset(several, fields=["image", "label"]).targets) == LABELS
    assert list(Dataset(several, fields=["label", "age"]).targets) == AGES
    with pytest.raises(InvalidError, match="any of image, caption, id"):
        _ = Dataset(make(tmp_path / "d", "image", "caption", "id")).targets


def test_targets_of_a_table(tmp_path: Path) -> None:
    rows = [{"age": age, "sex": 1, "label": name} for age, name in zip(AGES, "xyx", strict=True)]
    apldata.convert(rows, tmp_path / "s", classes=["label"])
    dataset = Dataset(tmp_path / "s")
    assert [(dataset.classes or ())[target] for target in dataset.targets] == list("xyx")
