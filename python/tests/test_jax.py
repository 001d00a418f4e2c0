"""apldata.jax: batches as jax.Array, on one device, on several, and over processes."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from memory_tools import check_memory

FLAGS = os.environ.get("XLA_FLAGS", "")
# Several devices, which the host plays; read when JAX is first used.
if "host_platform_device_count" not in FLAGS:
    os.environ["XLA_FLAGS"] = f"{FLAGS} --xla_force_host_platform_device_count=4".strip()
jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

import apldata  # noqa: E402
from apldata.jax import DataLoader, arrays  # noqa: E402
from apldata.transforms import ChannelsLast, Normalize, RandomCrop, RandomFlip, ToBFloat16, ToFloat16  # noqa: E402

pytestmark = pytest.mark.usefixtures("jax_on_cpu")

AUGMENTED = [RandomCrop(28, padding=2), RandomFlip(), Normalize()]
several = pytest.mark.skipif(len(jax.devices("cpu")) < 4, reason="JAX was started with fewer than 4 devices")

TIGHT = 7_400_000  # bytes: all of the shared store, and some small batches


def address(array) -> int:
    return np.asarray(array).__array_interface__["data"][0]


def same(batch, expected) -> bool:
    return list(batch) == list(expected) and all(
        batch[name].shape == expected[name].shape
        and batch[name].dtype == expected[name].dtype
        and np.array_equal(np.asarray(batch[name]), expected[name])
        for name in batch
    )


def other_device():
    return jax.devices("cpu")[1]


def rows_over(devices) -> NamedSharding:
    return NamedSharding(Mesh(np.array(devices), ("rows",)), PartitionSpec("rows"))


@pytest.fixture(scope="session")
def uneven_path(tmp_path_factory) -> str:
    """A store with text, a field of varying length and a whole number of 64 bits."""
    path = str(tmp_path_factory.mktemp("stores") / "uneven")
    schema = {"x": ("f32", (2,)), "sound": ("i16", (-1,)), "name": str, "number": "i64"}
    with apldata.Writer(path, schema) as writer:
        for i in range(42):
            writer.append(
                x=np.full(2, i, np.float32), sound=np.arange(i % 5, dtype=np.int16), name=f"n{i}", number=i
            )
    return path


# -------------------------------------------------------------------------------------- on the CPU


@pytest.mark.parametrize(
    "transforms",
    [[], AUGMENTED, [*AUGMENTED, ToFloat16()], [*AUGMENTED, ToBFloat16()], [Normalize(), ChannelsLast()]],
    ids=["u8", "f32", "f16", "bf16", "channels last"],
)
def test_batches_are_those_of_the_loader(store_path, transforms):
    options = {"split": "train", "batch_size": 96, "seed": 5, "transforms": transforms}
    with DataLoader(store_path, **options) as loader, apldata.Loader(store_path, **options) as plain:
        assert len(loader) == len(plain) == 11
        for _ in range(2):
            steps = 0
            for batch, expected in zip(loader, plain, strict=True):
                assert all(isinstance(array, jax.Array) for array in batch.values())
                assert same(batch, expected)
                steps += 1
            assert steps == 11


def test_memory_is_shared(store):
    batch = store.get(range(64))
    made = arrays(batch)
    assert all(made[name].unsafe_buffer_pointer() == address(batch[name]) for name in batch)
    with DataLoader(store, batch_size=128, transforms=[ToBFloat16()]) as loader:
        seen = []
        convert = loader._pass.source.placement
        loader._pass.source.placement = lambda batch: (
            seen.append(address(batch.column("image").bits())),
            convert(batch),
        )[1]
        for batch in loader:
            assert batch["image"].unsafe_buffer_pointer() == seen[-1]
            assert seen[-1] % 64 == 0


def test_arrays_outlive_batch_and_loader(store_path, drawn):
    loader = DataLoader(store_path, "train", 64, shuffle=False)
    held = [batch["image"] for batch, _ in zip(loader, range(5), strict=False)]
    loader.close()
    del loader
    gc.collect()
    assert np.array_equal(np.concatenate(held), drawn["train"]["image"][:320])
    derived = jax.jit(lambda x: x.astype(jnp.int32).sum())(held[0])
    del held
    assert int(derived) == int(drawn["train"]["image"][:64].sum(dtype=np.int64))


def test_a_held_array_is_not_overwritten(store_path):
    with DataLoader(store_path, "train", 32, seed=2) as loader:
        batches = iter(loader)
        kept = next(batches)["image"]
        copy = np.array(kept)
        for _ in range(5):
            for _ in batches:
                pass
            batches = iter(loader)
        assert np.array_equal(kept, copy)


def test_a_donated_array(store_path):
    """Its memory is the batch's, and must not live on in the result after the batch has come back."""
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    with DataLoader(store_path, "train", 50, transforms=[Normalize()]) as loader:
        batches = iter(loader)
        batch = next(batches)
        expected = np.array(batch["image"]) + 1
        result = step(batch["image"])
        del batch
        for _ in batches:
            pass
        for _ in loader:
            pass
        assert np.array_equal(result, expected)


