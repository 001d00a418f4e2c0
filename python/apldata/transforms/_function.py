"""A function over single images, as a transform over batches."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arguments import flag, names_checked, optional_text, shown, wrong_type
from .._errors import InvalidError, InvalidTypeError
from .._records import row_told

_MODULE = "torch.nn.modules.module"  # whose __call__() hands everything to forward()


SEVERAL_VIEWS = (
    "several images for one: return them as one, torch.stack(views) or np.stack(views), and batches are "
    "(batch_size, views, channels, height, width)"
)


def _takes(function: Callable[..., Any], keyword: str) -> bool:
    """Has the function an argument of that name? Of those that do not tell, it is expected; not of modules of
    torch, whose forward() may name it as it likes."""
    module = getattr(type(function).__call__, "__module__", None) == _MODULE
    called: Any = function
    try:
        arguments = inspect.signature(called.forward if module else called).parameters
    except (TypeError, ValueError):
        return not module
    kinds = {argument.kind for argument in arguments.values()}
    by_place = kinds - {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return keyword in arguments or (inspect.Parameter.VAR_KEYWORD in kinds and not (module and by_place))


def _has_channels_last(result: np.ndarray, is_tensor: bool, channels: int) -> bool:
    """Of an image that a function has made, or several views of one. Of torch's tensors channels come first,
    of arrays last, unless only the other dimension has as many as came."""
    first, last = result.shape[-3] == channels, result.shape[-1] == channels
    return last if first != last else not is_tensor


class PerPicture:
    """A function over single images, as a transform over batches.

    ``function(image=image)["image"]``, or ``function(image)`` if it has no argument of that name, is called
    for each image of the batch, as an array of the shape (height, width, channels), or (height, width) if the
    store has that, and may return another shape and dtype, the same for all: an array as it was given, or a
    tensor (channels, height, width); or several views of it, stacked along a new first dimension. All of this
    is Python, on one thread, ahead of the training loop: it adds about 2 µs per image to the time of the
    function. The C transforms take less than half a microsecond.

    Transforms of torchvision and Albumentations need no `PerPicture`. Within one they are applied to the
    images of `field` alone, and to what follows these. A loader cannot know what a function of your own
    moves.

    Args:
        function: of one image, called once for each; its randomness is its own.
        field: the field of the images; None: "image".
        keyword: the argument that takes the image; None: the first.
        channels_last: False: the function gets and returns images as (channels, height, width). After
            `ChannelsLast`, batches keep their channels last in either case.
    """

    arrives_last = False  # do images come with channels last, as after ChannelsLast()?

    @names_checked()
    def __init__(
        self,
        function: Callable[..., Any],
        field: str | None = None,
        keyword: str | None = "image",
        channels_last: bool = True,
    ) -> None:
        if not callable(function):
            raise wrong_type("PerPicture: function", "a function", function)
        if isinstance(function, type):
            raise InvalidTypeError(f"PerPicture: {function.__name__} is a class: write {function.__name__}()")
        self.function, self.channels_last = function, bool(flag("PerPicture: channels_last", channels_last))
        self.field = optional_text("PerPicture: field", field) or "image"
        self.is_named = field is not None
        keyword = optional_text("PerPicture: keyword", keyword)
        self.keyword = keyword if keyword is None or _takes(function, keyword) else None

    def _one(self, image: np.ndarray) -> np.ndarray:
        coloured, comes_last = image.ndim == 3, self.arrives_last
        given = image
        if coloured and self.channels_last != comes_last:
            given = np.ascontiguousarray(np.moveaxis(image, *((-1, 0) if comes_last else (0, -1))))
        result = self.function(given) if self.keyword is None else self.function(**{self.keyword: given})
        result = self._image_of(result)
        is_tensor = hasattr(result, "detach")
        array = np.asarray(result)
        if array.ndim == 0 or array.dtype.kind not in "biufcV":
            raise wrong_type(f"what {shown(self.function)} returns", "an image", result)
        if array.ndim not in (3, 4):
            return array
        if coloured:
            is_last = _has_channels_last(array, is_tensor, image.shape[-1 if comes_last else 0])
        else:
            is_last = array.shape[-1] <= 4  # otherwise several views of a grey image
        is_last = is_last and self.channels_last
        if is_last == comes_last:
            return array
        return np.moveaxis(array, *((-1, -3) if is_last else (-3, -1)))

    def _image_of(self, result: Any) -> Any:
        """The one image that the function has returned."""
        told = f"{shown(self.function)} has returned"
        if isinstance(result, dict):
            key = self.keyword or "image"
            if key not in result:
                raise InvalidError(f"{told} a dict without {key!r}")
            others = ", ".join(repr(name) for name in result if name != key)
            if others:
                raise InvalidError(f"{told} {others} beside {key!r}: a function of the batch may add fields")
            result = result[key]
        if result is None:
            raise InvalidError(f"{told} None, not an image")
        if isinstance(result, (list, tuple)) and any(getattr(one, "ndim", 0) > 1 for one in result):
            raise InvalidTypeError(f"{told} {SEVERAL_VIEWS}")
        return result

    def __call__(self, batch: Any) -> None:
        images = batch[self.field]
        if not len(images):
            return
        made = [self._one(image) for image in images]
        other = next((k for k, one in enumerate(made) if one.shape != made[0].shape), 0)
        if other:
            told = ", ".join(f"{made[k].shape} of {row_told(batch, k)[0]}" for k in (0, other))
            raise InvalidError(
                f"field {self.field}: {shown(self.function)} has returned images of several shapes: {told}: "
                "crop or resize them to one"
            )
        batch[self.field] = np.stack(made)

    def __repr__(self) -> str:
        return f"PerPicture({self.function!r}, field={self.field!r})"
