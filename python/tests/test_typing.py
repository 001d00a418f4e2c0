"""What type checkers, editors and star imports see of the package."""

from __future__ import annotations

import builtins
import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Loader, Store, Writer, _core, _errors
from apldata._options import DatasetOptions, LoaderOptions, RecordOptions

SOURCE = Path(_core.__file__).parent.parent
FRAMEWORKS = ("jax", "tensorflow", "torch")

# Each line is right, or has an error that must be found in it.
SCRIPT = """
import apldata
from apldata import Loader, Sampling
Loader("db", "train", batch_size=3, sampling=Sampling("label"), ids=[1, 2], mix=["other"])
Loader("db", batch_sze=3)  # error: batch_sze
for batch in Loader("db"):
    images = batch["image"]
batch = apldata.Store("db").get([1, 2])
rows: int = batch.rows
values: list[object] = list(batch.values())
wrong: str = batch.rows  # error: str
"""
OPTIONS = """
from apldata.{module} import {name}
{name}("db", seed=1, sampling=None, window=5, ids=[1], mix=["other"])
{name}("db", windw=5)  # error: windw
{name}("db", window="large")  # error: window
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy has found out about frameworks, which takes it long."""
    return tmp_path_factory.mktemp("mypy")


def check(cache: Path, *what: str, python: str = sys.executable) -> str:
    """What mypy, strict, has to say."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "--no-error-summary"]
    alone = cache / "alone"  # mypy does not run in a folder of installed packages, itself among them
    if not alone.is_dir():
        alone.mkdir()
        (alone / "apldata").symlink_to(SOURCE / "apldata")
    told = subprocess.run(
        [*command, "--config-file=", f"--cache-dir={cache}", *what],
        cwd=alone, capture_output=True, text=True,
    )  # fmt: skip
    return told.stdout + told.stderr


def test_the_package_is_typed(cache: Path) -> None:
    assert check(cache, "-p", "apldata") == ""


def test_the_package_is_typed_without_frameworks(tmp_path: Path) -> None:
    """In an environment that has NumPy alone."""
    venv.create(tmp_path / "bare", with_pip=False)
    (site,) = (tmp_path / "bare").glob("lib/python*/site-packages")
    (site / "numpy").symlink_to(Path(np.__file__).parent)
    assert check(tmp_path, "-p", "apldata", python=str(tmp_path / "bare/bin/python")) == ""


def test_mistakes_in_scripts_are_found(tmp_path: Path, cache: Path) -> None:
    scripts = {"plain": SCRIPT}
    for module, name in (("torch", "DataLoader"), ("jax", "DataLoader"), ("tf", "dataset")):
        if importlib.util.find_spec({"tf": "tensorflow"}.get(module, module)):
            scripts[module] = OPTIONS.format(module=module, name=name)
    paths = []
    for name, text in scripts.items():
        paths.append(tmp_path / f"{name}_script.py")
        paths[-1].write_text(text)
    told = check(cache, *map(str, paths))
    wanted = [
        (path.name, line, text.rpartition("# error: ")[2])
        for path in paths
        for line, text in enumerate(path.read_text().splitlines(), 1)
        if "# error: " in text
    ]
    errors = [line for line in told.splitlines() if "_script.py:" in line and ": error: " in line]
    assert len(errors) == len(wanted), told
    errors.sort(key=lambda error: (error.split(":")[0], int(error.split(":")[1])))
    for (name, at, word), error in zip(sorted(wanted), errors, strict=True):
        assert f"{name}:{at}: " in error and word in error


def test_options_are_those_of_the_loader() -> None:
    """By name and type: what is passed on is stated only once more."""
    own = inspect.signature(Loader.__init__).parameters
    for options in (RecordOptions, LoaderOptions, DatasetOptions):
        for kind in options.__mro__:
            for name, type_ in inspect.get_annotations(kind).items():
                assert own[name].annotation == str(type_.__forward_arg__)
    everything = {name for kind in DatasetOptions.__mro__ for name in inspect.get_annotations(kind)}
    assert {*own} - everything == {"self", "db", "split", "batch_size", "fields", "socket"}


def test_what_all_has(store_path: str) -> None:
    names: dict[str, Any] = {}
    exec("from apldata import *", names)
    assert not {*names} & {*dir(builtins)} - {"__builtins__", "__name__", "__doc__"}
    assert {*apldata.__all__} <= {*names}
    assert apldata.IOError is apldata.StorageError and issubclass(apldata.StorageError, OSError)
    assert apldata.TimeoutError is apldata.TimedOutError
    assert issubclass(apldata.TimedOutError, builtins.TimeoutError)
    for kind in (apldata.StorageError, apldata.TimedOutError):
        assert type(pickle.loads(pickle.dumps(kind("what")))) is kind


def test_typing_errors_in_names(store_path: str, tmp_path: Path) -> None:
    meant = r"^Loader has no argument 'batch_sze': did you mean 'batch_size'\?$"
    with pytest.raises(apldata.InvalidTypeError, match=meant):
        Loader(store_path, batch_sze=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^Loader has no argument 'quux'$"):
        Loader(store_path, quux=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Writer has no argument 'shufle': did you mean 'shuffle'"):
        Writer(tmp_path / "s", {"x": "u8"}, shufle=1)  # type: ignore[call-arg]
    assert "batch_size" in inspect.signature(Loader).parameters


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_frameworks_take_known_names_alone(store_path: str, framework: str) -> None:
    pytest.importorskip(framework)
    module = importlib.import_module(f"apldata.{ {'tensorflow': 'tf'}.get(framework, framework) }")
    make = module.dataset if framework == "tensorflow" else module.DataLoader
    with pytest.raises(apldata.InvalidTypeError, match="has no argument 'windw': did you mean 'window'"):
        make(store_path, windw=5)
    with pytest.raises(apldata.InvalidError, match="fields must be a list of at least one name"):
        make(store_path, fields=[])
    made = make(store_path, batch_size=100, seed=3, ids=range(50), window=128)
    assert len(made) == 1


def test_no_fields_are_ids_alone(store_path: str) -> None:
    with Loader(store_path, fields=[], batch_size=300) as loader:
        assert next((len(batch), batch.rows, len(batch.ids)) for batch in loader) == (0, 300, 300)


def test_devices_that_are_not_there(store_path: str) -> None:
    """Found when the loader is made."""
    jax = pytest.importorskip("jax")
    from apldata.jax import DataLoader, arrays

    for wrong in ("gpu", "quantum"):
        if wrong == "gpu" and jax.default_backend() == "gpu":
            continue
        with pytest.raises(apldata.InvalidError, match=r"device must be .*\(here: 'cpu'.*\); got '" + wrong):
            DataLoader(store_path, device=wrong)
    with pytest.raises(TypeError, match="device must be"):
        DataLoader(store_path, device=3)  # type: ignore[arg-type]
    with DataLoader(store_path, device="cpu") as loader:
        assert next(iter(loader))["image"].devices() == {jax.local_devices(backend="cpu")[0]}
    assert arrays(Store(store_path).get([1]), "cpu")["label"].shape == (1,)


def test_statuses_are_those_of_the_library() -> None:
    """The classes of errors are made before the extension is, and tell their numbers themselves."""
    header = next((p for p in Path(__file__).parents[2].glob("include/apl/status.h")), None)
    if header is None:
        pytest.skip("no header here")
    found = re.findall(r"^    APL_E_\w+ = (\d+)", header.read_text(), re.MULTILINE)
    assert {*_errors._KINDS} <= {*map(int, found)} and len(found) > 15
