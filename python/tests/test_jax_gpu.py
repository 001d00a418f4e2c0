"""apldata.jax on a GPU, where there is one: the same batches, which the loop may keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")


def gpus() -> list[Any]:
    try:
        return list(jax.devices("gpu"))
    except RuntimeError:
        return []


if not gpus():
    pytest.skip("JAX has no GPU here", allow_module_level=True)

import apldata  # noqa: E402
from apldata.jax import DataLoader, arrays  # noqa: E402
from apldata.transforms import Normalize, RandomCrop, RandomFlip, ToBFloat16  # noqa: E402

AUGMENTED = [RandomCrop(28, padding=2), RandomFlip(), Normalize()]


@pytest.mark.parametrize("transforms", [[], AUGMENTED, [*AUGMENTED, ToBFloat16()]], ids=["u8", "f32", "bf16"])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_batches_are_those_of_the_loader(store_path: str, transforms: list[Any], prefetch: int) -> None:
    options: dict[str, Any] = {"split": "train", "batch_size": 96, "seed": 5, "transforms": transforms}
    made = DataLoader(store_path, device="gpu", prefetch=prefetch, **options)
    plain = apldata.Loader(store_path, **options)
    kept: list[tuple[Any, dict[str, np.ndarray]]] = []
    with made, plain:
        for _ in range(2):
            for batch, expected in zip(made, plain, strict=True):
                assert batch["image"].devices() == {gpus()[0]}
                kept.append((batch, {name: np.array(expected[name]) for name in expected}))
                assert made.state_dict() == plain.state_dict()
    for batch, values in kept:  # long after the loader has gone on
        assert all(np.array_equal(np.asarray(batch[name]), values[name]) for name in values)


def test_batches_go_to_the_default_device(store_path: str) -> None:
    with DataLoader(store_path, "train", 100) as loader:
        assert next(iter(loader))["image"].devices() == {gpus()[0]}
    assert arrays(apldata.Store(store_path)[3:9])["image"].devices() == {gpus()[0]}


def test_more_batches_are_kept_than_the_host_could_lend(store_path: str) -> None:
    with DataLoader(store_path, "train", 10, device="gpu", memory_budget=7_400_000) as loader:
        kept = [batch["image"] for _ in range(5) for batch in loader]
    assert len(kept) == 500
