"""Transforms of torchvision and Albumentations among those that a loader is given: known without importing
their packages, translated into those that run in C where these do the same, and else wrapped as functions
over batches."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from . import _core
from ._arguments import brief, shown
from ._errors import CancelledError, InvalidError, NotFoundError
from ._leaving import (
    check_alone,
    check_declared,
    check_getters,
    check_left,
    check_mixed,
    check_one_motion,
    check_told,
    first_mixing,
    labels_of_boxes,
    rows_of,
    without_unmoved,
)
from ._library import library_of, steps_of
from ._roles import NOTHING_SAID, Declared, Roles, Trial, image_of, roles_named, roles_of
from ._translation import Translation
from .schema import Field, Schema, warn_unclear
from .transforms import MIXING, MOVING, Follow, PerPicture, SanitizeBoundingBoxes, Transform, listed

_SIDES = ("crop_height", "crop_width", "resize_height", "resize_width")
_LONGEST_REASON = 300  # characters of why a transform of another library cannot be applied


# ----------------------------------------------------------------------------------------- all of a list


class _Plan:
    """The transforms of a loader, as they are gone through: those that run in C, then functions."""

    def __init__(self, schema: Schema, wanted: Iterable[str] | None, said: Declared) -> None:
        self._schema, self._wanted = schema, None if wanted is None else list(wanted)
        self._said = said
        self.done: list[Any] = []
        self._told: list[Transform] = []  # those that move fields that the user names

    def _settings(self) -> dict[str, dict[str, Any]]:
        """Of each field, what is done in C so far."""
        settings: dict[str, dict[str, Any]] = {}
        for transform in self.done:
            for name in transform.fields if isinstance(transform, Transform) else ():
                settings.setdefault(name or "", {}).update(transform.settings())
        moving = self._moving()
        of = settings[moving.fields[0] or ""] if moving else {}
        sides = {key: of[key] for key in _SIDES if key in of}
        for name in self._said.masks if moving else ():
            settings.setdefault(name, {}).update(sides, follows=True)
        return settings

    def _moving(self) -> Transform | None:
        """The first that moves images in C: masks and boxes follow those."""
        return next((one for one in self.done if isinstance(one, MOVING)), None)

    def _motions(self) -> dict[str, dict[str, Any]]:
        """How C moves each image."""
        motions: dict[str, dict[str, Any]] = {}
        for one in self.done:
            for name in one.fields if isinstance(one, MOVING) else ():
                motions.setdefault(name or "", {}).update(one.settings())
        return motions

    def add_own(self, transform: Transform) -> None:
        """One of ours, with its field made known."""
        if isinstance(transform, SanitizeBoundingBoxes):
            transform = copy.copy(transform)  # its labels are made known later
            moving = self._moving()
            if moving and (transform.field is None or moving.fields[0] in transform.fields):
                object.__setattr__(transform, "field", moving.fields[0])  # which boxes follow
        unsaid = transform.field is None
        if unsaid:
            transform = copy.copy(transform)
            image = image_of(self._schema, self._read(), transform, self._said)
            if isinstance(transform, MOVING):
                check_alone(transform, image, self._read(), self._said)
            object.__setattr__(transform, "field", image.name)
        elif isinstance(transform, MOVING):
            self._told.append(transform)
        if isinstance(transform, MIXING):
            images = [self._schema[name] for name in transform.fields if name in self._schema.names]
            check_mixed(transform, images, self._read() if unsaid else [], self._said)
        self.done.append(transform)

    def add_function(self, function: Any) -> None:
        """One of the user's own."""
        if isinstance(function, PerPicture):
            if function.field in self._schema.names:
                if function.channels_last:
                    warn_unclear(self._schema[function.field])
            elif not function.says_alone and all(isinstance(one, Transform) for one in self.done):
                raise NotFoundError(
                    f"{function!r}: there is no field {function.field!r}: say field=, one of "
                    f"{', '.join(self._schema.names)}"
                )
            if self._settings().get(function.field, {}).get("layout") == _core.APL_NHWC:
                function = copy.copy(function)
                function.arrives_last = True
        self.done.append(function)

    def add_followers(self) -> None:
        """Declared masks and boxes follow the images of the first transform that moves some in C."""
        moving, said = self._moving(), self._said
        check_told(self._told, self._read(), self._said)
        if said:
            check_one_motion(self._motions(), said)
        if said and moving and not any(isinstance(one, Follow) for one in self.done):
            follow = Follow(said.masks, said.boxes, said.box_format, field=moving.fields[0])
            self.done.insert(self.done.index(moving) + 1, follow)
        for at, one in enumerate(self.done):
            if isinstance(one, SanitizeBoundingBoxes):
                _check_first(one, self.done[:at])
                self._complete_sanitize(one, moving)

    def _complete_sanitize(self, one: SanitizeBoundingBoxes, moving: Transform | None) -> None:
        if self._said.boxes is None:
            raise InvalidError(
                f"{shown(one, 200)}: name the field of the boxes, as in Loader(..., boxes='boxes')"
            )
        if moving is None:
            raise InvalidError(f"{shown(one, 200)}: no transform moves the images, and so none their boxes")
        if one.labels is None:
            masks = tuple(self._schema[name] for name in self._said.masks)
            images = (self._schema[moving.fields[0] or ""],)
            rows = self._rows(Roles(images, masks, self._schema[self._said.boxes]))
            object.__setattr__(one, "labels", labels_of_boxes(one, rows))

    def _rows(self, roles: Roles) -> list[Field]:
        """The fields that may have an element for each box, and have no other role."""
        wanted = (field for field in self._schema if self._wants(field) and field not in roles.all)
        return [] if roles.boxes is None else rows_of(roles.boxes, wanted, roles.images)

    def add(self, transforms: list[Any], library: str) -> None:
        """Some of another library, one after the other."""
        roles = roles_of(self._schema, self._wanted, transforms[0], self._said)
        roles = without_unmoved(transforms, roles) if library == "torchvision" else roles
        check_left(transforms, roles, self._read(), self._said)
        mixing = first_mixing(transforms)
        if mixing is not None:
            check_mixed(mixing, roles.images, self._read(), self._said, own=False)
        self._add(transforms, library, roles)

    def add_each(self, each: PerPicture, library: str) -> None:
        """One of another library, for the fields that the user names."""
        roles = roles_named(self._schema, *each.roles)
        mixing = None if each.says_alone else first_mixing([each.function])
        if mixing is not None:
            check_mixed(mixing, roles.images, self._read(), self._said, own=False)
        if not each.says_alone:
            check_left([each.function], roles, self._read(), self._said, each=True)
        self._add([each.function], library, roles, said=True)

    def _add(self, transforms: list[Any], library: str, roles: Roles, said: bool = False) -> None:
        """`said`: the roles are those that the user names."""
        if library == "torchvision":
            check_getters(transforms, self._rows(roles))
        settings = self._settings()
        for field in roles.all:
            if settings.get(field.name, {}).get("layout") == _core.APL_NHWC:
                raise InvalidError(
                    f"{shown(transforms[0])} after ChannelsLast(): transforms of {library} are given the "
                    "channels in the order that they want; leave ChannelsLast() out"
                )
        rest = transforms
        roles = self._following(roles)
        translation = Translation(roles, settings.get(roles.images[0].name, {}), self._label)
        if translation.possible and all(isinstance(one, Transform) for one in self.done):
            rest = _translated(transforms, translation, library)
            if translation.sized:
                self.done += translation.transforms()
        known = all(isinstance(one, (Transform, Wrapped, AddChannel)) for one in self.done)
        if known and not translation.sized:
            self._check_decoded((rest or transforms)[0], roles, translation.why)
            rest = transforms
        added = [field.name for field in roles.images if len(field.shape) == 2]
        if rest and said:
            check_declared(rest, roles, self._said)
        if rest:
            self._wrap(rest, library, roles, said)
        elif library == "torchvision" and added:
            self.done.append(AddChannel(added))

    def _following(self, roles: Roles) -> Roles:
        """Masks of images of any size follow them, even if they are not declared to the loader."""
        if not roles.images[0].is_photo or roles.follow or not roles.masks or roles.boxes is not None:
            return roles
        masks = dict.fromkeys((*self._said.masks, *(field.name for field in roles.masks)))
        self._said = replace(self._said, masks=tuple(masks))
        return replace(roles, follow=True)

    def _check_decoded(self, step: Any, roles: Roles, why: str) -> None:
        """Files are decoded in C, which must be told to what size: only then can Python do the rest."""
        for field in roles.images:
            if field.media:
                raise InvalidError(
                    f"{shown(step)}: field {field.name} keeps JPEG files, which C decodes and brings to one "
                    "size before anything else: begin with RandomResizedCrop, or Resize and CenterCrop, "
                    f"bilinear and antialiased{'; of this one, ' if why else ''}{why}"
                )

    def _wrap(self, rest: list[Any], library: str, roles: Roles, said: bool) -> None:
        # Drawn alike for different images, so that what each is given by itself stays together.
        number = sum(isinstance(one, Wrapped) and one.roles.shares(roles) for one in self.done)
        boxes, rows = roles.boxes, self._rows(roles)
        wrapped: Wrapped
        if library == "torchvision":
            from .torch._torchvision import Torchvision

            label = self._label.name if self._label else None
            wrapped = Torchvision(rest, roles, number, label, rows)
        else:
            from ._albumentations import Albumentations

            self._check_no_bfloat16(rest[0], roles)
            wrapped = Albumentations(rest, roles, number, self.done)
            wrapped.check_rows(rows, said)
        wrapped.try_out(Trial(self._schema, self._wanted, self._settings(), boxes, rows), self.done)
        self.done.append(wrapped)

    def _check_no_bfloat16(self, step: Any, roles: Roles) -> None:
        settings = self._settings()
        if any(settings.get(field.name, {}).get("dtype") == _core.APL_BF16 for field in roles.images):
            raise InvalidError(f"{shown(step)}: Albumentations takes no bfloat16: say ToFloat32() before it")

    @property
    def _label(self) -> Field | None:
        """The only target of a single number, if there is one."""
        targets = [f for f in self._schema if f.mark == "target" and f.shape == () and self._wants(f)]
        return targets[0] if len(targets) == 1 else None

    def _read(self) -> list[Field]:
        """The fields that are read."""
        return [field for field in self._schema if self._wants(field)]

    def _wants(self, field: Field) -> bool:
        return self._wanted is None or field.name in self._wanted


