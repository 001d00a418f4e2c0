"""apldata.torch.Dataset over kept files of images: what Pillow makes of them, as torchvision's ImageFolder has them."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Field, Writer

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
Dataset = pytest.importorskip("apldata.torch").Dataset

FIELDS = {"image": Field("image", "u8", media="image/jpeg"), "label": Field("label", "u8", mark="target")}


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    """Photographs of several sizes, one without colours."""
    made = []
    for i in range(12):
        pixels = np.random.default_rng(i).integers(0, 256, (4 + i, 9, 3)).astype(np.uint8)
        out = io.BytesIO()
        Image.fromarray(pixels).resize((60, 40 + i)).convert("L" if i == 5 else "RGB").save(out, "JPEG")
        made.append(out.getvalue())
    return made


@pytest.fixture(scope="module")
def db(files: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("images") / "db"
    with Writer(path, FIELDS) as writer:
        for i, file in enumerate(files):
            writer.append(image=file, label=i % 3)
    return path


def pillows(file: bytes) -> Any:
    return Image.open(io.BytesIO(file)).convert("RGB")


def size(image: Any) -> tuple[int, int]:
    return tuple(image.size)


def test_images_of_pillow(db: Path, files: list[bytes]) -> None:
    for dataset in (Dataset(db), Dataset(db, in_memory=True), pickle.loads(pickle.dumps(Dataset(db)))):
        for i, file in enumerate(files):
            image, label = dataset[i]
            assert image.mode == "RGB" and image == pillows(file) and label == i % 3
    assert Dataset(db, transform=size)[3] == ((60, 43), 0)
    assert Dataset(db, as_dict=True)[3]["image"] == pillows(files[3])


def test_tensors_and_files(db: Path, files: list[bytes]) -> None:
    tensor, _ = Dataset(db, decode="tensor")[5]
    assert tensor.dtype == torch.uint8
    assert np.array_equal(tensor.numpy(), np.asarray(pillows(files[5])).transpose(2, 0, 1))
    assert bytes(Dataset(db, decode=None)[5][0].numpy()) == files[5]
    with pytest.raises(apldata.InvalidError, match="decode must be 'pil', 'tensor' or None"):
        Dataset(db, decode="rgb")


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_in_workers(db: Path, files: list[bytes], context: str) -> None:
    loader = torch.utils.data.DataLoader(
        Dataset(db, transform=size), 5, num_workers=1, multiprocessing_context=context, collate_fn=list
    )
    assert [one[0] for batch in loader for one in batch] == [pillows(file).size for file in files]


def test_a_file_that_cannot_be_decoded(tmp_path: Path, files: list[bytes]) -> None:
    fields = {"scan": Field("scan", "u8", media="image/x-scan"), "label": FIELDS["label"]}
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(scan=files[0], label=0)
        writer.append(scan=b"no image at all", label=1)
    dataset = Dataset(tmp_path / "db")
    assert dataset[0][0] == pillows(files[0])
    with pytest.raises(apldata.CorruptError, match="record 1, scan: cannot be decoded: ") as error:
        dataset[1]
    assert list(error.value.records) == [1]
