"""apldata.tf: a tf.data.Dataset, and eager tensors that share memory with the batch."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest
from memory_tools import check_memory

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")

import apldata  # noqa: E402
import apldata.tf  # noqa: E402
from apldata.transforms import ChannelsLast, Normalize, RandomCrop, RandomFlip, ToBFloat16, ToFloat16  # noqa: E402

AUGMENTED = [RandomCrop(28, padding=2), RandomFlip(), Normalize()]
KINDS = {
    "u8": [],
    "f32": AUGMENTED,
    "f16": [*AUGMENTED, ToFloat16()],
    "bf16": [*AUGMENTED, ToBFloat16()],
    "channels last": [Normalize(), ChannelsLast()],
}


def address(array) -> int:
    return array.__array_interface__["data"][0]


def memory_of(tensor) -> int:
    """The address of an eager tensor (whose numpy() is a copy)."""
    bits = tensor if tensor.dtype != tf.bfloat16 else tf.bitcast(tensor, tf.uint16)
    return address(np.asarray(memoryview(bits)))


def same(tensors, expected) -> bool:
    return sorted(tensors) == sorted(expected) and all(
        tensors[name].dtype == tf.as_dtype(expected[name].dtype)
        and tuple(tensors[name].shape) == expected[name].shape
        and np.array_equal(tensors[name].numpy(), expected[name])
        for name in tensors
    )


@pytest.fixture(scope="session")
def uneven_path(tmp_path_factory) -> str:
    """A store with text, and fields of varying shape."""
    path = str(tmp_path_factory.mktemp("stores") / "uneven")
    schema = {"x": ("f32", (2,)), "sound": ("i16", (-1, 2)), "picture": ("u8", (3, -1, -1)), "name": str}
    with apldata.Writer(path, schema) as writer:
        for i in range(40):
            writer.append(
                x=[i, i], sound=np.full((i % 5, 2), i), picture=np.zeros((3, 2, 1 + i % 3)), name=f"n{i}"
            )
    return path


# ----------------------------------------------------------------------------------------- dataset


@pytest.mark.parametrize("transforms", KINDS.values(), ids=KINDS)
def test_dataset_is_the_loader_epoch_by_epoch(store_path, transforms):
    options = {"split": "train", "batch_size": 96, "seed": 5, "transforms": transforms}
    dataset = apldata.tf.dataset(store_path, **options)
    assert isinstance(dataset, tf.data.Dataset)
    assert len(dataset) == 11
    with apldata.Loader(store_path, **options) as plain:
        for _ in range(2):
            steps = 0
            for batch, expected in zip(dataset, plain, strict=True):
                assert same(batch, expected)
                assert all(
                    spec.is_compatible_with(batch[name]) for name, spec in dataset.element_spec.items()
                )
                steps += 1
            assert steps == 11


def test_shapes_are_known(store_path):
    specs = apldata.tf.dataset(
        store_path, transforms=[RandomCrop(24), ToBFloat16(), ChannelsLast()]
    ).element_spec
    assert specs["image"] == tf.TensorSpec((None, 24, 24, 3), tf.bfloat16)
    assert specs["label"] == tf.TensorSpec((None,), tf.uint8)
    specs = apldata.tf.dataset(store_path, "test", 50, drop_last=True, fields=["label"]).element_spec
    assert specs == {"label": tf.TensorSpec((50,), tf.uint8)}


def test_a_pass_that_was_broken_off(store_path):
    dataset = apldata.tf.dataset(store_path, "train", 100, seed=4, fields=["label"])
    for _ in dataset.prefetch(2):
        break
    with apldata.Loader(store_path, "train", 100, seed=4, fields=["label"], first_epoch=1) as plain:
        for batch, expected in zip(dataset, plain, strict=True):
            assert same(batch, expected)


def test_tf_data_may_keep_what_it_takes(store_path, drawn):
    """Batches are lent in small numbers; copies are not."""
    dataset = apldata.tf.dataset(store_path, "train", 10, shuffle=False)
    held = list(dataset.prefetch(50))
    assert len(held) == 100
    assert np.array_equal(tf.concat([batch["image"] for batch in held], 0), drawn["train"]["image"])


def test_there_is_one_copy(store_path):
    """tf.data takes the aligned copy as it is."""
    copies = []
    kept, apldata.tf._copy_array = (
        apldata.tf._copy_array,
        lambda value: copies.append(kept(value)) or copies[-1],
    )
    try:
        batch = next(iter(apldata.tf.dataset(store_path, "train", 64, fields=["image"])))
    finally:
        apldata.tf._copy_array = kept
    assert memory_of(batch["image"]) in {address(copy) for copy in copies}


@pytest.mark.parametrize("function", [False, True], ids=["lent", "function"])
def test_state_round_trips_at_every_batch(store_path, function):
    def make():
        functions = [lambda batch: None] if function else []
        return apldata.Loader(store_path, "train", 128, seed=9, transforms=functions, fields=["label"])

    with make() as loader, make() as resumed:
        dataset, rest = apldata.tf.dataset(loader), apldata.tf.dataset(resumed)
        labels, states = [], [loader.state_dict()]
        for _ in range(2):
            for batch in dataset:
                labels.append(batch["label"].numpy())
                states.append(loader.state_dict())
        for at, state in enumerate(states[:-1]):
            resumed.load_state_dict(state)
            following = [batch["label"].numpy() for batch in rest]
            end = at + (-at % len(loader) if at else len(loader))  # the last batch ends its epoch
            assert len(following) == end - at
            assert all(map(np.array_equal, following, labels[at:end]))


@pytest.mark.parametrize("function", [False, True], ids=["lent", "function"])
@pytest.mark.parametrize("way", [apldata.tf.dataset, apldata.tf.batches], ids=["dataset", "batches"])
def test_a_checkpoint_has_the_position(store_path, tmp_path, way, function):
    """tf.train.Checkpoint and its manager, beside a variable: in the middle of an epoch, and at its end."""
    functions = [lambda batch: None] if function else []

    def make():
        loader = apldata.Loader(store_path, "train", 128, seed=9, transforms=functions, fields=["label"])
        return loader, tf.train.Checkpoint(step=tf.Variable(0), data=apldata.tf.State(loader))

    def labels(loader):
        return [np.array(batch["label"]) for batch in way(loader)]

    loader, checkpoint = make()
    epochs = [labels(loader) for _ in range(2)]
    loader, checkpoint = make()
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 3)
    for _ in way(loader):
        checkpoint.step.assign_add(1)
        if checkpoint.step in (3, 8):
            manager.save()
    manager.save()
    for path, expected in zip(manager.checkpoints, (epochs[0][3:], [], epochs[1]), strict=True):
        loader, checkpoint = make()
        checkpoint.restore(path).assert_consumed()
        following = labels(loader)
        assert len(following) == len(expected) and all(map(np.array_equal, following, expected))


def test_what_has_no_state_is_refused(store_path):
    with pytest.raises(apldata.InvalidError, match="loader must be"):
        apldata.tf.State(store_path)


def test_labels_of_another_dtype(store_path, drawn):
    expected = drawn["test"]["label"]
    options = {"shuffle": False, "label_dtype": "int32"}
    dataset = apldata.tf.dataset(store_path, "test", 100, **options)
    assert dataset.element_spec["label"].dtype == tf.int32 and dataset.element_spec["image"].dtype == tf.uint8
    assert np.array_equal(tf.concat([batch["label"] for batch in dataset], 0), expected)
    with apldata.Loader(store_path, "test", 100, shuffle=False) as loader:
        found = [batch["label"] for batch in apldata.tf.batches(loader, label_dtype=tf.int64)]
        assert found[0].dtype == tf.int64 and np.array_equal(tf.concat(found, 0), expected)
        with pytest.raises(apldata.InvalidError, match="label_dtype"):
            apldata.tf.dataset(loader, label_dtype="text of some kind")


def test_passes_at_the_same_time(store_path):
    with apldata.Loader(store_path, "train", 100, seed=4, fields=["label"]) as plain:
        epochs = [[batch["label"].copy() for batch in plain] for _ in range(2)]
    dataset = apldata.tf.dataset(store_path, "train", 100, seed=4, fields=["label"])
    pairs = list(zip(dataset, dataset, strict=True))
    for at, epoch in enumerate(epochs):
        assert all(np.array_equal(pair[at]["label"], label) for pair, label in zip(pairs, epoch, strict=True))


def test_the_loader_says_all(store_path):
    with apldata.Loader(store_path) as loader:
        with pytest.raises(apldata.InvalidError, match="said to that"):
            apldata.tf.dataset(loader, "train")
        with pytest.raises(apldata.InvalidError, match="said to that"):
            apldata.tf.dataset(loader, seed=1)
        assert apldata.tf.dataset(loader).cardinality() == tf.data.UNKNOWN_CARDINALITY


def test_text_and_varying_fields(uneven_path):
    with pytest.raises(apldata.InvalidError, match="field picture varies"):
        apldata.tf.dataset(uneven_path)
    fields = ["x", "sound", "name"]
    dataset = apldata.tf.dataset(uneven_path, batch_size=16, shuffle=False, fields=fields)
    sound = dataset.element_spec["sound"]
    assert isinstance(sound, tf.RaggedTensorSpec)
    assert (sound.shape.as_list(), sound.dtype) == ([None, None, 2], tf.int16)
    batches = list(dataset)
    assert [batch["sound"].shape[0] for batch in batches] == [16, 16, 8]
    assert batches[1]["sound"][2].numpy().tolist() == [[18, 18]] * 3
    assert batches[2]["name"].numpy().tolist() == [f"n{i}".encode() for i in range(32, 40)]


def test_functions(store_path, drawn):
    def pairs(batch):
        return batch["image"] / np.float32(255), batch["label"].astype(np.int64)

    dataset = apldata.tf.dataset(store_path, "test", 64, shuffle=False, transforms=[pairs])
    assert dataset.element_spec == (
        tf.TensorSpec((None, 3, 32, 32), tf.float32),
        tf.TensorSpec((None,), tf.int64),
    )
    images, labels = zip(*dataset, strict=True)
    assert np.array_equal(tf.concat(images, 0), drawn["test"]["image"] / np.float32(255))
    assert np.array_equal(tf.concat(labels, 0), drawn["test"]["label"])


def test_errors_reach_the_loop(store_path):
    def fails(batch):
        if batch.position:
            raise ValueError("no second batch")

    dataset = iter(apldata.tf.dataset(store_path, "train", 64, transforms=[fails]))
    next(dataset)
    with pytest.raises(tf.errors.OpError, match="no second batch"):
        next(dataset)


def test_a_stop_iteration_does_not_end_the_pass(store_path):
    left = iter([1, 2])

    def draws(batch):
        next(left)

    with pytest.raises(tf.errors.OpError, match=r"draws.*raised StopIteration"):
        list(apldata.tf.dataset(store_path, "train", 100, transforms=[draws]))
    with pytest.raises(RuntimeError, match="raised StopIteration"):  # told before the first pass
        apldata.tf.dataset(store_path, "train", 100, transforms=[draws])


def test_training_over_an_epoch_agrees_with_numpy(store_path):
    """Least squares, by tf.function over the dataset, against the same in NumPy."""
    options = {"split": "train", "batch_size": 100, "seed": 3, "transforms": [Normalize()]}
    weights = tf.Variable(tf.zeros((3072, 10)))

    @tf.function
    def step(batch):
        x, y = tf.reshape(batch["image"], (-1, 3072)), tf.one_hot(batch["label"], 10)
        weights.assign_sub(1e-5 * tf.matmul(x, tf.matmul(x, weights) - y, transpose_a=True))

    for batch in apldata.tf.dataset(store_path, **options).prefetch(2):
        step(batch)
    expected = np.zeros((3072, 10))
    with apldata.Loader(store_path, **options) as plain:
        for batch in plain:
            x, y = batch["image"].reshape(batch.rows, -1).astype(np.float64), np.eye(10)[batch["label"]]
            expected -= 1e-5 * x.T @ (x @ expected - y)
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(weights.numpy(), expected, atol=1e-5)


# ----------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize("transforms", KINDS.values(), ids=KINDS)
def test_batches_are_those_of_the_loader(store_path, transforms):
    options = {"split": "train", "batch_size": 96, "seed": 5, "transforms": transforms}
    with apldata.Loader(store_path, **options) as loader, apldata.Loader(store_path, **options) as plain:
        for tensors, expected in zip(apldata.tf.batches(loader), plain, strict=True):
            assert same(tensors, expected)


def test_memory_is_shared(store):
    batch = store.get(range(64))
    tensors = apldata.tf.tensors(batch)
    assert all(memory_of(tensors[name]) == address(batch[name]) for name in batch)


def test_tensors_outlive_batch_and_loader(store_path, drawn):
    loader = apldata.Loader(store_path, "train", 64, shuffle=False)
    held = [tensors["image"] for tensors, _ in zip(apldata.tf.batches(loader), range(5), strict=False)]
    loader.close()
    del loader
    gc.collect()
    assert np.array_equal(tf.concat(held, 0), drawn["train"]["image"][:320])


def test_a_held_tensor_is_not_overwritten(store_path):
    with apldata.Loader(store_path, "train", 32, seed=2) as loader:
        kept = next(apldata.tf.batches(loader))["image"]
        copy = np.array(kept)
        for _ in range(5):
            for _ in apldata.tf.batches(loader):
                pass
        assert np.array_equal(kept, copy)


def test_tensors_of_text_and_varying_fields(uneven_path):
    store = apldata.Store(uneven_path)
    tensors = apldata.tf.tensors(store.get([7, 0], ["sound", "name"]))
    assert tensors["sound"].to_list() == [[[7, 7]] * 2, []]
    assert tensors["name"].numpy().tolist() == [b"n7", b"n0"]
    with pytest.raises(apldata.InvalidError, match="field picture varies"):
        apldata.tf.tensors(store.get([0, 1]))


def test_arrays_that_a_function_put_there(store_path, drawn):
    def inverted(batch):
        batch["image"] = 255 - batch["image"]

    with apldata.Loader(store_path, "test", 100, shuffle=False, transforms=[inverted]) as loader:
        images = [tensors["image"] for tensors in apldata.tf.batches(loader)]
    assert np.array_equal(tf.concat(images, 0), 255 - drawn["test"]["image"])


# ------------------------------------------------------------------------------------------- leaks


@pytest.mark.parametrize("kind", ["batches", "dataset"])
def test_memory_does_not_grow(store_path, kind):
    loader = apldata.Loader(store_path, "train", 20, transforms=[Normalize()])
    dataset = apldata.tf.dataset(loader)

    def run(epochs: int) -> None:
        for _ in range(epochs):
            for batch in apldata.tf.batches(loader) if kind == "batches" else dataset:
                tf.reduce_sum(batch["label"])

    with loader:
        check_memory(run)


def test_a_forgotten_dataset_ends_its_loader(store_path):
    before = len(os.listdir("/proc/self/task"))
    loaders = []
    for _ in range(8):
        loader = apldata.Loader(store_path, "train", 50, threads=2)
        loaders.append(weakref.ref(loader))
        next(iter(apldata.tf.dataset(loader).prefetch(1)))
        del loader
    gc.collect()
    assert all(loader() is None for loader in loaders)
    assert len(os.listdir("/proc/self/task")) < before + 16


def test_values_of_varying_shape_are_collated(tmp_path: Path) -> None:
    from collate_tools import COUNT, make, tokens

    db = make(tmp_path / "db")
    collate = {"tokens": apldata.Ragged(), "boxes": apldata.Pad(), "sound": apldata.Pad(3)}
    dataset = apldata.tf.dataset(db, batch_size=8, collate=collate)
    assert dataset.element_spec["boxes"].shape.as_list() == [None, None, 4]
    assert dataset.element_spec["sound"].shape.as_list() == [None, 2, 3]
    assert dataset.element_spec["boxes_mask"].shape.as_list() == [None, None]
    rows = 0
    for batch in dataset:
        assert isinstance(batch["tokens"], tf.RaggedTensor)
        assert batch["boxes"].shape[1] == tf.reduce_max(batch["boxes_lengths"])
        rows += batch["tokens"].nrows().numpy()
    assert rows == COUNT
    for batch in apldata.tf.batches(apldata.Loader(db, batch_size=8, collate=collate, shuffle=False)):
        assert batch["tokens"][0].numpy().tolist() == tokens(0).tolist()
        break


def test_labels_that_label_dtype_cannot_hold_are_refused(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", [apldata.Field("label", "i64", (), "target")]) as writer:
        writer.append(label=256)
    loader = apldata.Loader(tmp_path / "s", batch_size=1)
    with pytest.raises(
        apldata.InvalidError, match="field label: 256 does not fit uint8: choose another label_d"
    ):
        next(apldata.tf.batches(loader, label_dtype="uint8"))
    (batch,) = apldata.tf.batches(apldata.Loader(tmp_path / "s", batch_size=1), label_dtype="uint16")
    assert batch["label"].dtype == tf.uint16 and batch["label"].numpy().tolist() == [256]
    with pytest.raises(Exception, match="field label: 256 does not fit uint8"):
        next(iter(apldata.tf.dataset(tmp_path / "s", batch_size=1, label_dtype="uint8")))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "bool"])
def test_labels_that_label_dtype_would_round_are_refused(tmp_path: Path, dtype: str) -> None:
    exact = 1 if dtype == "bool" else 256
    with apldata.Writer(tmp_path / "s", [apldata.Field("label", "i64", (), "target")]) as writer:
        for split, labels in (("exact", [exact, 0]), ("large", [2**24 + 1, 0]), ("huge", [2**62 + 1, 0])):
            writer.begin(split)
            writer.extend(label=labels)
    for split, label in (("exact", exact), ("large", 2**24 + 1), ("huge", 2**62 + 1)):
        loader = apldata.Loader(tmp_path / "s", split, 2, shuffle=False)
        make = apldata.tf.dataset, apldata.tf.batches
        if label == exact:
            for way in make:
                (batch,) = way(loader, label_dtype=dtype)
                assert batch["label"].dtype == dtype and batch["label"].numpy().tolist() == [exact, 0]
            continue
        for way in make:
            with pytest.raises(
                apldata.InvalidError, match=f"field label: {label} does not fit {dtype} exactly"
            ):
                next(iter(way(loader, label_dtype=dtype)))


def test_graphs(tmp_path: Path) -> None:
    """Their arrays have no row for each record, also where all batches have as many rows."""
    fields = {"x": ("f32", (-1, 3)), "ei": ("i64", (2, -1)), "w": ("f32", (-1, 2)), "y": "f32"}
    with apldata.Writer(tmp_path / "s", fields) as writer:
        for i in range(12):
            writer.append(x=np.full((i % 3 + 1, 3), i), ei=np.zeros((2, i % 4)), w=np.zeros((i % 4, 2)), y=i)
    collate = {"x": apldata.Nodes(), "ei": apldata.EdgeIndex(), "w": apldata.Edges()}
    for functions in ([], [lambda batch: None]):
        options = {"batch_size": 4, "shuffle": False, "drop_last": True, "transforms": functions}
        dataset = apldata.tf.dataset(tmp_path / "s", collate=collate, **options)
        shapes = {name: spec.shape.as_list() for name, spec in dataset.element_spec.items()}
        rows = None if functions else 4
        assert shapes == {
            "x": [None, 3], "ei": [2, None], "w": [None, 2], "y": [rows], "batch": [None],
            "ptr": [None if functions else 5],
        }  # fmt: skip
        plain = apldata.Loader(tmp_path / "s", collate=collate, **options)
        for batch, expected in zip(dataset, plain, strict=True):
            assert all(np.array_equal(batch[name], expected[name]) for name in expected)
    for batch, expected in zip(apldata.tf.batches(plain), dataset, strict=True):
        assert all(np.array_equal(batch[name], expected[name]) for name in expected)


def test_batches_of_like_lengths(tmp_path: Path) -> None:
    from collate_tools import COUNT, make

    db = make(tmp_path / "db")
    for how in (apldata.Pad(bucket=3), apldata.Ragged(bucket=3)):
        options = {"batch_size": 8, "fields": ["tokens", "label"], "collate": {"tokens": how}}
        batches = list(apldata.tf.dataset(db, **options))
        assert sum(len(batch["label"]) for batch in batches) == COUNT
        for batch, expected in zip(batches, apldata.Loader(db, **options), strict=True):
            assert np.array_equal(batch["label"], expected["label"])


def test_what_is_collated_may_differ_in_length_also_beside_functions(tmp_path: Path) -> None:
    from collate_tools import make

    db = make(tmp_path / "db")

    def doubled(batch):
        batch["tokens"] = batch["tokens"] * 2

    def first(batch):
        batch["tokens"] = batch["tokens"][:, 0]

    for functions, shape in (
        ([doubled], [None, None]),
        ([lambda batch: {"tokens": batch["tokens"]}], [None, None]),
        ([first], [None]),
    ):
        options = {"batch_size": 4, "fields": ["tokens"], "collate": {"tokens": apldata.Pad()}, "seed": 1}
        dataset = apldata.tf.dataset(db, transforms=functions, **options)
        assert dataset.element_spec["tokens"].shape.as_list() == shape
        for batch, expected in zip(dataset, apldata.Loader(db, transforms=functions, **options), strict=True):
            assert np.array_equal(batch["tokens"], expected["tokens"])


def test_batches_of_what_functions_return(tmp_path: Path, store_path: str) -> None:
    from collate_tools import make

    db = make(tmp_path / "db")
    options = {"batch_size": 8, "collate": {"tokens": apldata.Ragged()}, "fields": ["tokens", "label"]}
    loader = apldata.Loader(
        db, transforms=[lambda batch: {"t": batch["tokens"], "more": (batch["label"], 3)}], **options
    )
    plain = apldata.Loader(db, **options)
    for way in (apldata.tf.batches, apldata.tf.dataset):
        loader.set_epoch(0)
        plain.set_epoch(0)
        for nest, batch in zip(way(loader), plain, strict=True):
            assert nest["t"].to_list() == [row.tolist() for row in batch["tokens"]]
            labels, three = nest["more"]
            assert np.array_equal(labels, batch["label"]) and three == 3
    for function in (lambda batch: batch["label"], lambda batch: [batch["label"]]):
        with apldata.Loader(store_path, "test", 100, fields=["label"], transforms=[function]) as one:
            (labels,) = tf.nest.flatten(next(apldata.tf.batches(one)))
            assert isinstance(labels, tf.Tensor) and labels.shape == (100,)
