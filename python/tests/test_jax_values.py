"""What JAX would round, cut or make infinite."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FLAGS = os.environ.get("XLA_FLAGS", "")
if "host_platform_device_count" not in FLAGS:
    os.environ["XLA_FLAGS"] = f"{FLAGS} --xla_force_host_platform_device_count=4".strip()
jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import apldata  # noqa: E402
from apldata.jax import DataLoader  # noqa: E402

pytestmark = pytest.mark.usefixtures("jax_on_cpu")
several = pytest.mark.skipif(len(jax.devices("cpu")) < 4, reason="JAX was started with fewer than 4 devices")


@pytest.mark.parametrize("shape", [(), (100,)], ids=["small", "lent"])
def test_whole_numbers_that_do_not_fit_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Without its 64-bit mode, JAX cuts them: 2^32 + 1 becomes 1."""
    fields = {"user": apldata.Field("user", "i64", shape), "x": "f32"}
    with apldata.Writer(tmp_path / "s", fields) as writer:
        for split, user in (("fits", 2**31 - 1), ("large", 2**32 + 1), ("low", -(2**31) - 1)):
            writer.begin(split)
            writer.append(user=np.full(shape, user), x=1)
    fits = next(iter(DataLoader(tmp_path / "s", "fits", 1)))["user"]
    assert fits.dtype == jnp.int32 and (fits == 2**31 - 1).all()
    refused = (
        "field user: 4294967297 does not fit int32: set jax_enable_x64, or leave the field out of `fields`"
    )
    with pytest.raises(apldata.InvalidError, match=refused):
        next(iter(DataLoader(tmp_path / "s", "large", 1)))
    with pytest.raises(apldata.InvalidError, match="-2147483649 does not fit int32"):
        next(iter(DataLoader(tmp_path / "s", "low", 1)))
    with DataLoader(tmp_path / "s", "large", 1, fields="x") as loader:
        assert [batch["x"].tolist() for batch in loader] == [[1]]
    jax.config.update("jax_enable_x64", True)
    try:
        (batch,) = DataLoader(tmp_path / "s", "large", 1)
        assert batch["user"].dtype == jnp.int64 and (np.asarray(batch["user"]) == 2**32 + 1).all()
    finally:
        jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("shape", [(), (100,)], ids=["small", "lent"])
