"""The examples of README.md, docs/PYTHON.md, docs/DATA.md and docstrings are run as they stand there."""

import ast
import importlib.util
import io
import json
import re
import shutil
import subprocess
import tarfile
import textwrap
from itertools import groupby
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import apldata
import apldata.callbacks

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (ROOT / name for name in ("README.md", "docs/PYTHON.md", "docs/DATA.md"))
    if page.exists()
]
MODULES = Path(apldata.__file__).parent
NEEDS = {
    "apldata.torch": "torch",
    "apldata.jax": "jax",
    "apldata.tf": "tensorflow",
    "apldata.ray": "ray",
    "torchvision": "torchvision",
    "apldata.export": "pyarrow",
    "albumentations": "albumentations",
}
TRAINERS = ("lightning", "accelerate", "transformers", "ignite", "fastai", "keras")
READERS = ("pyarrow", "datasets", "pandas")
NEEDS |= {f"import {name}\n": name for name in READERS}
NEEDS |= {f"import {name}": name for name in TRAINERS} | {f"from {name}": name for name in TRAINERS}


def examples(page: Path) -> list[tuple[int, str]]:
    """(line, code) of each Python block."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, block.start()) + 2, block.group(1)) for block in found]


def missing(code: str) -> str | None:
    needed = (framework for module, framework in NEEDS.items() if module in code)
    return next((name for name in needed if importlib.util.find_spec(name) is None), None)


def draw_photos(folder: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for i, name in enumerate(("train/cat/1", "train/dog/2", "train/dog/3", "val/cat/4")):
        file = folder / f"{name}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        image.new("RGB", (300 + 20 * i, 280), (60 * i, 90, 200)).save(file, "JPEG")


def draw_scenes(folder: Path) -> None:
    """Three records in the layouts of Pascal VOC and COCO."""
    image = pytest.importorskip("PIL.Image")
    names = ["2007_000032", "2007_000039", "2007_000063"]
    voc, coco = folder / "VOC2012", folder / "coco"
    for place in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (voc / place).mkdir(parents=True)
    for place in ("annotations", "train2017"):
        (coco / place).mkdir(parents=True)
    (voc / "ImageSets/Segmentation/train.txt").write_text("\n".join(names) + "\n")
    images, boxes = [], []
    for i, name in enumerate(names):
        size = (300 + 20 * i, 280)
        for place in (voc / "JPEGImages", coco / "train2017"):
            image.new("RGB", size, (60 * i, 90, 200)).save(place / f"{name}.jpg", "JPEG")
        mask = image.new("P", size, i)
        mask.putpalette(bytes(range(256)) * 3)
        mask.save(voc / "SegmentationClass" / f"{name}.png")
        images.append({"id": 7 * i, "file_name": f"{name}.jpg"})
        polygons = [[20, 30, 220.5, 30, 90, 250], [20, 30, 60, 30, 60, 70, 20, 70]]
        box = {"image_id": 7 * i, "bbox": [20, 30, 200.5, 220], "category_id": 18, "iscrowd": 0}
        boxes += [box | {"segmentation": polygons}] * i
    annotations = json.dumps({"images": images, "annotations": boxes})
    (coco / "annotations/instances_train2017.json").write_text(annotations)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page, store_path, tmp_path, monkeypatch):
    """One after another, in one namespace, in a folder with a store called db."""
    shutil.copytree(store_path, tmp_path / "db")
    if page.name == "DATA.md":
        draw_photos(tmp_path / "photos")
        draw_scenes(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    run = 0
    for line, code in examples(page):
        if missing(code):
            continue
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        run += 1
    assert run > 0
    for value in names.values():
        if hasattr(value, "receipt") and not isinstance(value, type):
            value.close()


@pytest.mark.skipif(not (ROOT / "docs/FEDERATED.md").is_file(), reason="the documents are not here")
def test_example_of_a_client(store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the store of client 0 in the folder that the page makes."""
    torch = pytest.importorskip("apldata.torch")
    transforms = importlib.import_module("apldata.transforms")
    whole = shutil.copytree(store_path, tmp_path / "whole")  # other tests have no splits of clients
    part = apldata.Store(whole).clients("client", 2)[0]
    (tmp_path / "clients").mkdir()
    command = Path(apldata.__path__[0]) / "bin" / "apldata"
    extract = ["extract", "-q", "--split", part.name, whole, tmp_path / "clients/0"]
    subprocess.run([command, *extract], check=True)
    monkeypatch.chdir(tmp_path)
    names = {
        "apldata": apldata, "DataLoader": torch.DataLoader, "RandomFlip": transforms.RandomFlip,
        "Normalize": transforms.Normalize, "client": 0, "round": 1, "mean": [0.5] * 3, "std": [0.25] * 3,
    }  # fmt: skip
    [(_, code)] = examples(ROOT / "docs/FEDERATED.md")
    exec(code, names)


