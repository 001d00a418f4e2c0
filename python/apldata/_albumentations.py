"""Transforms of Albumentations, applied to the records of a batch."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import copy
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import shown
from ._errors import InvalidError
from ._foreign import Wrapped
from ._library import library_of
from ._records import Keys, in_threads
from ._roles import Roles, elements_at
from .schema import Field, has_channels_last
from .transforms import MOVING

# Its formats of boxes, by the forms that they have here.
_FORMATS = {"xyxy": "pascal_voc", "xywh": "coco", "cxcywh-rel": "yolo", "xyxy-rel": "albumentations"}
_NUMBERS = "apldata_numbers"  # of boxes


def without_first(transform: Any, take: Callable[[Any], bool]) -> Any:
    """What is left of a transform when `take` has taken the first of its parts, as many as it will; None:
    nothing."""
    if type(transform).__name__ != "Compose":
        return None if take(transform) else transform
    if transform.p != 1 or transform.additional_targets or getattr(transform, "processors", None):
        return transform
    parts = list(transform.transforms)
    while parts and library_of(parts[0]) and type(parts[0]).__name__ != "Compose" and take(parts[0]):
        parts.pop(0)
    if not parts:
        return None
    rest = copy.copy(transform)
    rest.transforms = parts
    return rest


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and hasattr(value, "numpy")


def _takes_boxes(transform: Any) -> bool:
    """Does any of its parts move boxes, as far as they tell?"""
    return any("bboxes" in str(getattr(one, "_available_keys", "bboxes")) for one in _all_parts(transform))


def _all_parts(transform: Any) -> list[Any]:
    parts = getattr(transform, "transforms", None)
    return [transform] if parts is None else [one for part in parts for one in _all_parts(part)]


class Albumentations(Wrapped):
    """Pipelines of Albumentations, one after the other, each called once for a record with all that belongs
    together: image, mask or masks, boxes. Their numbers are their labels, and say what is left of all that
    has an element for each box.

    Args:
        before: what is done to batches before it.
    """

    def __init__(self, transforms: list[Any], roles: Roles, number: int, before: list[Any]) -> None:
        super().__init__(transforms, roles, number)
        self._moved = any(isinstance(one, MOVING) or _moves(one, roles.boxes) for one in before)
        self._copies: list[list[Any]] = []  # of each thread: pipelines hold their random state
        self._lock = threading.Lock()  # of the copies, which two iterators may want
        self._keys = self._targets()
        self._apart = [False] * len(transforms)  # of each pipeline: it leaves the boxes as they are
        self._format = ""  # of the boxes
        self._labels: list[str] = []  # the fields that go with the boxes
        if roles.boxes is not None:
            self._take_boxes(roles.boxes)

    def _targets(self) -> dict[str, str]:
        """The name that each image and mask goes by."""
        first, *others = self.roles.images
        more = {name for one in self.transforms for name in getattr(one, "additional_targets", None) or {}}
        for field in others:
            if field.name not in more:
                raise InvalidError(
                    f"{self!r}: field {field.name} is an image too: A.Compose(..., additional_targets="
                    f"{{{field.name!r}: 'image'}}) transforms both, PerPicture(..., field={first.name!r}) one"
                )
        masks = self.roles.masks
        if len(masks) == 1:
            named = {masks[0].name: "mask"}
        else:
            named = {field.name: field.name if field.name in more else "masks" for field in masks}
        return {first.name: "image"} | {field.name: field.name for field in others} | named

    def _take_boxes(self, boxes: Field) -> None:
        given: list[Any] = [getattr(one, "processors", {}).get("bboxes") for one in self.transforms]
        processors = [processor for processor in given if processor]
        self._format = _FORMATS.get(self.roles.form, "")
        fit = all(processor.params.format == self._format for processor in processors)
        missing = next(
            (one for one, has in zip(self.transforms, given, strict=True) if not has and _takes_boxes(one)),
            None,
        )
        if not fit or missing is not None:
            say = f"give A.Compose bbox_params=A.BboxParams({self._format!r}), or leave it out of fields"
            say = say if self._format else "of which Albumentations has none"
            raise InvalidError(
                f"{shown(missing or self, 200)}: field {boxes.name} is boxes of the form {self.roles.form}: "
                f"{say}"
            )
        if not processors:  # they may as well not know of the boxes
            self.roles = Roles(self.roles.images, self.roles.masks)
            return
        self._apart = [not processor for processor in given]
        told = [name for one in processors for name in one.params.label_fields or ()]
        self._labels = list(dict.fromkeys([*(field.name for field in self.roles.per_box), *told]))

    @property
    def changed(self) -> list[str]:
        masks = {field.name for field in self.roles.masks}
        return [*super().changed, *(name for name in self._labels if name not in masks)]

    # ---------------------------------------------------------------------------------------- a record

    def _sample(self, columns: dict[str, Any], row: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for field in (*self.roles.images, *self.roles.masks):
            value, key = columns[field.name][row], self._keys[field.name]
            if value.ndim == 3 and not has_channels_last(field):
                value = (
                    value[0] if field in self.roles.masks and len(value) == 1 else value.transpose(1, 2, 0)
                )
            value = np.ascontiguousarray(value)
            if key == "masks":
                data.setdefault("masks", []).append(value)
            else:
                data[key] = value
        if self.roles.boxes is not None:
            data["bboxes"] = np.asarray(columns[self.roles.boxes.name][row])
            data[_NUMBERS] = np.arange(len(data["bboxes"]))
            if self._moved:
                left = ~_are_empty(data["bboxes"], self._format, data["image"].shape)
                data |= {name: data[name][left] for name in ("bboxes", _NUMBERS)}
        return data

    def _applied(self, pipeline: Any, data: dict[str, Any], record: int) -> dict[str, Any]:
        try:
            made: dict[str, Any] = pipeline(**data)
        except ValueError as error:
            if self.roles.boxes is None or "bbox" not in str(error):
                raise
            raise InvalidError(
                f"record {record}: Albumentations refuses a box of field {self.roles.boxes.name}: {error} It "
                "takes none that are empty or reach beyond the image: correct them in the store, or say "
                "A.BboxParams(..., clip=True, filter_invalid_bboxes=True), which removes them",
                first=record,
                count=1,
            ) from error
        return made

    def _result(self, data: dict[str, Any], flat: set[str], columns: dict[str, Any], row: int) -> list[Any]:
        """`flat`: the masks that came as (height, width)."""
        masks = iter(data.get("masks", ()))
        left = np.asarray(data.get(_NUMBERS, ()), np.int64).tolist()
        values = []
        for field in (*self.roles.images, *self.roles.masks):
            key = self._keys[field.name]
            value = next(masks) if key == "masks" else data[key]
            value = _placed(value, field, field in self.roles.masks, field.name in flat)
            values.append(value[left] if field.name in self._labels else value)
        of = self.roles.boxes
        boxes = np.empty(0) if of is None else np.asarray(columns[of.name][row])
        if self.roles.boxes is not None:
            values.append(_as_before(data["bboxes"], boxes))
        for name in self.changed[len(values) :]:
            values.append(elements_at(name, columns[name][row], left, len(boxes)))
        return values

    def _pipelines(self, slot: int) -> list[Any]:
        while len(self._copies) <= slot:
            self._copies.append([_numbered(copy.deepcopy(one)) for one in self.transforms])
        return self._copies[slot]

    # ----------------------------------------------------------------------------------------- a batch

    def _apply(self, batch: Any) -> None:
        names, ids = self.changed, getattr(batch, "ids", None)
        columns = {name: batch[name] for name in names}
        rows = len(columns[names[0]])
        results: list[Any] = [None] * rows
        flat = {field.name for field in self.roles.masks if rows and columns[field.name][0].ndim == 2}
        keys = Keys(self.seed, self.number, batch, rows)
        own = [keys.of_part(at) for at in range(len(self.transforms))]  # of each pipeline
        threads = self.threads if all(hasattr(one, "set_random_state") for one in self.transforms) else 1

        def work(start: int, stop: int, slot: int) -> None:
            for row in range(start, stop):
                self._check_wanted()
                data = self._sample(columns, row)
                for pipeline, of_it, apart in zip(self._pipelines(slot), own, self._apart, strict=True):
                    _seed(pipeline, of_it.of_row(row))
                    kept = {name: data.pop(name) for name in ("bboxes", _NUMBERS)} if apart else {}
                    data = self._applied(pipeline, data, row if ids is None else int(ids[row])) | kept
                results[row] = self._result(data, flat, columns, row)

        with self._lock:
            self._pipelines(threads - 1)
            if rows:
                in_threads(rows, threads, work)
        moved = {field.name for field in (*self.roles.images, *self.roles.masks)}
        for at, name in enumerate(names):
            values = [result[at] for result in results]
            listed = name not in moved or name in self._labels
            batch[name] = values if listed else gathered(values, self._made, name)


def _numbered(pipeline: Any) -> Any:
    """With the numbers of boxes for their labels."""
    processor = getattr(pipeline, "processors", {}).get("bboxes")
    if processor:
        processor.params.label_fields = [_NUMBERS]
    return pipeline


def _seed(pipeline: Any, key: int) -> None:
    """Versions before 2 have no state of their own, and draw from Python's."""
    if hasattr(pipeline, "set_random_state"):
        pipeline.set_random_state(np.random.Generator(np.random.PCG64(key)), random.Random(key))


