"""Small fields and batches in the hands of frameworks: what may be kept, and what is a tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Field, Store

ROWS, BATCH, BUDGET = 2000, 10, 7_000_000  # of which few batches can be lent


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of pictures of noise, with two targets: a number, and a float."""
    made = tmp_path_factory.mktemp("stores") / "targets"
    fields = [
        Field("image", "u8", (3, 8, 8)),
        Field("label", "u8", (), "target"),
        Field("price", "f32", (2,), "target"),
    ]
    random = np.random.default_rng(1)
    with apldata.Writer(made, fields) as writer:
        writer.extend(
            image=random.integers(0, 255, (ROWS, 3, 8, 8), np.uint8),
            label=np.arange(ROWS) % 10,
            price=np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2),
        )
    return str(made)


def right(labels: Any, prices: Any) -> bool:
    return np.array_equal(np.concatenate(labels), np.arange(ROWS) % 10) and np.array_equal(
        np.concatenate(prices), np.arange(2 * ROWS).reshape(ROWS, 2)
    )


def test_targets_can_be_kept_in_torch(path: str) -> None:
    torch = pytest.importorskip("torch")
    from apldata.torch import DataLoader

    with DataLoader(path, BATCH, memory_budget=BUDGET) as loader:
        kept = [(label, price) for _, label, price in loader]
        assert right([label for label, _ in kept], [price for _, price in kept])
        with pytest.raises(apldata.LentError, match=r"clone\(\) those you want to keep.*memory_budget"):
            [image for image, *_ in loader]
    assert isinstance(kept[0][1], torch.Tensor)


def test_targets_can_be_kept_in_jax(path: str, jax_on_cpu: None) -> None:
    from apldata.jax import DataLoader

    with DataLoader(path, batch_size=BATCH, shuffle=False, memory_budget=BUDGET) as loader:
        kept = [(batch["label"], batch["price"]) for batch in loader]
        assert right([label for label, _ in kept], [price for _, price in kept])
        with pytest.raises(apldata.LentError, match=r"x \+ 0.*memory_budget"):
            [batch["image"] for batch in loader]


def test_targets_can_be_kept_in_tensorflow(path: str) -> None:
    pytest.importorskip("tensorflow")
    import apldata.tf

    with apldata.Loader(path, batch_size=BATCH, shuffle=False, memory_budget=BUDGET) as loader:
        kept = [(batch["label"], batch["price"]) for batch in apldata.tf.batches(loader)]
        assert right([label for label, _ in kept], [price for _, price in kept])


def test_pinned_small_targets(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their copies lie in memory that nobody has pinned, so that torch pins copies of them."""
    torch = pytest.importorskip("torch")
    from apldata.torch import _pinned

    pinned: list[Any] = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: pinned.append(self) or self.clone())
    loans, batch = _pinned.Loans(), Store(path).get(range(5))
    price = loans.lend(batch.column("price"))
    assert torch.equal(price, torch.arange(10.0).reshape(5, 2)) and len(pinned) == 1
    monkeypatch.setattr(torch.cuda, "Event", None)  # what the device is told when the image goes
    assert loans.lend(batch.column("image")).shape == (5, 3, 8, 8) and len(pinned) == 1


def test_a_tree_to_jax(path: str) -> None:
    jax = pytest.importorskip("jax")
    batch = Store(path).get(range(4))
    shapes = jax.tree.map(np.shape, batch)
    assert type(shapes) is dict and shapes == {"image": (4, 3, 8, 8), "label": (4,), "price": (4, 2)}
    paths = [jax.tree_util.keystr(key) for key, _ in jax.tree_util.tree_leaves_with_path(batch)]
    assert paths == ["['image']", "['label']", "['price']"]
    assert jax.jit(lambda b: b["label"].sum())(batch) == 6
    assert set(jax.device_put(batch)) == {"image", "label", "price"}


def test_a_tree_to_torch(path: str) -> None:
    pytest.importorskip("torch")
    from torch.utils import _pytree as tree

    batch = Store(path).get(range(4))
    shapes = tree.tree_map(np.shape, batch)
    assert type(shapes) is dict and shapes == {"image": (4, 3, 8, 8), "label": (4,), "price": (4, 2)}
    assert [key[0].key for key, _ in tree.tree_leaves_with_path(batch)] == ["image", "label", "price"]


def test_a_mapping_to_torch(path: str) -> None:
    """torch's own way to move what a loader gives rebuilds mappings by their type."""
    torch = pytest.importorskip("torch")
    from torch.utils.data._utils.pin_memory import pin_memory

    batch = Store(path).get(range(4))
    moved = pin_memory(batch)
    assert {name: value is batch[name] for name, value in moved.items()} == dict.fromkeys(batch, True)
    collated = torch.utils.data.default_collate([dict(batch.items()) for _ in range(3)])
    assert collated["image"].shape == (3, 4, 3, 8, 8)


def test_a_framework_that_is_imported_later(path: str) -> None:
    """Batches are trees from the next epoch, or the next store, on; of torch, see test_torch_parts.py."""
    pytest.importorskip("jax")
    code = f"""
import apldata
loader = apldata.Loader({path!r}, batch_size=100)
from jax.tree_util import tree_leaves
assert len(tree_leaves(next(iter(loader)))) == 3
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(apldata.__file__).parents[1])
