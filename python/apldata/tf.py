"""Batches for TensorFlow: a `tf.data.Dataset`, or eager tensors that share memory with the batch."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack

import numpy as np

from . import _core
from ._arguments import names_checked, some_names, wrong_type
from ._columns import check_exact, check_holds, lent_view, whole_targets
from ._errors import CancelledError, InvalidError
from ._extras import not_installed
from ._loader import Loader
from ._options import DatasetOptions
from ._ragged import RaggedArray
from ._source import apply
from ._store import Store
from .collation import Shape

try:
    import tensorflow as tf
except ModuleNotFoundError as error:
    raise not_installed(error, "tensorflow") from None

__all__ = ["State", "batches", "dataset", "tensors"]

_ALIGNMENT = 64  # bytes
_ROWS = 256  # of a batch, as of a Loader


@names_checked(DatasetOptions)
def dataset(
    db: Loader | Store | str | os.PathLike[str],
    split: str | None = None,
    batch_size: int | None = None,
    *,
    fields: Iterable[str] | None = None,
    label_dtype: Any = None,
    **options: Unpack[DatasetOptions],
) -> tf.data.Dataset:
    """The batches of a split as a `tf.data.Dataset`: dicts, the name of each field → tensor of the shape
    (rows, ...).

    Each pass over it is an epoch, and the next pass is the next epoch, even after a pass that was broken off.
    Simultaneous passes are independent, each with a reader of its own. ``len()`` is the number of batches.
    Batches come decoded, shuffled and augmented, so only ``prefetch()`` and perhaps a cheap ``map()`` need
    follow, such as ``.map(lambda b: (b["image"], b["label"]))`` for Keras. Text is `tf.string`; a field whose
    first dimension varies is a `tf.RaggedTensor`. What functions among the transforms return instead of a
    batch may be any nest of arrays; they are called once more at the start, with a batch from which the
    shapes are taken.

    There is one copy, from the library's buffers to memory that tf.data may keep as long as it likes, and
    tf.data calls Python for each batch; `batches()` does without both.

    The dataset keeps its loader. For `state_dict()`, `close()` and the like, make the `apldata.Loader` first
    and pass it as `db`; `State` puts its state into a `tf.train.Checkpoint`. That state belongs to the last
    batch that tf.data took, which is ahead of the loop if there is a ``prefetch()``. Since a pass may be the
    rest of an epoch, the length of such a dataset is unknown.

    Args:
        db: a `Store`, its directory, or an `apldata.Loader`, which determines all other options.
        split, batch_size, fields: as for `apldata.Loader`, which also takes the `options`: seed, transforms,
            shuffle, drop_last, threads, ...
        label_dtype: the type to which whole-number targets are converted, such as ``"int32"``; it must hold
            them exactly. None: as they are stored.

    Raises:
        InvalidError: a field varies in dimensions other than the first. Others as `apldata.Loader`; while
            iterating, they come inside a TensorFlow error.
    """
    fields = some_names("fields", fields)
    if not isinstance(db, Loader):
        loader = Loader(db, split, _ROWS if batch_size is None else batch_size, fields=fields, **options)
    elif type(db) is not Loader or any(given is not None for given in (split, batch_size, fields)) or options:
        raise InvalidError("an apldata.Loader itself is needed, and what it is to do must be said to that")
    else:
        loader = db
    labels = _Labels(loader.store, label_dtype)
    passes = _Passes(loader, labels)
    made = tf.data.Dataset.from_generator(passes, output_signature=_signature(loader, labels))
    made._apldata_loader = loader  # and so do datasets made of it, and iterators
    if loader is db:
        tuned = tf.data.Options()
        tuned.experimental_optimization.inject_prefetch = False  # else the state would be ahead of the loop
        return made.with_options(tuned)
    if loader._options["skip_corrupt"]:
        return made
    return made.apply(tf.data.experimental.assert_cardinality(len(loader)))


def batches(loader: Loader, *, label_dtype: Any = None) -> Iterator[dict[str, Any]]:
    """One epoch of a loader as dicts of eager tensors in the library's own memory, without a copy: see
    `tensors()`. A batch is lent until the last of its tensors is freed, so a loop that keeps many must copy
    them. What functions return instead of a batch may be any nest of arrays. `label_dtype` is as for
    `dataset()`."""
    labels = _Labels(loader.store, label_dtype)
    for item in loader:
        if isinstance(item, _core.Batch):
            yield {name: labels.cast(name, _tensor(item, name)) for name in item}
        else:
            yield _mapped(tf.convert_to_tensor, item)
        del item  # else it is lent while the next is waited for


class State(tf.train.experimental.PythonState):
    """The position of a loader, as a part of a checkpoint.

        loader = apldata.Loader("db", "train", 512, seed=1)
        checkpoint = tf.train.Checkpoint(model=model, data=apldata.tf.State(loader))
        checkpoint.save("run/at")           # the next run: checkpoint.restore(...), then iterate as ever

    What is saved is `loader.state_dict()`, and restoring it is `load_state_dict()`: the next iteration, of
    the loader, of `batches()` or of its `dataset()`, resumes with the batch that would have followed. With a
    ``prefetch()`` of tf.data the loader's state is ahead of the loop.

    Args:
        loader: an `apldata.Loader`; ``dataset(loader)`` makes a dataset of it.
    """

    def __init__(self, loader: Loader) -> None:
        super().__init__()
        if not isinstance(loader, Loader):
            raise wrong_type("loader", "an apldata.Loader", loader)
        self._loader = loader

    def serialize(self) -> str:
        """For TensorFlow: the state, as JSON."""
        return json.dumps(self._loader.state_dict())

    def deserialize(self, string_value: str | bytes) -> None:
        """For TensorFlow: takes up a state."""
        self._loader.load_state_dict(json.loads(string_value))


def tensors(batch: _core.Batch) -> dict[str, Any]:
    """A batch, such as ``store[3:9]``, as a dict of eager tensors on the CPU that share its memory, by
    DLPack.

    Text (`tf.string`), fields whose first dimension varies (`tf.RaggedTensor`), and arrays that functions
    have put into the batch are copied.

    Raises:
        InvalidError: a field varies in other dimensions than the first.
    """
    return {name: _tensor(batch, name) for name in batch}


class _Labels:
    """Whole-number targets, and the dtype that they are converted to, if one is asked for."""

    def __init__(self, store: Store, dtype: Any) -> None:
        try:
            self._dtype: Any = None if dtype is None else tf.as_dtype(dtype)
        except TypeError:
            raise wrong_type("label_dtype", "a dtype of TensorFlow's or NumPy's, or None", dtype) from None
        self._names: frozenset[str] = frozenset() if dtype is None else frozenset(whole_targets(store))

    def cast(self, name: str, value: Any) -> Any:
        """A tensor, converted if it is such a target, and has not been mixed."""
        if name not in self._names or not isinstance(value, tf.Tensor) or not value.dtype.is_integer:
            return value
        return tf.convert_to_tensor(self.convert(name, value.numpy()))

    def convert(self, name: str, value: Any) -> Any:
        """An array, likewise."""
        if name not in self._names or not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
            return value
        what, to, advice = f"field {name}", self._dtype, "choose another label_dtype"
        if to.is_integer:
            check_holds(what, value, to.name, (to.min, to.max), advice)
            return value.astype(to.as_numpy_dtype)
        return check_exact(what, value, np.dtype(to.as_numpy_dtype), advice)


def _tensor(batch: _core.Batch, name: str) -> Any:
    view = lent_view(batch, name)
    if view is not None:
        return tf.experimental.dlpack.from_dlpack(view.__dlpack__())
    value = batch[name]
    if isinstance(value, RaggedArray):
        return _of_rows(value)
    return _ragged(name, value) if _is_ragged(value) else tf.convert_to_tensor(value)


def _is_ragged(value: Any) -> bool:
    """Is it a list of arrays, not of text?"""
    return isinstance(value, list) and bool(value) and isinstance(value[0], np.ndarray)


def _ragged(name: str, values: list[np.ndarray]) -> tf.RaggedTensor:
    if len({value.shape[1:] for value in values}) > 1:
        raise _too_uneven(name)
    flat = tf.convert_to_tensor(np.concatenate(values))
    lengths = np.array([len(value) for value in values], np.int64)
    return tf.RaggedTensor.from_row_lengths(flat, lengths, validate=False)


def _of_rows(array: RaggedArray) -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_splits(
        tf.convert_to_tensor(array.values), tf.convert_to_tensor(array.offsets), validate=False
    )


def _mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """The same nest of dicts, tuples and lists, with `function` applied to each array in it. Those of
    TensorFlow's own would take a `RaggedArray` for one."""
    if isinstance(nest, RaggedArray):
        return _of_rows(nest)
    if isinstance(nest, Mapping):
        return {key: _mapped(function, value) for key, value in nest.items()}
    if isinstance(nest, tuple) and hasattr(nest, "_make"):
        return nest._make(_mapped(function, value) for value in nest)
    if isinstance(nest, (tuple, list)):
        return type(nest)(_mapped(function, value) for value in nest)
    return tf.nest.map_structure(function, nest)


