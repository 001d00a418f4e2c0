"""Transforms of torchvision, applied to the records of a batch: each in a draw of its own, or all at once
where nothing is random and a batch is transformed as its images are."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torchvision import tv_tensors  # type: ignore[import-untyped, import-not-found, unused-ignore]
from torchvision.transforms import v2  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .._albumentations import gathered
from .._arguments import shown
from .._errors import InvalidError
from .._following import first_moving, parts_of
from .._foreign import Wrapped
from .._library import steps_of
from .._records import Keys, in_threads
from .._roles import Roles
from .._translation import altered, name_of
from ..schema import Field, has_channels_last
from ..transforms._function import SEVERAL_VIEWS
from ._keyed import Keyed, here, use_one_thread
from ._removing import Removing, removes
from ._tensors import from_array, held

_ALL_AT_ONCE = {
    "CenterCrop", "ConvertImageDtype", "Grayscale", "Identity", "Normalize", "PILToTensor", "Pad", "RGB",
    "Resize", "ToDtype", "ToImage", "ToPureTensor", "ToTensor",
}  # fmt: skip
_MIXING = {"MixUp", "CutMix"}
_TO_TENSOR, _AS_TENSOR = {"ToTensor", "to_tensor"}, {"PILToTensor", "pil_to_tensor"}
# Those of v2 that draw in make_params() alone, as a test checks.
_DRAW_FIRST = {
    "ColorJitter", "ElasticTransform", "GaussianBlur", "RandomAffine", "RandomCrop", "RandomResize",
    "RandomResizedCrop", "RandomRotation", "RandomShortestSize", "ScaleJitter",
}  # fmt: skip
_FORMATS = {"xyxy": "XYXY", "xywh": "XYWH", "cxcywh": "CXCYWH"}
_WIDER = {torch.uint16: torch.int32, torch.uint32: torch.int64}  # torch cannot flip the former
_FEWEST_PIXELS = 64 * 64  # of an image that is worth more threads than one: below, they wait for the GIL


# -------------------------------------------------------------------------------------------- randomness


def _draws_first(step: Any) -> Any:
    """A copy of a step of v2 that enters this thread's mode where it draws, and only there: the mode makes
    each operation of torch's dearer. None: it may draw anywhere."""
    known = type(step).__name__ in _DRAW_FIRST and type(step).__module__.startswith(
        "torchvision.transforms.v2"
    )
    if not known or altered(step) or not hasattr(step, "make_params"):
        return None
    quick, inner = copy.copy(step), step.make_params

    def make_params(inputs: Any) -> Any:
        with here.keyed:
            return inner(inputs)

    quick.make_params = make_params
    return quick


class _Drawing:
    """A step that may draw anywhere, within this thread's mode."""

    def __init__(self, step: Any) -> None:
        self.inner = step

    def __call__(self, sample: Any) -> Any:
        with here.keyed:
            return _applied(self.inner, sample)


def _keyed_step(step: Any) -> Any:
    """A step, entering this thread's mode by itself."""
    return step if isinstance(step, Removing) else _draws_first(step) or _Drawing(step)


# -------------------------------------------------------------------------------------------------- steps


def is_image(value: Any) -> bool:
    """Is it an image, and not what moves with one?"""
    return not isinstance(value, (tv_tensors.Mask, tv_tensors.BoundingBoxes))


def _applied(step: Any, sample: Any) -> Any:
    """One step. Those that make tensors of PIL's images and arrays are given a tensor here; torchvision's
    older ones, which know images alone, these."""
    name = name_of(step)
    if isinstance(sample, dict) and (name in _TO_TENSOR | _AS_TENSOR or not _knows_masks(step)):
        return {key: _applied(step, value) if is_image(value) else value for key, value in sample.items()}
    if isinstance(sample, torch.Tensor) and name in _TO_TENSOR | _AS_TENSOR:
        return v2.functional.to_dtype(sample, torch.float32, scale=True) if name in _TO_TENSOR else sample
    return step(sample)


