"""What the tests share: a small drawn store, and genuine pictures where they are available."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import apldata

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("APLDATA", ROOT / "build/apldata"))  # apldata as users run it
CLASSES = ("plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
TRAIN, TEST = 1000, 300

# Threads of OpenMP that spin while they wait take the cores from the loader's own, and from other tests: five
# times the CPU seconds. PyTorch reads this when it is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# JAX takes three quarters of a GPU's memory otherwise, and tests run side by side.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# A shell's job in the background ignores Ctrl-C, as would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def draw(records: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures u8 (records, 3, 32, 32), each with some structure, and labels u8 (records,)."""
    random = np.random.default_rng(seed)
    ramp = np.arange(32, dtype=np.float64)
    slopes = random.uniform(-3, 3, (2, records, 3, 1, 1))
    plain = slopes[0] * ramp[:, None] + slopes[1] * ramp + random.uniform(60, 190, (records, 3, 1, 1))
    pictures = np.clip(plain + random.normal(0, 4, plain.shape), 0, 255).astype(np.uint8)
    return pictures, random.integers(0, len(CLASSES), records, dtype=np.uint8)


def data_file(name: str) -> Path:
    """A file of the genuine data, in $APL_DATA or ../shared/data; where it is missing the test is skipped."""
    path = Path(os.environ.get("APL_DATA", ROOT.parent / "shared/data"), name)
    if not path.is_file():
        pytest.skip(f"no genuine data at {path}")
    return path


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainers that choose a device choose the CPU, where two runs end with equal weights."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # of processes that are started
    if "accelerate" in sys.modules:  # remembers the device that another test has chosen
        sys.modules["accelerate"].state.AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture
def jax_on_cpu() -> Iterator[None]:
    """Arrays are made on the CPU, whose memory batches can share, also where there is a GPU."""
    jax = pytest.importorskip("jax")
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.fixture(scope="session")
def drawn() -> dict[str, dict[str, np.ndarray]]:
    """What `store_path` holds: of each split the arrays image u8 (n, 3, 32, 32) and label u8 (n,)."""
    splits = {}
    for split, records, seed in (("train", TRAIN, 1), ("test", TEST, 2)):
        image, label = draw(records, seed)
        splits[split] = {"image": image, "label": label}
    return splits


@pytest.fixture(scope="session")
def images(drawn: dict[str, dict[str, np.ndarray]]) -> np.ndarray:
    """Those of the split "test"."""
    return drawn["test"]["image"]


@pytest.fixture(scope="session")
def store_path(drawn: dict[str, dict[str, np.ndarray]], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of 1,000 records in "train" and 300 in "test", with class names, in blocks of 64."""
    path = str(tmp_path_factory.mktemp("stores") / "drawn")
    fields = [
        apldata.Field("image", "u8", (3, 32, 32)),
        apldata.Field("label", "u8", (), "target", classes=CLASSES),
    ]
    with apldata.Writer(path, fields, block_records=64) as writer:
        writer.extend(**drawn["train"])
        writer.begin("test")
        writer.extend(**drawn["test"])
    return path


@pytest.fixture
def store(store_path: str) -> apldata.Store:
    """The small store, opened."""
    return apldata.Store(store_path)


@pytest.fixture
def own(store_path: str, tmp_path: Path) -> apldata.Store:
    """A copy of the drawn store, beside which files can be made."""
    shutil.copytree(store_path, tmp_path / "own")
    return apldata.Store(tmp_path / "own")


@pytest.fixture(scope="session")
def genuine_archive() -> Path:
    """A sample of CIFAR-10, in its published binary layout, with fewer rows."""
    return data_file("cifar-10-binary-sample.tar.gz")


@pytest.fixture(scope="session")
def genuine_path(genuine_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of the sample: genuine pictures."""
    path = str(tmp_path_factory.mktemp("stores") / "genuine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apldata.ingest(genuine_archive, path, partial=True)
    return path


@pytest.fixture(scope="session")
def truncated_archive() -> Path:
    """An archive that ends early."""
    return data_file("cifar-10-python-truncated.tar.gz")
