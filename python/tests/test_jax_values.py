"""What JAX would round, cut or make infinite."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import apldata  # noqa: E402
from apldata.jax import DataLoader  # noqa: E402

pytestmark = pytest.mark.usefixtures("jax_on_cpu")


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
