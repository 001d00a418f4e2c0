"""The part of a sequence of transforms that runs in C so far, and the order in which C applies it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._roles import Roles
from ..schema import Field, has_channels_last
from ..transforms import ToFloat32, Transform

# The settings of transforms that change pixels, in the order in which C applies them.
PIXELS = (
    "affine_p", "perspective_p", "elastic_p", "policy", "jitter_p", "grey_p", "blur_p", "erase_p"
)  # fmt: skip


class State:
    """The part of a sequence of transforms that runs in C so far.

    Args:
        settings: of the transforms that precede the sequence and run in C already.
        label: the one field of labels that may be mixed.
    """

    def __init__(self, roles: Roles, settings: dict[str, Any], label: Field | None = None) -> None:
        self._label = label
        self._roles, self._settings = roles, dict(settings)
        self._image = roles.images[0]
        self._floats: type[Transform] | None = None
        self._scaled, self._normalised = True, False
        self._touched = "scale" in settings or "dtype" in settings
        self._moves: list[Callable[[tuple[str, ...]], Transform]] = []
        self._colours: list[Transform] = []
        self._normalize: Any = None
        self._erasing: Any = None  # made of the scale of its value
        self._erased_pixels = self._erased_normalised = False  # what was done when it was erased
        self._mixing: Transform | None = None
        self._any_size = any(field.is_photo for field in roles.images)
        self.why = ""  # the last step cannot be done in C; "": no more is known than that

    @property
    def possible(self) -> bool:
        """Whether C can transform such fields."""
        boxes = self._roles.boxes
        pictures = all(field.is_picture or field.is_photo for field in self._roles.images)
        pictures = pictures and not any(map(has_channels_last, self._roles.masks))
        return pictures and (boxes is None or (boxes.dtype == "f32" and boxes.shape == (-1, 4)))

    @property
    def sized(self) -> bool:
        """Whether all images have one size afterwards, as batches need."""
        return not self._any_size or bool({"crop_height", "resize_height"} & self._settings.keys())

    def transforms(self) -> list[Transform]:
        """Those that run in C."""
        names = tuple(field.name for field in self._roles.images)
        done = [move(names) for move in self._moves] + self._colours
        converted: list[Transform] = []
        if self._normalize is not None:
            converted.append(self._normalize(names))
        if self._floats is not None and not (self._normalised and self._floats is ToFloat32):
            converted.append(self._floats(scale=self._scaled, field=names))  # type: ignore[call-arg]
        mixed = [] if self._mixing is None else [self._mixing]
        return [*self._with_erased(done, converted), *mixed]

    def _with_erased(self, done: list[Transform], converted: list[Transform]) -> list[Transform]:
        if self._erasing is None:
            return done + converted
        if self._erased_pixels:
            return [*done, self._erasing(1), *converted]
        if self._normalised and not self._erased_normalised:
            return [*done, self._erasing(255), *converted]
        return [*done, *converted, self._erasing(1)]

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self._roles.images)

    def _side(self, key: str, axis: int) -> int:
        """A side of the images as they are by now."""
        resized = self._settings.get(key.replace("crop", "resize"), 0)
        if key in self._settings or resized:
            return int(self._settings.get(key, resized))
        return 1 if self._any_size else int(self._image.shape[axis])

    def _set(self, key: str, value: Any, move: Callable[[tuple[str, ...]], Transform]) -> bool:
        self._settings[key] = value
        self._moves.append(move)
        return True

    def _take_pixels(self, key: str, make: Callable[[], Transform]) -> bool:
        """Takes a step that changes pixels of u8, unless C would do it before what was done already."""
        late = any(done in self._settings for done in PIXELS[PIXELS.index(key) :])
        if late or self._touched or self._floats is not None:
            return False
        if any(field.channels not in (1, 3) for field in self._roles.images):
            return False
        try:
            transform = make()
        except (ValueError, TypeError):  # such as ours does not take
            return False
        self._settings.update(transform.settings())
        self._colours.append(transform)
        return True
