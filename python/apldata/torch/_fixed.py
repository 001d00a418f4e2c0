"""What cannot be changed, as a change would have no effect."""

from __future__ import annotations

from typing import Any, NoReturn

from .._errors import InvalidError, InvalidTypeError


class Fixed(list[Any]):
    """A list that is refused to be changed; `_advice` says what to do instead."""

    _advice = ""

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        raise InvalidTypeError(self._advice)

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)


class Labels(Fixed):
    """The labels of a dataset."""

    _advice = (
        "targets cannot be changed: samples have the labels of the store. Copy them, list(dataset.targets), "
        "to look at others; to train with others, change them by a function in transforms=, or in "
        "target_transform= for torch's DataLoader, or write a store that has them"
    )


def refuse_targets() -> NoReturn:
    """For whoever sets the labels of a dataset."""
    raise InvalidError(Labels._advice)


def refuse_transform(name: str) -> NoReturn:
    """For whoever gives a transform to a dataset that a loader reads."""
    raise InvalidError(
        f"{name} cannot be set while an apldata.torch.DataLoader reads the dataset, since the loader would "
        "not call it: make another loader with transforms=..."
    )


def refuse_transforms() -> NoReturn:
    """For whoever looks for what torchvision's datasets have."""
    raise InvalidError(
        "transforms cannot be set: samples have transform and target_transform, and batches the transforms= "
        "of apldata.torch.DataLoader"
    )