def _check_first(one: SanitizeBoundingBoxes, before: list[Any]) -> None:
    """It is done in C, and so before all that is done in Python."""
    late = next((function for function in before if isinstance(function, Wrapped)), None)
    if late is not None:
        raise InvalidError(
            f"{shown(one, 200)}: it runs in C, and so before {late!r}, which runs in Python: after that, "
            "say v2.SanitizeBoundingBoxes() of torchvision"
        )


def _translated(transforms: list[Any], translation: Translation, library: str) -> list[Any]:
    """Gives to C what that can do; what is left."""
    if library == "torchvision":
        steps = [step for transform in transforms for step in steps_of(transform)]
        while steps and translation.take(steps[0]):
            steps.pop(0)
        return steps
    from ._albumentations import without_first

    rest = list(transforms)
    while rest:
        parts = without_first(rest[0], translation.take)
        if parts is not None:
            return [parts, *rest[1:]]
        rest.pop(0)
    return rest


class Wrapped:
    """Transforms of another library as a function over batches. `begin()` says what their randomness is keyed
    by, and how many threads there are."""

    def __init__(self, transforms: list[Any], roles: Roles, number: int) -> None:
        self.transforms, self.roles, self.number = transforms, roles, number
        self.seed, self.threads = 0, 1
        self._ended = False
        self._made: dict[str, tuple[tuple[int, ...], Any]] = {}  # shape and dtype of what comes out

    @property
    def changed(self) -> list[str]:
        """Names of the fields that it may change."""
        return [field.name for field in self.roles.all]

    def begin(self, seed: int, threads: int) -> None:
        self.seed, self.threads = seed, threads

    def end(self) -> None:
        """The loader is closed: a call of another thread is to end at the next record."""
        self._ended = True

    def _check_wanted(self) -> None:
        if self._ended:
            raise CancelledError("the loader was closed meanwhile")

    def try_out(self, batch: Trial, before: list[Any]) -> None:
        """Tries it on such records, so that what does not work is reported now, not in mid-training."""
        self._prepare(batch)
        for function in before:
            if not isinstance(function, Transform):
                if not isinstance(function, (Wrapped, AddChannel)):
                    return  # nobody knows what comes out of that
                function(batch)
        try:
            self(batch)
        except Exception as error:
            fields = ", ".join(f"{field.name}: {field.type}" for field in self.roles.all)
            told = brief(str(error), _LONGEST_REASON)
            raise InvalidError(
                f"{self!r} cannot be applied to {fields}: {type(error).__name__}: {told}{self._advice(error)}"
            ) from error

    def _prepare(self, batch: Trial) -> None:
        """Puts values in the place of made-up ones that would be refused."""

    def _advice(self, error: Exception) -> str:
        return ""

    def __call__(self, batch: Any) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return shown(self.transforms[0] if len(self.transforms) == 1 else self.transforms)


