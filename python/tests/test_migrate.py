"""docs/MIGRATE.md: its commands and examples are run as they stand there; each pair feeds training alike."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_docs import ROOT

import apldata

PAGE = ROOT / "docs" / "MIGRATE.md"
TRAIN, VAL = 24, 6  # records of the data that is moved
STEP = re.compile(r"^```python\n(?P<code>.*?)^```$|^    \$ (?P<command>apl[^\n]*)$", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)
PACKAGES = {"PIL": "pillow"}

pytestmark = [
    pytest.mark.skipif(not PAGE.is_file(), reason="the documents are not here"),
    pytest.mark.filterwarnings("ignore"),
]


def sections() -> dict[str, str]:
    """The text below each heading that has a `Before:`."""
    if not PAGE.is_file():
        return {}
    parts = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {head: text for head, text in zip(parts[1::2], parts[2::2], strict=True) if "\nBefore:\n" in text}


def draw_photos(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(0)
    for split, count in (("train", TRAIN), ("val", VAL)):
        for i in range(count):
            file = folder / split / ("cat", "dog")[i % 3 == 0] / f"{i:02}.jpg"
            file.parent.mkdir(parents=True, exist_ok=True)
            noise = image.fromarray(random.integers(0, 256, (8, 8, 3), dtype=np.uint8))
            noise.resize((240 + 4 * i, 230)).save(file, "JPEG")


def command(words: list[str]) -> None:
    """`aplingest` and `apldata` of the package that is tested."""
    verb = ["ingest"] if words[0] == "aplingest" else []
    here = str(Path(apldata.__file__).absolute().parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "apldata", *verb, *words[1:]], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": here},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with photographs, and the same as shards of WebDataset and as TFRecord files."""
    folder = tmp_path_factory.mktemp("migrate")
    with contextlib.chdir(folder):
        draw_photos(Path("photos"))
        command(["aplingest", "photos", "made.db"])
        command(["apldata", "export", "made.db", "shards", "--format", "webdataset"])
        chosen = ["--fields", "image", "--fields", "label"]
        command(["apldata", "export", "made.db", "tfrecords", "--format", "tfrecord", *chosen])
        os.remove("tfrecords/schema.json")  # which others do not write
        yield folder


KEYS = (("image", "pixel_values"), ("label", "labels"))


def image_and_label(batch: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(batch, dict):
        batch = [next(batch[name] for name in names if name in batch) for names in KEYS]
    image, label = (np.asarray(value) for value in batch)
    return image, label.reshape(-1)


def epoch(train: Any) -> tuple[set[tuple[int, ...]], str, list[int]]:
    """Shapes of the images of batches, their type, and all labels, sorted; the images must be normalised."""
    batches = [image_and_label(batch) for batch in train]
    images = np.concatenate([image.reshape(len(image), -1) for image, _ in batches])
    assert np.isfinite(images).all() and -4 < images.min() < images.max() < 4
    labels = sorted(int(n) for _, label in batches for n in label)
    return {image.shape for image, _ in batches}, str(images.dtype), labels


def test_sections_are_found() -> None:
    assert len(sections()) == 6


@pytest.mark.parametrize("section", sections())
def test_before_and_after(
    section: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = sections()[section]
    for name in sorted({"torchvision", *IMPORT.findall(text)} - {"apldata"}):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{PACKAGES.get(name, name)} is not installed")
    if section == "FFCV" and not os.environ.get("APL_LONG"):
        pytest.skip("FFCV compiles its pipelines for half a minute: APL_LONG=1")
    monkeypatch.chdir(request.getfixturevalue("data"))
    names: dict[str, Any] = {"augment": augmentation()}
    seen = []
    for step in STEP.finditer(text):
        if step["command"]:
            command(shlex.split(step["command"]))
            continue
        line = PAGE.read_text(encoding="utf-8").partition(step["code"])[0].count("\n")
        names.pop("train", None)
        exec(compile("\n" * line + step["code"], str(PAGE), "exec"), names)
        if "train" in names:
            seen.append(epoch(names["train"]))
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert len(seen[0][2]) == TRAIN


def augmentation() -> Any:
    """What the first section calls so, and others use."""
    torch, v2 = (pytest.importorskip(name) for name in ("torch", "torchvision.transforms.v2"))
    return v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop(224),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )


def rows(page: str, marker: str) -> Iterator[list[str]]:
    """The cells of the tables below a heading."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(marker)[2]
    for line in re.split(r"^#+ ", text, maxsplit=1, flags=re.MULTILINE)[0].splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def test_figures_are_those_of_the_benchmarks() -> None:
    measured = {
        row[0]: [cell.partition(" (")[0] for cell in row[1:]]
        for row in rows("BENCHMARKS.md", "\n### Speed\n")
    }
    told = [row for row in rows("MIGRATE.md", "\n## Is it worth it?\n") if row[0] != "loader"]
    assert len(told) == 8
    for loader, u8, f32 in told:
        assert (u8, f32) == (measured[loader][1], measured[loader][3]), loader