def test_holding_too_many_batches_is_an_error(store_path):
    with DataLoader(store_path, "train", 10, memory_budget=TIGHT) as loader:
        held = []
        begun = time.monotonic()
        with pytest.raises(apldata.LentError):
            held.extend(loader)
        assert held
        assert time.monotonic() - begun < 20


@pytest.mark.parametrize("functions", [[], [lambda batch: None]], ids=["lent", "function"])
def test_a_loop_that_runs_ahead_of_its_computations(store_path, functions):
    """They hold batches that Python has released."""

    @jax.jit
    def slow(x, wide):
        return (x.astype(jnp.float32).sum() * (wide @ wide @ wide)).sum()

    wide = jnp.ones((400, 400))
    with DataLoader(store_path, "train", 10, transforms=functions) as loader:
        results = [slow(batch["image"], wide) for batch in loader]
    assert len(results) == 100
    assert all(jnp.isfinite(result) for result in results)


@several
def test_patience_ends(store_path, monkeypatch):
    monkeypatch.setattr("apldata.jax._PATIENCE", 0.2)
    with DataLoader(store_path, "train", 10, device=other_device(), memory_budget=TIGHT) as loader:
        held = []
        with pytest.raises(apldata.LentError):
            held.extend(loader)
        held.clear()
        assert sum(1 for _ in loader) == 100


def test_training_over_an_epoch_agrees_with_numpy(store_path):
    """Logistic regression by jit and grad, against the same in NumPy."""
    options = {"split": "train", "batch_size": 100, "seed": 3, "transforms": [Normalize()]}

    def loss(weights, x, y):
        scores = x.reshape(len(x), -1) @ weights
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None].astype(jnp.int32), 1).mean()

    step = jax.jit(lambda w, x, y: w - 0.01 * jax.grad(loss)(w, x, y))
    weights = jnp.zeros((3072, 10), jnp.float32)
    with DataLoader(store_path, **options) as loader:
        for batch in loader:
            weights = step(weights, batch["image"], batch["label"])
    expected = np.zeros((3072, 10))
    with apldata.Loader(store_path, **options) as plain:
        for batch in plain:
            x, y = batch["image"].reshape(batch.rows, -1).astype(np.float64), batch["label"]
            scores = np.exp(x @ expected)
            wrong = scores / scores.sum(1, keepdims=True) - np.eye(10)[y]
            expected -= 0.01 * x.T @ wrong / len(x)
    assert np.abs(weights).max() > 0.001
    np.testing.assert_allclose(weights, expected, atol=2e-5)


def test_labels_can_be_converted(store_path, drawn):
    with DataLoader(store_path, "test", 100, shuffle=False, label_dtype="int32") as loader:
        labels = [batch["label"] for batch in loader]
    assert all(array.dtype == jnp.int32 for array in labels)
    assert np.array_equal(np.concatenate(labels), drawn["test"]["label"])


def test_text_and_varying_fields(uneven_path):
    with DataLoader(uneven_path, batch_size=8, shuffle=False) as loader:
        batch = next(iter(loader))
        assert list(batch) == ["x", "number"]
        assert np.array_equal(batch["number"], np.arange(8))
    for name in "sound", "name":
        with pytest.raises(apldata.InvalidError, match=f"field {name} is .*JAX"):
            DataLoader(uneven_path, fields=["x", name])

    def padded(batch):
        sounds = batch["sound"]
        batch["sound"] = np.stack([np.pad(sound, (0, 5 - len(sound))) for sound in sounds])

    with DataLoader(uneven_path, batch_size=5, shuffle=False, transforms=[padded]) as loader:
        batch = next(iter(loader))
        assert list(batch) == ["x", "sound", "number"]
        assert np.array_equal(batch["sound"][4], [0, 1, 2, 3, 0])