def test_floats_are_not_made_infinite_and_a_warning_tells_that_they_are_rounded(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    """Without its 64-bit mode, JAX makes f32 of f64."""
    with apldata.Writer(tmp_path / "s", {"x": apldata.Field("x", "f64", shape), "y": "f32"}) as writer:
        for split, x in (("fits", [1e38, np.inf][len(shape)]), ("large", -1e300)):
            writer.begin(split)
            writer.append(x=np.full(shape, x), y=1)
    told = r"s: JAX rounds f64 to f32 \(fields: x\): set jax_enable_x64 to keep them"
    with pytest.warns(UserWarning, match=told) as told_of, DataLoader(tmp_path / "s", "fits", 1) as loader:
        assert len(told_of) == 1 and told_of[0].filename == __file__
        assert next(iter(loader))["x"].dtype == jnp.float32
    with pytest.warns(UserWarning, match=told):
        large = DataLoader(tmp_path / "s", "large", 1)
    with (
        large,
        pytest.raises(apldata.InvalidError, match=r"field x: -1e\+300 does not fit float32: set jax_"),
    ):
        next(iter(large))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with DataLoader(tmp_path / "s", "large", 1, fields="y") as loader:
            assert next(iter(loader))["y"].tolist() == [1]


def test_labels_that_label_dtype_cannot_hold_are_refused(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", [apldata.Field("label", "i64", (), "target")]) as writer:
        writer.append(label=256)
    with pytest.raises(
        apldata.InvalidError, match="field label: 256 does not fit uint8: choose another label_d"
    ):
        next(iter(DataLoader(tmp_path / "s", batch_size=1, label_dtype="uint8")))
    (batch,) = DataLoader(tmp_path / "s", batch_size=1, label_dtype="uint16")
    assert batch["label"].dtype == jnp.uint16 and batch["label"].tolist() == [256]


@pytest.mark.parametrize("dtype", ["float32", "float16", jnp.bfloat16, "float64", "bool", "complex64"])
def test_labels_that_label_dtype_would_round_are_refused(tmp_path: Path, dtype: Any) -> None:
    """float64 becomes float32."""
    exact = 1 if dtype == "bool" else 256
    with apldata.Writer(tmp_path / "s", [apldata.Field("label", "i64", (), "target")]) as writer:
        for split, labels in (("exact", [exact, 0]), ("large", [2**24 + 1, 0]), ("huge", [2**62 + 1, 0])):
            writer.begin(split)
            writer.extend(label=labels)
    options = {"batch_size": 2, "shuffle": False, "label_dtype": dtype}
    (batch,) = DataLoader(tmp_path / "s", "exact", **options)
    assert batch["label"].dtype != jnp.int32 and batch["label"].tolist() == [exact, 0]
    for split, label in (("large", 2**24 + 1), ("huge", 2**62 + 1)):
        with pytest.raises(apldata.InvalidError, match=f"field label: {label} does not fit .* exactly: "):
            next(iter(DataLoader(tmp_path / "s", split, **options)))


def test_a_label_dtype_of_no_numbers_is_refused(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", [apldata.Field("label", "i64", (), "target")]) as writer:
        writer.append(label=1)
    with pytest.raises(
        apldata.InvalidTypeError, match="label_dtype must be a dtype of NumPy's or JAX's for num"
    ):
        DataLoader(tmp_path / "s", label_dtype="U3")


LOST = {
    "uint64": (np.array([2**33, 1], np.uint64), "8589934592 does not fit uint32"),
    "int64": (np.array([[-(2**40)]]), "-1099511627776 does not fit int32"),
    "scalar": (np.int64(2**40), "1099511627776 does not fit int32"),
    "number": (2**40, "1099511627776 does not fit int32"),
    "float64": (np.array([1.0, np.inf, 1e300]), r"1e\+300 does not fit float32"),
    "float": (1e300, r"1e\+300 does not fit float32"),
    "complex": (np.array([1e300j]), r"1e\+300 does not fit float32"),
}


@pytest.mark.parametrize("elsewhere", [False, pytest.param(True, marks=several)], ids=["lent", "put"])
@pytest.mark.parametrize("kind", LOST)
def test_what_functions_make_is_not_cut(store_path: str, kind: str, elsewhere: bool) -> None:
    """Wherever they put it."""
    value, told = LOST[kind]

    def adds(batch: Any) -> None:
        batch["z"] = value

    device = jax.devices("cpu")[1] if elsewhere else None
    for function, place in (
        (lambda batch: value, ""),
        (lambda batch: (batch["label"], {"z": value}), r", at \[1\]\['z'\]"),
        (lambda batch: apldata.RaggedArray(value, np.array([0, 1])), ", at .*"),
    ):
        with (
            DataLoader(store_path, "test", 10, transforms=[function], device=device) as loader,
            pytest.raises(
                apldata.InvalidError,
                match=f"what functions return{place}: {told}: set jax_enable_x64, or convert it",
            ),
        ):
            next(iter(loader))
    with (
        DataLoader(store_path, "test", 10, transforms=[adds], device=device) as loader,
        pytest.raises(apldata.InvalidError, match=f"field z: {told}"),
    ):
        next(iter(loader))


def test_what_functions_make_is_kept_if_it_fits(store_path: str) -> None:
    made = {
        "int": 2**31 - 1,
        "float": np.float64(1e38),
        "inf": np.array([np.inf]),
        "bool": True,
        "jax": jnp.ones(3),
    }
    with DataLoader(store_path, "test", 10, transforms=[lambda batch: made]) as loader:
        batch = next(iter(loader))
    assert {name: array.dtype for name, array in batch.items()} == {
        "int": jnp.int32, "float": jnp.float32, "inf": jnp.float32, "bool": jnp.bool_, "jax": jnp.float32,
    }  # fmt: skip
    assert batch["int"] == 2**31 - 1