def _too_uneven(name: str) -> InvalidError:
    return InvalidError(
        f"field {name} varies in dimensions other than its first, so it cannot become a ragged tensor: "
        "leave it out of fields, or put an array in its place by a function among the transforms"
    )


# --------------------------------------------------------------------------------------------- tf.data


class _Passes:
    """What tf.data calls for each pass: it gives the next epoch, copied. TensorFlow keeps this for ever, and
    hence it does not keep the loader: the dataset does."""

    def __init__(self, loader: Loader, labels: _Labels) -> None:
        self._loader, self._labels = weakref.ref(loader), labels
        self._lock = threading.Lock()  # a pass that was broken off may still be asking for a batch

    def __call__(self) -> Iterator[Any]:
        loader = self._loader()
        if loader is None:
            raise CancelledError("the dataset is gone, and its loader with it")
        with self._lock:
            iterator = iter(loader)
        del loader
        while True:
            with self._lock:
                item = next(iterator, None)
            if item is None:
                return
            copies = _copy(item, self._labels)
            del item  # else it is lent while tf.data thinks about the next
            yield copies


def _copy(item: Any, labels: _Labels) -> Any:
    """Arrays that tf.data may keep: it takes them as they are."""
    if not isinstance(item, _core.Batch):
        return _mapped(_copy_array, item)
    return {name: _copy_of(name, labels.convert(name, item[name])) for name in item}