def test_functions(store_path, drawn):
    def inverted(batch):
        batch["image"][:] = 255 - batch["image"]
        batch["mean"] = batch["image"].mean((1, 2, 3))

    with DataLoader(store_path, "test", 60, shuffle=False, transforms=[inverted]) as loader:
        batches = list(loader)
    image = 255 - drawn["test"]["image"]
    assert np.array_equal(np.concatenate([b["image"] for b in batches]), image)
    np.testing.assert_allclose(np.concatenate([b["mean"] for b in batches]), image.mean((1, 2, 3)), rtol=1e-6)
    with DataLoader(
        store_path, "test", 60, shuffle=False, transforms=[lambda b: (b["label"], {"n": np.int32(3)})]
    ) as loader:
        labels, other = next(iter(loader))
        assert isinstance(labels, jax.Array)
        assert isinstance(other["n"], jax.Array)
        assert np.array_equal(labels, drawn["test"]["label"][:60])


# ------------------------------------------------------------------------------------------- state


def placements():
    yield pytest.param({}, id="lent")
    yield pytest.param({"transforms": [lambda batch: None]}, id="function")
    for prefetch in 0, 1, 2, 5:
        yield pytest.param(
            {"prefetch": prefetch, "elsewhere": True}, id=f"prefetch {prefetch}", marks=several
        )


@pytest.mark.parametrize("options", placements())
def test_state_round_trips_at_every_batch(store_path, options):
    options = dict(options)
    if options.pop("elsewhere", False):
        options["device"] = other_device()
    options |= {"split": "train", "batch_size": 128, "seed": 9}
    with DataLoader(store_path, **options) as loader, DataLoader(store_path, **options) as resumed:
        batches = [np.array(batch["label"]) for _ in range(2) for batch in loader]
        loader.set_epoch(0)
        states = [loader.state_dict()]
        for _ in range(2):
            for _ in loader:
                states.append(loader.state_dict())
        assert len(states) == len(batches) + 1
        for at, state in enumerate(states[:-1]):
            resumed.load_state_dict(state)
            assert resumed.state_dict()["state"] == state["state"]
            left = -at % len(loader) if at else len(loader)  # of its epoch, which the last batch ends
            following = [np.array(batch["label"]) for batch in resumed]
            assert len(following) == left
            assert all(map(np.array_equal, following, batches[at:]))


@several
def test_prefetch_ends_with_the_epoch_a_break_and_close(store_path):
    with DataLoader(store_path, "train", 100, device=other_device()) as loader:
        assert [sum(1 for _ in loader) for _ in range(2)] == [10, 10]
        for _ in loader:
            break
        assert loader.epoch == 2
        first = next(iter(loader))
        assert loader.epoch == 3
        assert first["image"].devices() == {other_device()}
    assert first["label"].shape == (100,)


# --------------------------------------------------------------------------------------- sharding


@several
def test_sharded_over_devices(store_path):
    sharding = rows_over(jax.devices("cpu")[:4])
    options = {"split": "train", "batch_size": 64, "seed": 1, "transforms": AUGMENTED, "drop_last": True}
    with (
        DataLoader(store_path, sharding=sharding, **options) as loader,
        apldata.Loader(store_path, **options) as plain,
    ):
        total = jax.jit(lambda x: x.sum((1, 2, 3)))
        for batch, expected in zip(loader, plain, strict=True):
            assert same(batch, expected)
            assert all(array.sharding.is_equivalent_to(sharding, array.ndim) for array in batch.values())
            assert {shard.data.shape[0] for shard in batch["image"].addressable_shards} == {16}
            np.testing.assert_allclose(
                total(batch["image"]), expected["image"].sum((1, 2, 3)), rtol=1e-3, atol=1e-2
            )