def _of_v2(step: Any) -> Any:
    """Those of v1 that draw by Python's generator, as those of v2, which draw by torch's; and Grayscale, that
    makes three channels of one in v2 alone."""
    if type(step).__module__ == "torchvision.transforms.transforms":
        if type(step).__name__ == "Grayscale":
            return v2.Grayscale(step.num_output_channels)
        if type(step).__name__ == "RandomChoice":
            return v2.RandomChoice(step.transforms, p=step.p)
        if type(step).__name__ == "RandomOrder":
            return v2.RandomOrder(step.transforms)
    return step


def _for_all(step: Any) -> bool:
    """May it be given all images of a batch at once?"""
    name = type(step).__name__
    if not type(step).__module__.startswith("torchvision.") or altered(step):
        return False
    return name in _ALL_AT_ONCE or (name == "GaussianBlur" and step.sigma[0] == step.sigma[1])


def _mixes(step: Any) -> bool:
    """Does it mix the records of a batch, or choose among such as do?"""
    if type(step).__name__ in _MIXING:
        return True
    parts = getattr(step, "transforms", ()) if isinstance(step, v2.Transform) else ()
    return any(map(_mixes, parts))


def _knows_masks(step: Any) -> bool:
    """Can it be given a dict of an image and what moves with it?"""
    if name_of(step) in _TO_TENSOR | _AS_TENSOR:
        return True
    return isinstance(step, v2.Transform) or not type(step).__module__.startswith("torchvision.transforms")