def _moves(one: Any, boxes: Field | None) -> bool:
    """Is it a step in Python that may have moved the boxes, and left some empty?"""
    return isinstance(one, Wrapped) and boxes is not None and boxes.name in one.changed


def _are_empty(boxes: np.ndarray, form: str, shape: tuple[int, ...]) -> np.ndarray:
    """Which boxes have no area, as Albumentations computes it: what a crop before it has left of those that
    lie outside, for which it has an error."""
    made = boxes[:, :4].astype(np.float32)
    if form == "coco":
        made[:, 2:] += made[:, :2]
    if form in ("coco", "pascal_voc"):
        made /= np.array([shape[1], shape[0]] * 2, np.float32)
    sides = made[:, 2:] if form == "yolo" else made[:, 2:] - made[:, :2]
    return np.asarray((sides <= 0).any(1))


def _as_before(boxes: Any, given: np.ndarray) -> np.ndarray:
    """Boxes, in the type of floats that they had: Albumentations computes with f64, unless there are none."""
    made = np.asarray(boxes)
    return made.astype(given.dtype) if given.dtype.kind == "f" else made


def _placed(value: Any, field: Field, is_mask: bool, flat: bool) -> np.ndarray:
    """With channels first; a mask as it came."""
    last = is_mask and has_channels_last(field)
    if _is_tensor(value):
        value = value.detach().numpy()
    elif value.ndim == 3:
        value = np.ascontiguousarray(value if last else value.transpose(2, 0, 1))
    if is_mask and value.ndim == 2 and not flat:
        return value[..., None] if last else value[None]
    return value


def gathered(values: list[Any], made: dict[str, tuple[tuple[int, ...], Any]], name: str) -> Any:
    """The arrays of all rows as one; as a list where their shapes differ. `made` keeps, for batches without
    rows, what it comes to."""
    if not values:
        shape, dtype = made.get(name, ((), np.uint8))
        return np.empty((0, *shape), dtype)
    made.setdefault(name, (values[0].shape, values[0].dtype))
    if any(value.shape != values[0].shape for value in values):
        return values
    return np.stack(values)
