"""Arguments that will not do: what is refused is named, with what would do and what came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import (
    Cutout,
    Field,
    InvalidError,
    InvalidTypeError,
    Loader,
    Normalize,
    PerPicture,
    RandomCrop,
    RandomFlip,
    RandomVerticalFlip,
    Store,
    ToFloat32,
    Writer,
)

WHOLE = (
    "batch_size", "seed", "loaders", "consumers", "queue_depth", "window", "bins", "reuse", "lanes",
    "memory_budget", "first_epoch", "skip_corrupt", "threads",
)  # fmt: skip


def refused(error: type[Exception], message: str, call: Any, *args: Any, **options: Any) -> None:
    with pytest.raises(error, match=message) as caught:
        call(*args, **options)
    assert isinstance(caught.value, apldata.Error) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_a_loader(store: Store, name: str) -> None:
    for value in ("2", 1.5, [3], True):
        message = rf"^{name} must be an integer.*; got .*\({type(value).__name__}\)"
        refused(InvalidTypeError, message, Loader, store, **{name: value})
    refused(InvalidError, rf"^{name} must be .*; got -1$", Loader, store, **{name: -1})
    refused(InvalidError, rf"^{name} must be .*at most \d+; got {2**70}$", Loader, store, **{name: 2**70})


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("shuffle", "no", TypeError, "shuffle must be True or False; got 'no'"),
        ("drop_last", 2, TypeError, "drop_last must be True or False; got 2"),
        ("order", "x", ValueError, "order must be 'strict' or 'free'; got 'x'"),
        ("order", [], TypeError, "order must be 'strict' or 'free'; got"),
        ("timeout", "1", TypeError, "timeout must be seconds.*got '1'"),
        ("timeout", float("nan"), ValueError, "timeout must be seconds.*got nan"),
        ("pin", 1, TypeError, "pin must be a pair of functions"),
        ("split", 3, TypeError, "split must be a string; got 3"),
        ("split", "a\0", ValueError, "split must be a string without null"),
        ("fields", "image", TypeError, r"fields must be a list of names; got 'image': write \['image'\]"),
        ("fields", [3], TypeError, r"fields\[0\] must be a string; got 3"),
        ("transforms", 3, TypeError, "transforms must be a list of transforms"),
        ("rank", 0, ValueError, "rank and world go together"),
    ],
)
def test_other_options_of_a_loader(
    store: Store, name: str, value: Any, error: type[Exception], message: str
) -> None:
    refused(error, message, Loader, store, **{name: value})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RandomCrop("32"), TypeError, "RandomCrop: size must be .*'32'"),
        (lambda: RandomCrop((1, 2, 3)), ValueError, r"RandomCrop: size must be .*\(1, 2, 3\)"),
        (lambda: RandomCrop(32, padding=-1), ValueError, "RandomCrop: padding must be .*got -1"),
        (lambda: Cutout("8"), TypeError, "Cutout: size must be .*'8'"),
        (lambda: Normalize("a", "b"), TypeError, "Normalize: mean must be a number, or a list of numbers"),
        (lambda: Normalize([0.5] * 3, [0] * 3), ValueError, "Normalize: std must be 3 numbers above 0"),
        (lambda: Normalize(0.5, 0), ValueError, "Normalize: std must be a number above 0; got 0"),
        (lambda: RandomFlip(field=3), TypeError, "RandomFlip: field must be a string, a list"),
        (lambda: RandomFlip(field=[]), TypeError, "RandomFlip: field must be a string, a list"),
        (lambda: RandomFlip(field=["a", 3]), TypeError, r"RandomFlip: field\[1\] must be a string"),
        (lambda: RandomFlip(1.5), ValueError, "RandomFlip: p must be a probability, from 0 to 1; got 1.5"),
        (lambda: RandomFlip("half"), TypeError, "RandomFlip: p must be a probability"),
        (lambda: RandomVerticalFlip(-0.1), ValueError, "RandomVerticalFlip: p must be .*got -0.1"),
        (lambda: ToFloat32(scale="no"), TypeError, "ToFloat32: scale must be True or False"),
        (lambda: PerPicture(3), TypeError, "PerPicture: function must be a function"),
        (lambda: PerPicture(dict), TypeError, r"dict is a class: write dict\(\)"),
        (lambda: PerPicture(len, field=3), TypeError, "PerPicture: field must be a string"),
    ],
)
def test_arguments_of_a_transform(make: Any, error: type[Exception], message: str) -> None:
    """They are checked when it is made, not when a loader opens."""
    refused(error, message, make)


def test_numbers_of_numpy_will_do(store: Store) -> None:
    loader = Loader(
        store, batch_size=np.int64(10), seed=np.uint64(3), shuffle=np.bool_(False), timeout=np.float32(9)
    )
    assert next(iter(loader)).ids.tolist() == list(range(10))


@pytest.mark.parametrize(
    "option", ["seed", "split", "fields", "order", "transforms", "shuffle", "mix", "weight"]
)
def test_an_array_is_shown_by_its_dtype_and_shape(store: Store, option: str) -> None:
    values = np.zeros((2, 3, 4), np.float32)
    with pytest.raises(apldata.Error) as caught:
        Loader(store, **{option: values})
    assert "float32[" in str(caught.value) and "0." not in str(caught.value)
    with pytest.raises(apldata.Error) as caught:
        Loader(store, **{option: [values, {"a": values}]})
    assert "0." not in str(caught.value)


def test_a_store(store: Store) -> None:
    refused(TypeError, "path must be a path .*got 3", Store, 3)
    refused(ValueError, "expected_content must be 32 bytes.*got 'xyz'", Store, store.path, "xyz")
    refused(ValueError, "expected_content must be 32 bytes.*got b'abc'", Store, store.path, b"abc")
    refused(IndexError, "no record 1300: ids are 0 to 1299", store.__getitem__, 1300)
    refused(KeyError, "no field 'x': there are image, label", store.schema.__getitem__, "x")
    refused(KeyError, "the batch has no field 'x'", store[:2].__getitem__, "x")
    refused(TypeError, "ids must be integers in one row, a slice, or a mask of bools; got 5", store.get, 5)
    refused(TypeError, "ids must be a slice of integers", store.get, slice("a"))
    refused(TypeError, "threads must be", store.get, [1], None, "2")
    refused(TypeError, "split must be a string; got 3", store.moments, 3)
    refused(LookupError, "called nope", store.class_counts, "train", "nope")
    refused(TypeError, "ratio must be a number.*got '0.1'", store.split, "v", "0.1")
    refused(TypeError, "k must be an integer.*got '5'", store.folds, "v", "5")
    refused(ValueError, "dirichlet must be a number, at least 0; got -1", store.clients, "v", 3, dirichlet=-1)
    refused(TypeError, "progress must be a function; got 3", store.verify, 0, 3)


def test_what_is_there_already(store_path: str, tmp_path: Path) -> None:
    """The error says what would put something else in its place."""
    with Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.extend(x=range(100))
    store = Store(tmp_path / "s")
    store.split("val", 0.1)
    store.folds("cv", 2, parent="train-val")
    refused(FileExistsError, "exists already; replace=True", store.split, "val", 0.1)
    refused(FileExistsError, "exists already; replace=True", store.folds, "cv", 2, "train-val")
    refused(FileExistsError, "exists already; replace=True", Writer, tmp_path / "s", {"x": "u8"})
    assert repr(store.splits["cv-1"]).startswith("Split('cv-1', records=") and "None" not in repr(
        store.splits
    )


def test_names_are_listed_as_far_as_they_help(tmp_path: Path) -> None:
    with Writer(tmp_path / "s", {f"x{i}": "u8" for i in range(40)}) as writer:
        writer.append(**{f"x{i}": 0 for i in range(40)})
    refused(KeyError, r"x11, \.\.\. \(40 in all\)$", Store(tmp_path / "s").schema.__getitem__, "y")


def test_what_is_closed(store_path: str, tmp_path: Path) -> None:
    store, writer = Store(store_path), Writer(tmp_path / "s", {"x": "u8"})
    loader, batch = Loader(store), store[:1]
    for one in (store, writer, loader):
        one.close()
    batch.release()
    refused(InvalidError, "the store is closed", store.get, [1])
    refused(InvalidError, "the writer is closed", writer.append, x=1)
    refused(InvalidError, "the loader is closed", len, loader)
    refused(InvalidError, "the batch has been released", batch.column, "image")


@pytest.mark.parametrize(
    ("schema", "error", "message"),
    [
        (3, TypeError, "schema must be a mapping.*got 3"),
        ([3], TypeError, "schema must be a mapping"),
        ({3: "u8"}, TypeError, "the name of a field must be a string; got 3"),
        ({"a": "foo"}, TypeError, "field a: the dtype must be one of u8, .*got 'foo'"),
        ({"a": None}, TypeError, "field a: the dtype must be one of .*got None"),
        ({"a": ("u8", 3)}, TypeError, "field a: the shape must be a tuple"),
        ({"a": ("u8", ("x",))}, TypeError, r"field a: shape\[0\] must be an integer.*got 'x'"),
        ([Field("a", "u8", classes="abc")], TypeError, r"field a: classes must be a list.*write \['abc'\]"),
        ([Field("a", "u8", mark="x")], ValueError, "field a: the mark must be 'input', .*got 'x'"),
    ],
)
def test_schemas(tmp_path: Path, schema: Any, error: type[Exception], message: str) -> None:
    refused(error, message, Writer, tmp_path / "s", schema)


@pytest.mark.parametrize(
    ("label", "error", "message"),
    [
        ("mouse", ValueError, r"field label must be a class \('cat', 'dog'\).*got 'mouse'"),
        (2, ValueError, "field label must be a class from 0 to 1; got 2"),
        (-1, ValueError, "field label: -1, of dtype int64, which u8 cannot hold"),
        (1.5, ValueError, "field label: 1.5, of dtype float64, which u8 cannot hold"),
        (None, ValueError, "field label must be a class.*got None"),
        ([0], ValueError, r"a value of shape \(1,\), where \(\) is needed"),
    ],
)
def test_labels(tmp_path: Path, label: Any, error: type[Exception], message: str) -> None:
    with Writer(tmp_path / "s", [Field("label", "u8", mark="target", classes=("cat", "dog"))]) as writer:
        writer.append(label=1)
        refused(error, message, writer.append, label=label)
    assert len(Store(tmp_path / "s")) == 1


def test_classes_by_their_names(tmp_path: Path) -> None:
    with Writer(
        tmp_path / "s", [Field("y", "u8", mark="target", classes=("cat", "dog")), Field("x", "u8")]
    ) as writer:
        writer.append(x=0, y="dog")
        writer.append(x=1, y=np.str_("cat"))
        writer.extend(x=[2, 3, 4], y=["dog", "cat", "dog"])
        writer.extend(x=[5, 6], y=np.array(["dog", "cat"], object))
    assert Store(tmp_path / "s").to_numpy()["y"].tolist() == [1, 0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"weight": 0, "mix": [("test", 1)]},
            "^weight must be a number above 0, or None: leave out a store .*; got 0$",
        ),
        ({"mix": [("test", 0)]}, r"^mix\[0\]: weight must be a number above 0"),
        ({"mix": [("test", -1)]}, r"^mix\[0\]: weight must be a number above 0"),
        ({"shuffle": False, "sampling": apldata.Sampling(records=5)}, "^sampling needs shuffle=True"),
        ({"shuffle": False, "weight": 2, "mix": [("test", 1)]}, "^a mix with weights needs shuffle=True"),
        ({"shuffle": False, "order": "free"}, r"^order='free' \(in_order=False\) needs shuffle=True"),
        (
            {"shuffle": False, "ids": [3, 1, 2]},
            r"^ids: shuffle=False .*do not ascend: sort them.*Store.get\(ids\)",
        ),
        (
            {"first_epoch": 2**63},
            "^first_epoch must be an integer, at least 0, and at most 9223372036854775807;",
        ),
    ],
)
def test_what_would_be_ignored_is_refused(store: Store, options: dict, message: str) -> None:
    options = {**options, "mix": [(store, *one) for one in options.get("mix", ())]}
    refused(InvalidError, message, Loader, store, **options)


def test_negative_ids_are_none_of_a_loader(store: Store) -> None:
    """A search that finds nothing may return -1."""
    for split in ("train", "test"):
        refused(IndexError, "no record -1: ids are 0 to 1299", Loader, store, split, ids=[3, -1])
    assert store.get([-1])["label"].shape == (1,)


def test_bools_are_masks_and_no_numbers(store: Store) -> None:
    message = "ids must be integers in one row, a slice, or a mask of bools; got "
    for one in (True, False, np.True_):
        refused(TypeError, message, store.__getitem__, one)
        refused(TypeError, message, store["train"].__getitem__, one)
    refused(TypeError, message, store.get, [True, 2])
    refused(TypeError, message, Loader, store, ids=[1, np.True_])


def test_ids_in_their_order_or_shuffled(store: Store) -> None:
    with Loader(store, ids=[1, 2, 3], shuffle=False) as loader:
        assert next(iter(loader)).ids.tolist() == [1, 2, 3]
    with Loader(store, ids=[3, 1, 2]) as loader:
        assert sorted(next(iter(loader)).ids.tolist()) == [1, 2, 3]


def test_epochs_beyond_the_last(store: Store) -> None:
    with Loader(store) as loader:
        loader.set_epoch(2**63 - 1)
        refused(InvalidError, r"^epoch must be .*at most 9223372036854775807; got", loader.set_epoch, 2**63)


def test_a_class_beyond_the_last(store: Store) -> None:
    refused(InvalidError, "^label must be a class from 0 to 9, or its name; got 99$", store.where, label=99)
    refused(InvalidError, "^label must be a class from 0 to 9", store.where, "test", label=[1, -1])
    assert len(store.where("test", label=range(10))) == 300


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda image: "cat", r"lambda.*must be an image; got 'cat' \(str\)"),
        (lambda image: 3.5, r"lambda.*must be an image; got 3.5 \(float\)"),
        (lambda image: ["a"], r"lambda.*must be an image; got \['a'\] \(list\)"),
        (lambda image: {"picture": image}, "lambda.*has returned a dict without 'image'"),
    ],
)
def test_what_a_function_of_an_image_returns(store: Store, function: Any, message: str) -> None:
    with Loader(store, transforms=PerPicture(function)) as loader:
        refused(InvalidError, message, next, iter(loader))


def test_a_function_of_a_batch_keeps_its_rows(store: Store) -> None:
    def few(batch: Any) -> None:
        batch["image"] = batch["image"][:3]

    def scalar(batch: Any) -> None:
        batch["label"] = np.float32(1)

    def twice(batch: Any) -> None:
        for name in list(batch):
            batch[name] = np.repeat(batch[name], 2, axis=0)
        batch["mean"] = 0.5

    for threads in (0, 2):
        with Loader(store, batch_size=64, transforms=few, threads=threads) as loader:
            message = r"few \(test_arguments.py:\d+\) has left fields .*rows: image 3, label 64; it may"
            refused(InvalidError, message, next, iter(loader))
    with Loader(store, batch_size=64, transforms=scalar) as loader:
        refused(InvalidError, "image 64, label none", next, iter(loader))
    with Loader(store, batch_size=64, transforms=twice) as loader:
        assert len(next(iter(loader))["label"]) == 128


def test_names_of_other_makers(store: Store, tmp_path: Path) -> None:
    refused(
        InvalidTypeError, "no argument 'force': did you mean 'replace'", Writer, tmp_path / "s", {}, force=1
    )
    refused(InvalidTypeError, "ingest has no argument 'repalce': did you mean 'replace'", apldata.ingest,
            "x", "y", repalce=True)  # fmt: skip


def test_lists_of_different_lengths_are_named(tmp_path: Path) -> None:
    with Writer(tmp_path / "s", {"a": ("f32", (-1, 2))}) as writer:
        message = (
            r"^field a must be an array of f32\[-1,2\], its lists of equal lengths; got \[\[1, 2\], \[3\]\]$"
        )
        refused(InvalidError, message, writer.append, a=[[1, 2], [3]])
        writer.append(a=[[1, 2], [3, 4]])
    refused(
        InvalidTypeError,
        "column x: its first row holds lists of lists of different lengths",
        apldata.convert,
        [{"x": [[1, 2], [3]]}],
        tmp_path / "c",
    )