class Torchvision(Wrapped):
    """Steps of torchvision, one after the other.

    Args:
        label: the field of the labels, for MixUp and CutMix.
    """

    def __init__(self, transforms: list[Any], roles: Roles, number: int, label: str | None) -> None:
        super().__init__(transforms, roles, number)
        if roles.boxes is not None:  # each step by itself, as they differ in what they are given
            transforms = [step for transform in transforms for step in steps_of(transform)]
        self._steps = [_of_v2(step) for step in transforms]
        self._label = label
        dtypes = (getattr(part, "dtype", None) for step in self._steps for part in parts_of(step))
        self._retyped = any(isinstance(dtype, dict) for dtype in dtypes)  # may masks get another type?
        self._alone = not roles.masks and roles.boxes is None and len(roles.images) == 1
        self._check()
        masks = [field.name for field in roles.masks]
        self._per_box = [field.name for field in roles.per_box if field.name not in masks]
        if roles.boxes is not None:
            of = [field.name for field in roles.per_box if field.name in masks]
            name = roles.boxes.name
            self._steps = [Removing(one, name, of) if removes(one) else one for one in self._steps]

    def _check(self) -> None:
        roles = self.roles
        if roles.boxes is not None and roles.form not in _FORMATS:
            raise InvalidError(
                f"{self!r}: field {roles.boxes.name}: torchvision has no boxes of the form {roles.form}"
            )
        old = first_moving(step for step in self._steps if not _knows_masks(step))
        if old is not None and not self._alone:
            others = ", ".join(field.name for field in roles.all[1:])
            raise InvalidError(
                f"{name_of(old)} of torchvision.transforms takes an image alone, and would leave {others} "
                "as it is: torchvision.transforms.v2 has the same for both"
            )
        if any(map(_mixes, self._steps)) and self._label is None:
            raise InvalidError(f"{self!r}: no field, or more than one, is a target of a single number to mix")
        if any(map(_mixes, self._steps)) and not self._alone:
            raise InvalidError(
                f"{self!r} mixes the images of one field, with their labels: leave the others out of fields="
            )
        tensors = [step for step in self._steps if name_of(step) in _TO_TENSOR | _AS_TENSOR]
        if any(map(altered, tensors)):
            raise InvalidError(
                f"{self!r}: hooks of ToTensor and PILToTensor are not called, as images are tensors "
                "already: put the hook on another transform, such as v2.Identity()"
            )

    @property
    def changed(self) -> list[str]:
        return [*super().changed, *self._per_box]

    def _advice(self, error: Exception) -> str:
        if "PIL" in str(error):
            return "; images come as tensors: put v2.ToPILImage() in front of what wants PIL's"
        wide = [field.name for field in self.roles.images if field.dtype == "u16"]
        if not wide or "UInt16" not in str(error):
            return ""
        alone = len(wide) == len(self.roles.images)
        follow = "" if alone else f"if it is to follow by nearest neighbour, say masks={wide!r}, else "
        return f"; torch cannot do that with uint16: {follow}put v2.ToDtype(torch.int32) first"

    # ---------------------------------------------------------------------------------------- one sample

    def _wrap(self, field: Field, value: torch.Tensor, canvas: tuple[int, int]) -> torch.Tensor:
        """Of one record or, all the same, of many."""
        if field is self.roles.boxes:
            form = tv_tensors.BoundingBoxFormat[_FORMATS[self.roles.form]]
            return tv_tensors.BoundingBoxes(value, format=form, canvas_size=canvas)
        return value.as_subclass(tv_tensors.Mask if field in self.roles.masks else tv_tensors.Image)

    def _sample(self, values: dict[str, Any]) -> Any:
        images = self.roles.images
        canvas = tuple(values[images[0].name].shape[-2:])
        if self._alone:
            return self._wrap(images[0], values[images[0].name], canvas)
        fields = {field.name: field for field in self.roles.all}
        return {name: self._wrap(fields[name], value, canvas) for name, value in values.items()}

    def _values(self, sample: Any) -> dict[str, torch.Tensor]:
        names = [field.name for field in self.roles.all]
        sample = {names[0]: sample} if self._alone else sample
        return {name: _plain(sample[name]) for name in names}

    def _run(self, steps: list[Any], values: dict[str, Any]) -> dict[str, torch.Tensor]:
        per_box = {name: values[name] for name in self._per_box}
        sample = self._sample({name: value for name, value in values.items() if name not in per_box})
        for step in steps:
            sample, per_box = self._step(step, sample, per_box)
        return self._values(sample) | per_box

    def _step(self, step: Any, sample: Any, per_box: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if isinstance(step, Removing):
            with here.keyed:
                return step(sample, per_box)
        made = _applied(step, sample)
        if self.roles.per_box and self.roles.boxes is not None:
            name = self.roles.boxes.name
            if not isinstance(made, dict) or len(made.get(name, ())) != len(sample[name]):
                raise InvalidError(
                    f"{shown(getattr(step, 'inner', step), 200)}: it has changed the number of {name}, and "
                    f"left {', '.join(field.name for field in self.roles.per_box)} as it is: let it set boxes "
                    "that are to go to 0, and put v2.SanitizeBoundingBoxes() after it, which removes them"
                )
        return made, per_box

    # ------------------------------------------------------------------------------------------ a batch

    def _parts(self) -> list[tuple[Callable[..., Any], list[Any]]]:
        """Steps that follow each other and are done in the same way: for each record, for all, or mixing."""
        parts: list[tuple[Callable[..., Any], list[Any]]] = []
        for step in self._steps:
            at_once = _for_all(step) and self.roles.boxes is None
            how = self._mix if _mixes(step) else self._at_once if at_once else self._each
            if parts and parts[-1][0] == how:
                parts[-1][1].append(step)
            else:
                parts.append((how, [step]))
        return parts

    def _apply(self, batch: Any) -> None:
        fields, boxes = self.roles.all, self.roles.boxes
        columns = {field.name: self._column(field, held(batch, field.name)) for field in fields}
        columns |= {name: _tensors(held(batch, name)) for name in self._per_box}
        listed = {*(field.name for field in self.roles.per_box), *([boxes.name] if boxes else [])}
        rows = len(columns[fields[0].name])
        keys = Keys(self.seed, self.number, batch, rows)
        with torch.no_grad():
            done: Counter[Callable[..., Any]] = Counter()
            for how, steps in self._parts() if rows else ():
                columns = how(steps, columns, keys.of_part(done[how]), batch)
                done[how] += 1
        for name, values in columns.items():
            values = list(values) if name in listed else values
            batch[name] = self._array(name, values, name in listed)

    def _column(self, field: Field, values: Any) -> Any:
        """The values of all rows as a tensor, with channels first; as a list where their shapes differ."""
        if isinstance(values, list):
            return [self._column(field, value[None])[0] for value in values]
        values = from_array(values) if isinstance(values, np.ndarray) else values
        if field in self.roles.masks:
            values = values.to(_WIDER.get(values.dtype, values.dtype))
        if has_channels_last(field):
            return values.permute(0, 3, 1, 2)
        grey = field in self.roles.images and values.ndim == 3
        return values[:, None] if grey else values

    def _array(self, name: str, values: Any, listed: bool) -> Any:
        """The results of all rows; masks with their channels where they are stored, and of their type."""
        for field in self.roles.masks:
            if field.name == name and has_channels_last(field):
                values = _channels_last(values)
            if field.name == name and not self._retyped:
                values = _narrowed(values, field.dtype)
        if listed or (isinstance(values, list) and values and values[0].dtype == torch.bfloat16):
            return [_array(value) for value in values]
        if isinstance(values, list):
            return gathered([value.numpy() for value in values], self._made, name)
        if values.dtype == torch.bfloat16:
            return values  # NumPy may not know it
        if len(values):
            self._made.setdefault(name, (tuple(values.shape[1:]), values.numpy().dtype))
        return values.contiguous().numpy() if len(values) else gathered([], self._made, name)

    def _each(self, steps: list[Any], columns: dict[str, Any], keys: Keys, batch: Any) -> dict[str, Any]:
        """Every record by itself, on threads."""
        names = list(columns)
        rows, first = len(columns[names[0]]), columns[names[0]][0]
        results: list[Any] = [None] * rows
        steps = [_keyed_step(step) for step in steps]

        def work(start: int, stop: int, slot: int) -> None:
            use_one_thread()
            here.keyed = keyed = Keyed()
            with torch.no_grad():
                for row in range(start, stop):
                    self._check_wanted()
                    keyed.generator.manual_seed(keys.of_row(row))
                    results[row] = self._run(steps, {name: columns[name][row] for name in names})

        small = first.shape[-1] * first.shape[-2] < _FEWEST_PIXELS
        in_threads(rows, 1 if small else self.threads, work)
        return {name: _stacked([result[name] for result in results]) for name in names}

    def _at_once(self, steps: list[Any], columns: dict[str, Any], keys: Keys, batch: Any) -> dict[str, Any]:
        """All records together, if they are of one shape."""
        if any(isinstance(values, list) for values in columns.values()):
            return self._each(steps, columns, keys, batch)
        return self._run(steps, columns)

    def _mix(self, steps: list[Any], columns: dict[str, Any], keys: Keys, batch: Any) -> dict[str, Any]:
        """Records with each other, and their labels: a draw for the batch."""
        name = str(self._label)
        keyed = Keyed()
        images, labels = columns[self.roles.images[0].name], batch[name]
        labels = from_array(labels) if isinstance(labels, np.ndarray) else labels
        labels = labels if labels.is_floating_point() else labels.long()
        with keyed:
            for number, step in enumerate(steps):
                keyed.generator.manual_seed(keys.of_batch(number))
                images, labels = step(images, labels)
        batch[name] = labels.numpy()
        return {**columns, self.roles.images[0].name: images}


def _tensors(values: Any) -> Any:
    """The values of all rows, as they are stored; texts as they are."""
    if isinstance(values, list):
        return [_tensors(value) for value in values]
    return from_array(values) if isinstance(values, np.ndarray) else values


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, torch.Tensor) and value.dtype != torch.bfloat16 else value


