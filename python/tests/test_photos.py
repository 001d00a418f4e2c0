"""JPEG files that a store keeps, as images in batches."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from apldata import (
    CenterCrop,
    CorruptError,
    Field,
    InvalidError,
    Loader,
    Normalize,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    Store,
    Writer,
    ingest,
)

Image = pytest.importorskip("PIL.Image")

FIELDS = {"image": Field("image", "u8", media="image/jpeg"), "label": Field("label", "u8", mark="target")}


def photo(number: int, width: int, height: int, mode: str = "RGB", subsampling: int = 2) -> bytes:
    """Waves whose colour is that of its class, in JPEG."""
    y, x = np.mgrid[:height, :width]
    wave = 40 * np.sin(x / (5 + number % 7)) * np.cos(y / (9 + number % 5))
    tint = np.array([[200, 60, 60], [60, 180, 80], [70, 70, 190]])[number % 3]
    pixels = np.clip(tint + wave[..., None] + 5 * (number % 4), 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(out, "JPEG", quality=95, subsampling=subsampling)
    return out.getvalue()


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return [
        photo(i, 90 + 7 * i, 140 - 2 * i, "L" if i == 5 else "CMYK" if i == 7 else "RGB", i % 3)
        for i in range(36)
    ]


@pytest.fixture(scope="module")
def db(files: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photos") / "db"
    with Writer(path, FIELDS) as writer:
        for i, file in enumerate(files):
            writer.append(image=file, label=i % 3)
    return path


def test_resized_images_are_pillows(db: Path, files: list[bytes]) -> None:
    loader = Loader(db, batch_size=8, shuffle=False, transforms=[Resize((96, 80), exact_chroma=True)])
    seen = 0
    for batch in loader:
        assert batch["image"].shape[1:] == (3, 96, 80) and batch["image"].dtype == np.uint8
        for id, image in zip(batch.ids, batch["image"], strict=True):
            whole = Image.open(io.BytesIO(files[id])).convert("RGB")
            want = np.asarray(whole.resize((80, 96), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
            assert np.abs(image.astype(int) - want).max() <= 3, id
            seen += 1
    assert seen == len(files)


def test_resize_and_crop_are_torchvisions(db: Path, files: list[bytes]) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    theirs = v2.Compose([v2.PILToTensor(), v2.Resize(72, antialias=True), v2.CenterCrop(65)])
    loader = Loader(
        db, batch_size=36, shuffle=False, transforms=[Resize(72, exact_chroma=True), CenterCrop(65)]
    )
    (batch,) = loader
    for file, image in zip(files, batch["image"], strict=True):
        want = theirs(Image.open(io.BytesIO(file)).convert("RGB")).numpy()
        assert np.abs(image.astype(int) - want).max() <= 3


def test_epochs_differ_and_repeat(db: Path) -> None:
    def epochs(threads: int) -> list[np.ndarray]:
        loader = Loader(
            db,
            batch_size=10,
            seed=5,
            threads=threads,
            transforms=[RandomResizedCrop(20), RandomFlip(), Normalize()],
        )
        images = []
        for _ in range(2):
            rows = [(id, image.copy()) for b in loader for id, image in zip(b.ids, b["image"], strict=True)]
            images.append(np.stack([image for _, image in sorted(rows, key=lambda row: row[0])]))
        return images

    first, again = epochs(0), epochs(3)
    assert not np.array_equal(first[0], first[1])
    assert np.array_equal(first, again)
    assert first[0].dtype == np.float32 and abs(first[0].mean()) < 0.3 and 0.7 < first[0].std() < 1.3


def test_a_network_learns_the_classes(db: Path) -> None:
    torch = pytest.importorskip("torch")
    from apldata.torch import DataLoader

    torch.manual_seed(1)
    loader = DataLoader(
        db, batch_size=12, shuffle=True, transforms=[RandomResizedCrop(32), RandomFlip(), Normalize()]
    )
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(3)
    )
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    right = 0
    for epoch in range(15):
        for images, labels in loader:
            assert images.shape[1:] == (3, 32, 32)
            output = model(images)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(output, labels.long()).backward()
            optimizer.step()
            right += int((output.argmax(1) == labels).sum()) if epoch >= 13 else 0
    assert right > 0.8 * 2 * 36


def test_small_images_are_padded_or_refused(db: Path) -> None:
    padded = Loader(db, batch_size=36, shuffle=False, transforms=[RandomCrop(150, pad_if_needed=True)])
    (batch,) = padded
    assert batch["image"].shape == (36, 3, 150, 150)
    with pytest.raises(InvalidError, match="record 0, field image: an image of 90 x 140 pixels is smaller"):
        list(Loader(db, shuffle=False, transforms=[RandomCrop(150)]))


def test_wrong_transforms_are_refused(db: Path) -> None:
    with pytest.raises(InvalidError, match="its images may have any size"):
        Loader(db, transforms=[Normalize(0.5, 0.5)])
    with pytest.raises(InvalidError, match="sets the same"):
        Loader(db, transforms=[Resize(20), RandomResizedCrop(10)])
    with pytest.raises(ValueError, match="scale must be"):
        RandomResizedCrop(10, scale=(0.5, 2))
    with pytest.raises(ValueError, match="ratio must be"):
        RandomResizedCrop(10, ratio=(2, 1))
    with pytest.raises(TypeError, match="scale must be"):
        RandomResizedCrop(10, scale=0.5)  # type: ignore[arg-type]


def test_damaged_files_are_named(files: list[bytes], tmp_path: Path) -> None:
    with Writer(tmp_path / "db", FIELDS) as writer:
        for i, file in enumerate(files[:4]):
            writer.append(image=file[: len(file) // 2] if i == 2 else file, label=0)
    with pytest.raises(CorruptError, match="record 2, field image: JPEG: Premature end"):
        list(Loader(tmp_path / "db", transforms=[Resize((30, 30))]))


def test_without_transforms_files_come_as_they_are(db: Path, files: list[bytes]) -> None:
    (batch,) = Loader(db, batch_size=36, shuffle=False)
    assert [bytes(value) for value in batch["image"]] == files


def test_stores_have_mean_and_deviation(files: list[bytes], tmp_path: Path) -> None:
    """Of indexed files, within what rounding and clipping do to pixels; Normalize() uses them."""
    pixels = []
    (tmp_path / "photos" / "all").mkdir(parents=True)
    for i, file in enumerate(files):
        (tmp_path / "photos" / "all" / f"{i:03}.jpg").write_bytes(file)
        image = Image.open(io.BytesIO(file))
        if image.mode != "CMYK":
            pixels.append(np.asarray(image.convert("RGB"), np.float64).reshape(-1, 3))
    ingest(tmp_path / "photos", tmp_path / "indexed")
    whole = np.concatenate(pixels)
    mean, deviation = Store(tmp_path / "indexed").moments()
    assert np.abs(mean - whole.mean(0)).max() < 1
    assert np.abs(deviation / whole.std(0) - 1).max() < 0.02
    crop = Resize((64, 64))
    given = Normalize(mean / 255, deviation / 255)
    with (
        Loader(tmp_path / "indexed", batch_size=8, shuffle=False, transforms=[crop, given]) as a,
        Loader(tmp_path / "indexed", batch_size=8, shuffle=False, transforms=[crop, Normalize()]) as b,
    ):
        for x, y in zip(a, b, strict=True):
            assert np.allclose(x["image"], y["image"], atol=1e-5)
