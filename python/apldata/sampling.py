"""What an epoch is made of, if it is not each record once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arguments import flag, number, optional_text, whole, wrong_type, wrong_value
from ._errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from ._store import Store

_WEIGHTS = "a list of numbers, an array, or a dict of classes"
_MOST_CLASSES = 2**20  # that a dict tells of: all of them, those that do not come too, have a weight in C


@dataclass(frozen=True, eq=False)
class Sampling:
    """A sample of the records for each epoch, which depends only on seed and epoch: it is the same on every
    machine, with any number of threads and ranks. A record that is delivered more than once is augmented
    differently each time.

        Sampling("label")                        # classes equally often, each evenly over its records
        Sampling("label", {"cat": 2, "dog": 1})  # twice as many cats as dogs, and nothing else
        Sampling(weights=w, records=5000)        # 5,000 records an epoch, the likelier the heavier: w[n]
        Sampling(weights="score")                # the same with the records' field "score" as their weights
        Sampling(records=5000)                   # other 5,000 records in each epoch
        Sampling("label", replacement=True)      # each draw independent of all others

    Args:
        field: weights are for the classes of this field, which has one whole number per record; None: for
            single records.
        weights: of class 0, 1, ..., or a dict by name or number of a class, in which missing classes have 0.
            Without `field`: of each record that is read, in the order of ids, or of the loader's `ids=` or
            dataset if it has one; or the name of a field of numbers that holds the weights. None: all equal.
        replacement: draws are independent of each other. Without it, a class is drawn exactly in proportion
            to its weight, and each of its records as often as any other, to within one; single records are
            drawn at most once.
        records: deliveries in an epoch; None: as many as there are records to read.

    ``apl_sampling`` in ``apl.h`` states the laws exactly.
    """

    field: str | None = None
    weights: Any = None
    replacement: bool = False
    records: int | None = None

    def __post_init__(self) -> None:
        optional_text("field", self.field)
        flag("replacement", self.replacement)
        if self.records is not None:
            whole("records", self.records, 1)
        if isinstance(self.weights, Mapping) and self.field is None:
            raise InvalidError("a dict of weights is one of classes: name their field, as in "
                               'Sampling("label", ...)')  # fmt: skip

    def _in_c(self, store: Store, ids: np.ndarray | None = None) -> dict[str, Any]:
        """As the extension takes it, for these records; None: all of a split."""
        by_field = isinstance(self.weights, str) and self.field is None
        weights = None if self.weights is None or by_field else _array(self._listed(store))
        if weights is not None and self.field is None and ids is not None and len(ids) == len(weights):
            weights = weights[np.argsort(ids, kind="stable")]  # C goes by the order of ids
        return {
            "field": self.field, "replacement": bool(self.replacement), "records": int(self.records or 0),
            "weights": None if weights is None else weights.tobytes(),
            "weight_field": self.weights if by_field else None,
        }  # fmt: skip

    def _listed(self, store: Store) -> Any:
        if not isinstance(self.weights, Mapping):
            return self.weights
        assert self.field is not None
        schema = store.schema
        if self.field not in schema.names:
            raise NotFoundError(f"{store.path}: there is no field {self.field!r}")
        names = schema[self.field].classes or ()
        given = {_class_number(names, key): number(f"weights[{key!r}]", w, "a number, at least 0", 0)
                 for key, w in self.weights.items()}  # fmt: skip
        if len(given) < len(self.weights):
            raise InvalidError("weights: a class is named twice")
        if not given:
            raise wrong_value("weights", _WEIGHTS, self.weights)
        classes = len(names) or _most(store.to_numpy(fields=[self.field])[self.field])
        if classes > _MOST_CLASSES:
            raise InvalidError(f"weights: a dict is for classes below {_MOST_CLASSES}; "
                               f"there is a {self.field} of {classes - 1}")  # fmt: skip
        return [given.get(i, 0.0) for i in range(max(classes, max(given) + 1))]


def _most(values: Any) -> int:
    """One more than the largest of whole numbers; 0 for other values, which the library refuses by name."""
    whole_numbers = isinstance(values, np.ndarray) and values.dtype.kind in "iub"
    return 1 + int(values.max(initial=0)) if whole_numbers else 0


def _class_number(names: tuple[str, ...], key: Any) -> int:
    if not isinstance(key, str):
        return whole("weights: a class", key, 0, _MOST_CLASSES - 1)
    if key not in names:
        known = f"one of {', '.join(names)}" if names else "a number: the field has no names of classes"
        raise wrong_value("weights: a class", known, key)
    return names.index(key)


def _array(weights: Any) -> np.ndarray:
    if isinstance(weights, (str, bytes)):
        raise wrong_type("weights", _WEIGHTS, weights)
    try:
        given = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise wrong_type("weights", _WEIGHTS, weights) from None
    if given.ndim != 1 or given.size == 0:
        raise wrong_value("weights", "one number for each class or record", weights)
    return np.ascontiguousarray(given)