def _channels_last(values: Any) -> Any:
    if isinstance(values, list):
        return [value.permute(1, 2, 0) for value in values]
    return values.permute(0, 2, 3, 1)


def _narrowed(values: Any, dtype: str) -> Any:
    """Masks that were widened for torch."""
    if isinstance(values, list):
        return [_narrowed(value, dtype) for value in values]
    narrow = {"u16": torch.uint16, "u32": torch.uint32}.get(dtype)
    return values if narrow is None or values.dtype != _WIDER[narrow] else values.to(narrow)


def _plain(value: Any) -> torch.Tensor:
    """A tensor of what came out."""
    if not isinstance(value, (torch.Tensor, np.ndarray)) and hasattr(value, "getbands"):  # an image of PIL's
        value = v2.functional.pil_to_tensor(value)
    if isinstance(value, np.ndarray):
        value = torch.from_numpy(value.transpose(2, 0, 1) if value.ndim == 3 else value)
    if isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value):
        raise TypeError(f"it returns {SEVERAL_VIEWS}")
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"a tensor is needed, not {type(value).__name__}")
    return value.as_subclass(torch.Tensor)


def _stacked(values: list[Any]) -> Any:
    if not isinstance(values[0], torch.Tensor) or any(value.shape != values[0].shape for value in values):
        return values
    return torch.stack(values)
