"""What a collate_fn gets: a batch, by the names of its fields, and the same as a list of samples."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from .._arguments import shown, wrong_type
from .._core import Batch
from .._errors import InvalidError, InvalidTypeError
from ._order import Padded
from ._tensors import Converter, whole_numbers


def members(column: Any) -> list[Any]:
    """The values of a column, one for each row: numbers for a row of integers, else tensors."""
    if isinstance(column, torch.Tensor):
        return column.tolist() if column.ndim == 1 and whole_numbers(column) else list(column.unbind())
    return list(column)


class Keys:
    """The keys of batches and samples that are dicts, by the names of fields; None: they are tuples.

    Args:
        added: names of the arrays that collations add to batches.
    """

    def __init__(
        self, names: Sequence[str], as_dict: bool | Mapping[str, str], added: Sequence[str] = ()
    ) -> None:
        self.names, self.keys = tuple(names), None
        self._added: dict[str, str] = {}
        if isinstance(as_dict, Mapping):
            unknown = [name for name in as_dict if name not in (*self.names, *added)]
            if unknown:
                there = ", ".join((*self.names, *added))
                raise InvalidError(f"as_dict: there is no field {unknown[0]!r} in batches of {there}")
            self.keys = {name: as_dict.get(name, name) for name in self.names}
            self._added = {name: as_dict.get(name, name) for name in added}
        elif as_dict is True:
            self.keys = {name: name for name in self.names}
        elif as_dict is not False:
            raise wrong_type("as_dict", "True, False, or a dict from names of fields to keys", as_dict)
        keys = {**(self.keys or {}), **self._added}
        if len(set(keys.values())) < len(keys):
            raise InvalidError(f"as_dict: two fields have the same key: {keys}")

    @property
    def of_fields(self) -> bool | Mapping[str, str]:
        """As `as_dict` says it, of the fields alone: for single samples."""
        return False if self.keys is None else self.keys

    def __call__(self, values: Any, names: Sequence[str] | None = None) -> Any:
        """A tuple of values, or what is handed out in its place; `names`: of the values, if they don't have
        them themselves."""
        if self.keys is None:
            return values
        there: Sequence[str] = getattr(values, "_names", self.names) if names is None else names
        added = [self._added.get(name, name) for name in there[len(self.names) :]]
        return dict(zip((*self.keys.values(), *added), values, strict=True))


class Samples(Sequence[Any]):
    """A batch as a collate_fn gets it. As a sequence it has a sample for each row, as torch's would be: a
    tuple, or a dict with as_dict. By names it is the `apldata.Batch`: ``samples["image"]``,
    ``samples.ids``.

    Its arrays and tensors lie in the library's own memory: copy what you want to keep.
    """

    def __init__(self, batch: Batch | None, columns: Callable[[], Any], keys: Keys, padded: Padded) -> None:
        self._batch, self._columns, self._keys, self._padded = batch, columns, keys, padded
        self._named = False  # has it been used by names?
        self._samples: list[Any] | None = None

    @classmethod
    def of(cls, batch: Batch, converter: Converter, keys: Keys) -> Samples:
        """Those of a batch of a loader."""
        return cls(batch, lambda: converter(batch), keys, converter.padded)

    def collated(self) -> Any:
        """The batch as the loader hands it out without a collate_fn."""
        return self._keys(self._columns())

    def _all(self) -> list[Any]:
        if self._samples is None:
            self._padded.check_samples()
            table = self._columns()
            self._check_columns(table)
            rows = zip(*map(members, table), strict=True)
            self._samples = [self._keys(row, table._names) for row in rows]
        return self._samples

    def _check_columns(self, table: Any) -> None:
        """Refuses what a function has added without a row for each sample."""
        for name, column in zip(table._names, table, strict=True):
            listed = hasattr(column, "__len__") and not isinstance(column, (str, bytes, Mapping))
            if not listed or getattr(column, "ndim", 1) == 0 or len(column) != len(self):
                raise InvalidError(
                    f"field {name}, which a function has added, has no row for each of the {len(self)} "
                    "samples that a collate_fn gets: take whole arrays by the names of fields, such as "
                    f"samples[{name!r}]"
                )

    def __len__(self) -> int:
        if self._batch is not None:
            return self._batch.rows
        return len(self._columns()[0])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self._all()[key]
        self._named = True
        if self._batch is not None:
            return self._batch[key]
        table = self._columns()
        return table[table._names.index(key)]

    def __setitem__(self, name: str, value: Any) -> None:
        if self._batch is None or not isinstance(name, str):
            raise InvalidTypeError(f"a batch takes values by the names of fields; got {shown(name)}")
        self._named, self._samples = True, None
        self._batch[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._batch is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = getattr(self._batch, name)
        self._named = True
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """A list of the samples: from a worker process, where a collate_fn has returned its argument."""
        return list, (list(self),)

    def result(self) -> Any:
        """What is handed out where a function returns its argument: the batch, if it was used as one, else
        the list of samples."""
        return self._batch if self._named else list(self)

    def pick(self, rows: list[int]) -> Samples:
        """Some of the rows, copied."""
        table = self._columns()
        made = table._make(self._padded.taken(table, rows))
        return Samples(None, lambda: made, self._keys, self._padded)

    @staticmethod
    def joined(parts: Iterable[tuple[Samples, list[int]]]) -> Samples:
        """The rows of several, each of which says at which places they stand."""
        several = list(parts)
        places = [place for _, there in several for place in there]
        order = sorted(range(len(places)), key=places.__getitem__)
        first = several[0][0]
        tables = [part._columns() for part, _ in several]
        made = tables[0]._make(first._padded.joined(tables, order))
        return Samples(None, lambda: made, first._keys, first._padded)

    def __repr__(self) -> str:
        return f"<{len(self)} samples of {', '.join(self._keys.names)}>"


class Collate:
    """A user's collate_fn, as the last of the functions over batches."""

    def __init__(self, function: Callable[[Any], Any], converter: Converter, keys: Keys) -> None:
        self._function = self.__wrapped__ = function
        self._converter, self._keys = converter, keys

    def __call__(self, batch: Any) -> Any:
        given = Samples.of(batch, self._converter, self._keys) if isinstance(batch, Batch) else batch
        result = self._function(given)
        if result is None:
            raise InvalidTypeError("collate_fn has returned None; what it returns is handed out")
        return result.result() if isinstance(result, Samples) else result


def collate(samples: Any) -> Any:
    """The collate_fn of a loader that was given none, for those who ask for it: what `loader.dataset` hands
    out for a batch of the loader's becomes that batch; a list of samples becomes what torch makes of it."""
    if isinstance(samples, Samples):
        return samples.collated()
    return torch.utils.data.default_collate(samples)