def _copy_of(name: str, value: Any) -> Any:
    if isinstance(value, RaggedArray):
        return _of_rows(value)
    if _is_ragged(value):
        return _ragged(name, value)
    return np.array(value, object) if isinstance(value, list) else _copy_array(value)  # a list is text


def _copy_array(value: Any) -> np.ndarray:
    """A copy that is aligned as TensorFlow wants it, since it would copy another once more."""
    given = np.asarray(value)
    if given.dtype.hasobject or given.dtype.kind in "SU":
        return given.copy()
    memory = np.empty(given.nbytes + _ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    copy = memory[first : first + given.nbytes].view(given.dtype).reshape(given.shape)
    copy[...] = given
    return copy


def _signature(loader: Loader, labels: _Labels) -> Any:
    """The specifications of what the loader hands out, told from a batch that a reader of its own makes."""
    for name in loader._options["fields"] or loader._collations.packed or loader.store.schema.names:
        collated = name in loader._collations.by_name
        if not (loader._functions or collated) and -1 in loader.store.schema[name].shape[1:]:
            raise _too_uneven(name)
    kept = (
        "split",
        "batch_size",
        "transforms",
        "fields",
        "kinds",
        "skip_corrupt",
        "collations",
        "parts",
        "blend",
    )
    options = {key: loader._options[key] for key in kept} | {"sequential": 1, "threads": _core.APL_NO_THREADS}
    options["collations"] = [
        {**one, "bucket": 0} if "bucket" in one else one for one in options["collations"]
    ]
    reader = _core.Reader(loader.store, options)  # decodes a few blocks
    item: Any = reader.next(loader._timeout)
    if item is None:
        raise InvalidError(f"{loader.store.path}: split {loader.split} has no batch")
    item = apply(loader._functions, item)
    rows = loader.batch_size if loader._options["drop_last"] and not loader._functions else None
    copies = _copy(item, labels)
    known = loader._collations.shapes(rows)
    del item
    reader.close()
    if known and isinstance(copies, dict):
        return {name: _collated_spec(value, rows, known.get(name)) for name, value in copies.items()}
    return tf.nest.map_structure(lambda value: _spec(value, rows), copies)


def _collated_spec(nest: Any, rows: int | None, shape: Shape | None) -> Any:
    """Of what a collation makes, of that shape, unless a function has put something else in its place."""
    if (
        isinstance(nest, np.ndarray)
        and shape is not None
        and tf.TensorShape(shape).is_compatible_with(nest.shape)
    ):
        return tf.TensorSpec(shape, tf.as_dtype(nest.dtype))
    return tf.nest.map_structure(lambda value: _spec(value, rows), nest)


def _spec(value: Any, rows: int | None) -> tf.TypeSpec:
    """Of what is like `value`."""
    if isinstance(value, tf.RaggedTensor):
        shape = (rows, None, *value.shape[2:])
        return tf.RaggedTensorSpec(shape, value.dtype, ragged_rank=1, row_splits_dtype=tf.int64)
    return tf.TensorSpec((rows, *value.shape[1:]) if value.ndim else (), tf.as_dtype(value.dtype))