@pytest.mark.skipif(not (ROOT / "docs/THEORY.md").is_file(), reason="the documents are not here")
def test_example_that_sorts_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).integers(0, 10, (5, 20, 3073), np.uint8)
    with tarfile.open(tmp_path / "in.tar", "w") as archive:
        for i, batch in enumerate([*rows, b"names"]):
            data = bytes(batch) if isinstance(batch, bytes) else batch.tobytes()
            member = tarfile.TarInfo(f"c/data_batch_{i + 1}.bin" if i < 5 else "c/batches.meta.txt")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    monkeypatch.setattr("sys.argv", ["", str(tmp_path / "in.tar"), str(tmp_path / "out.tar")])
    [(_, code)] = examples(ROOT / "docs/THEORY.md")
    exec(code, {})
    with tarfile.open(tmp_path / "out.tar") as archive:
        parts = [archive.extractfile(one).read() for one in archive]  # type: ignore[union-attr]
    is_sorted = np.frombuffer(b"".join(parts[:5]), np.uint8).reshape(-1, 3073)
    assert (np.diff(is_sorted[:, 0].astype(int)) >= 0).all() and parts[5] == b"names"
    by_bytes = [np.sort(part.reshape(-1, 3073).view("V3073"), axis=0) for part in (is_sorted, rows)]
    assert np.array_equal(*by_bytes)


def sources() -> list[Path]:
    """The package's modules, also where its folders are links. TensorFlow's comes last, since not all of
    torch can be imported after that."""
    found = [*MODULES.glob("*.py"), *MODULES.glob("*/*.py")]
    return sorted(found, key=lambda path: (path.name == "tf.py", path))


def docstring_examples() -> list[tuple[str, str]]:
    """(whose, code) of the indented paragraphs of docstrings; lists of arguments have a heading with them."""
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                paragraphs = (ast.get_docstring(node) or "").split("\n\n")
                for is_code, several in groupby(
                    paragraphs, lambda text: bool(re.fullmatch(r"( {4}.*\n?)+", text))
                ):
                    if is_code:
                        module = path.relative_to(MODULES.parent).with_suffix("").as_posix().replace("/", ".")
                        whose = f"{module}.{getattr(node, 'name', '')}".rstrip(".")
                        found.append((whose, "\n\n".join(several)))
    return found


@pytest.mark.parametrize(("whose", "code"), docstring_examples(), ids=lambda value: value[:40].split("\n")[0])
def test_docstrings(
    whose: str, code: str, store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with a store called db, with the names that the text around them has."""
    shutil.copytree(store_path, tmp_path / "db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(apldata, "ingest", lambda archive, db: None)  # it would make that store
    compile(code := textwrap.dedent(code), whose, "exec")
    names: dict[str, object] = {
        "apldata": apldata,
        "np": np,
        "w": np.ones(1000),
        "store": apldata.Store("db"),
    }
    names |= {name: getattr(apldata, name) for name in apldata.__all__}
    if whose.startswith("apldata.torch"):
        torch, ours = pytest.importorskip("torch"), pytest.importorskip("apldata.torch")
        names |= {"DataLoader": ours.DataLoader, "CudaPrefetcher": ours.CudaPrefetcher}
        names["loader"] = ours.DataLoader("db", batch_size=100)
        if not torch.cuda.is_available():
            code = code.replace('"cuda"', '"cpu"')
    if whose.startswith("apldata.ray"):
        pytest.importorskip("ray")
        names |= {"work": lambda batch: batch, "schema": list(apldata.Store("db").schema)}
    if whose.startswith("apldata.callbacks"):
        names |= vars(apldata.callbacks)
        names |= {"loader": apldata.Loader("db", batch_size=100), "SummaryWriter": Mock, "Trainer": Mock}
    if whose.endswith(".lightning"):
        pytest.importorskip("lightning")
    if whose.startswith("apldata.tf"):
        names["tf"] = tensorflow = pytest.importorskip("tensorflow")
        names["model"] = tensorflow.Module()
        pytest.importorskip("apldata.tf")
    exec(compile(code, whose, "exec"), names)


def test_docstrings_are_found() -> None:
    assert {"apldata.__init__", "apldata._writer.Writer", "apldata.torch.__init__"} <= {
        whose for whose, _ in docstring_examples()
    }


def test_prose_of_docstrings_is_whole() -> None:
    """What a line break has torn apart, such as a plural's ending from the name before it."""
    torn = re.compile(r"[\w)]`+\s+(es|s)\b")
    for path in sources():
        assert not torn.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_fields_in_the_text_are_written_as_field_takes_them(page: Path) -> None:
    for code in re.findall(r"\bField\(\"[^()`]*(?:\([^()`]*\)[^()`]*)*\)", page.read_text(encoding="utf-8")):
        field = eval(code, {"Field": apldata.Field, **vars(apldata.kinds)})
        assert all(isinstance(n, int) for n in field.shape), code
        assert field.mark in ("input", "target", "name"), code