class AddChannel:
    """Gives images that are stored as (height, width) a channel, as torchvision has them."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def __call__(self, batch: Any) -> None:
        from .torch._tensors import held  # torchvision is there, and so is torch

        for name in self._names:
            batch[name] = held(batch, name)[:, None]


def resolved(
    transforms: Any, schema: Schema, wanted: Iterable[str] | None = None, said: Declared = NOTHING_SAID
) -> list[Any]:
    """The transforms that a loader is given, with those of other libraries made into ours, or into functions
    over batches.

    Args:
        wanted: names of the fields that are read; None: all.
        said: which fields are masks and boxes.

    Raises:
        InvalidError, NotFoundError: one that cannot be applied; the message says why.
    """
    plan = _Plan(schema, wanted, said)
    given = listed(transforms)
    while given:
        first = given.pop(0)
        inner = first.function if isinstance(first, PerPicture) else first
        library = library_of(inner)
        if isinstance(first, Transform):
            plan.add_own(first)
        elif library is None:
            plan.add_function(first)
        elif isinstance(first, PerPicture):
            plan.add_each(first, library)
        else:
            group = [first]
            while given and library_of(given[0]) == library:
                group.append(given.pop(0))
            plan.add(group, library)
    plan.add_followers()
    return plan.done


def begin(functions: Iterable[Any], seed: int, threads: int) -> None:
    """Says to those functions that are transforms of other libraries what they are keyed by."""
    for function in functions:
        if isinstance(function, Wrapped):
            function.begin(seed, max(1, threads))


def end(functions: Iterable[Any]) -> None:
    """Says to those that what they make is no longer wanted. A thread that is in the middle of torch's
    code when Python exits would abort the process."""
    for function in functions:
        if isinstance(function, Wrapped):
            function.end()