@several
def test_batches_that_cannot_be_divided(store_path, uneven_path):
    sharding = rows_over(jax.devices("cpu")[:4])
    with pytest.raises(apldata.InvalidError, match=r"a batch of 63 rows .*4 parts.*drop_last"):
        DataLoader(store_path, "train", 63, sharding=sharding, drop_last=True)
    with pytest.raises(apldata.InvalidError, match=r"a batch of 2 rows .*4 parts.*drop_last"):
        DataLoader(uneven_path, batch_size=8, sharding=sharding)
    loader = DataLoader(uneven_path, batch_size=8, sharding=sharding, drop_last=True)
    with loader, pytest.raises(apldata.InvalidError, match="a batch of 3 rows cannot be divided"):
        loader._placement(loader.store.get(range(3), ["x"]))


@several
def test_a_short_batch_that_can_be_divided(store_path):
    sharding = rows_over(jax.devices("cpu")[:4])
    with DataLoader(store_path, "train", 96, sharding=sharding) as loader:
        assert [len(batch["label"]) for batch in loader] == [96] * 10 + [40]


def test_device_and_sharding_exclude_each_other(store_path):
    device = jax.devices("cpu")[0]
    with pytest.raises(apldata.InvalidError, match="one of the two"):
        DataLoader(store_path, device=device, sharding=rows_over([device]))
    with pytest.raises(apldata.InvalidError, match="prefetch"):
        DataLoader(store_path, prefetch=-1)


PROCESS = """
import sys
import numpy as np
import jax
jax.distributed.initialize(f"localhost:{sys.argv[1]}", 2, int(sys.argv[2]))
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import apldata
from apldata.jax import DataLoader

sharding = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows"))
assert len(jax.devices()) == 4 and len(jax.local_devices()) == 2
try:
    DataLoader(sys.argv[3], "train", 64, sharding=sharding)
    raise SystemExit("short batches were taken")
except apldata.InvalidError as error:
    assert "drop_last" in str(error)
loader = DataLoader(sys.argv[3], "train", 64, sharding=sharding, drop_last=True, fields=["label"])
everywhere = NamedSharding(sharding.mesh, PartitionSpec())
total_of = jax.jit(lambda x: x.astype("float32").sum(), out_shardings=everywhere)
total, rows = 0.0, 0
for batch in loader:
    rows += batch["label"].shape[0]
    total += float(total_of(batch["label"]))
print(len(loader), rows, int(total))
"""


def test_sharded_over_processes(store_path, drawn):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    environment = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(Path(apldata.__file__).parents[1]),
    }
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, port, str(rank), store_path],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = []
    for child in children:
        out, err = child.communicate(timeout=180)
        assert child.returncode == 0, err[-2000:]
        said.append(out.splitlines()[-1].split())
    assert said[0] == said[1]
    steps, rows, total = map(int, said[0])
    assert (steps, rows) == (7, 7 * 128)
    assert 0 < total <= int(drawn["train"]["label"].sum(dtype=np.int64))


# ------------------------------------------------------------------------------------------- leaks


@pytest.mark.parametrize("elsewhere", [False, pytest.param(True, marks=several)], ids=["lent", "put"])
def test_memory_does_not_grow(store_path, elsewhere):
    device = other_device() if elsewhere else None
    with DataLoader(store_path, "train", 20, transforms=[Normalize()], device=device) as loader:

        def run(epochs: int) -> None:
            for _ in range(epochs):
                for batch in loader:
                    batch["image"].block_until_ready()

        check_memory(run)


def test_values_of_varying_shape_are_collated(tmp_path: Path) -> None:
    from collate_tools import COUNT, make

    db = make(tmp_path / "db")
    rows = 0
    collate = {"tokens": apldata.Pad(11), "boxes": apldata.Ragged()}
    for batch in DataLoader(db, batch_size=8, collate=collate):
        assert isinstance(batch["tokens"], jax.Array) and batch["tokens"].shape[1] == 11
        assert isinstance(batch["boxes"], apldata.RaggedArray)
        summed = jax.jit(lambda ragged: ragged.values.sum())(batch["boxes"])
        assert float(summed) == float(batch["boxes"].values.sum())
        assert "sound" not in batch
        rows += len(batch["tokens"])
    assert rows == COUNT
