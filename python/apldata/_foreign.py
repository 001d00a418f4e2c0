"""Transforms of torchvision and Albumentations among those that a loader is given: known without importing
their packages, translated into those that run in C where these do the same, and else wrapped as functions
over batches."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._arguments import brief, shown
from ._errors import CancelledError, Error, InvalidError, NotFoundError
from ._following import Following, first_mixing, first_moving, parts_of
from ._library import library_of, steps_of
from ._roles import Roles
from ._store import Store
from ._translation import Translation, altered, library_of_class, name_of
from .schema import Field, warn_unclear
from .transforms import MIXING, MOVING, PerPicture, SanitizeBoundingBoxes, Transform, listed

_LONGEST_REASON = 300  # characters of why a transform of another library cannot be applied


# ----------------------------------------------------------------------------------------- all of a list


class _Plan:
    """The transforms of a loader, as they are gone through: those that run in C, then functions."""

    def __init__(self, store: Store, wanted: Iterable[str] | None, kinds: Mapping[str, Any] | None) -> None:
        self._following, self._schema = Following(store, wanted, kinds), store.schema
        self.done: list[Any] = []
        self._moving: list[tuple[Any, list[str]]] = []  # what moves pixels, and of which images
        self._images: dict[str, None] = {}  # that have transforms of their own

    def _settings(self) -> dict[str, dict[str, Any]]:
        """Of each field, what is done in C so far."""
        settings: dict[str, dict[str, Any]] = {}
        for transform in self.done:
            for name in transform.fields if isinstance(transform, Transform) else ():
                settings.setdefault(name or "", {}).update(transform.settings())
        return settings

    def add_own(self, transform: Transform) -> None:
        """One of ours, with its field made known if only one is an image; C says what is wrong otherwise."""
        if isinstance(transform, SanitizeBoundingBoxes):
            transform = self._sanitizing(transform)
        images = self._following.images() if transform.field is None else []
        if len(images) == 1:
            transform = copy.copy(transform)
            object.__setattr__(transform, "field", images[0])
        named = [name for name in transform.fields if name is not None and self._following.reads(name)]
        self._images |= dict.fromkeys(named)
        if named and isinstance(transform, MOVING):
            self._moving.append((transform, named))
        if named and isinstance(transform, MIXING):
            self._following.check_mixed(transform, named)
        self.done.append(transform)

    def _sanitizing(self, transform: SanitizeBoundingBoxes) -> SanitizeBoundingBoxes:
        """For the images that boxes follow."""
        _check_first(transform, self.done)
        moving = next((one for one in self.done if isinstance(one, MOVING)), None)
        if moving and (transform.field is None or moving.fields[0] in transform.fields):
            transform = copy.copy(transform)
            object.__setattr__(transform, "field", moving.fields[0])
        return transform

    def add_function(self, function: Any) -> None:
        """One of the user's own."""
        if isinstance(function, PerPicture):
            if function.field in self._schema.names:
                if function.channels_last:
                    warn_unclear(self._schema[function.field])
            elif not function.is_named and all(isinstance(one, Transform) for one in self.done):
                raise NotFoundError(
                    f"{function!r}: there is no field {function.field!r}: say field=, one of "
                    f"{', '.join(self._schema.names)}"
                )
            if self._settings().get(function.field, {}).get("layout") == _core.APL_NHWC:
                function = copy.copy(function)
                function.arrives_last = True
        self.done.append(function)

    def add(self, transforms: list[Any], library: str, image: str | None = None) -> None:
        """Some of another library, one after the other; `image`: of that alone, and what follows it."""
        roles = self._following.roles(transforms[0], image)
        of = [field.name for field in roles.images]
        self._images |= dict.fromkeys(of)
        for field in roles.images:
            warn_unclear(field)
        if (moving := first_moving(transforms)) is not None:
            self._moving.append((moving, of))
        elif library == "torchvision" and all(map(_changes_values, transforms)):
            roles = Roles(roles.images)
        if (mixing := first_mixing(transforms)) is not None:
            self._following.check_mixed(mixing, of)
        self._add(transforms, library, roles)

    def check(self) -> None:
        """Refuses what moves images beside what can neither follow nor stay."""
        for transform, images in self._moving:
            self._following.check(transform, images, self._images)

    def _add(self, transforms: list[Any], library: str, roles: Roles) -> None:
        settings = self._settings()
        for field in roles.all:
            if settings.get(field.name, {}).get("layout") == _core.APL_NHWC:
                raise InvalidError(
                    f"{shown(transforms[0])} after ChannelsLast(): transforms of {library} are given the "
                    "channels in the order that they want; leave ChannelsLast() out"
                )
        rest = transforms
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
        if rest:
            self._wrap(rest, library, roles)
        elif library == "torchvision" and added:
            self.done.append(AddChannel(added))

    def _check_decoded(self, step: Any, roles: Roles, why: str) -> None:
        """Files are decoded in C, which must be told to what size: only then can Python do the rest."""
        for field in roles.images:
            if field.media:
                raise InvalidError(
                    f"{shown(step)}: field {field.name} keeps JPEG files, which C decodes and brings to one "
                    "size before anything else: begin with RandomResizedCrop, or Resize and CenterCrop, "
                    f"bilinear and antialiased{'; of this one, ' if why else ''}{why}"
                )

    def _wrap(self, rest: list[Any], library: str, roles: Roles) -> None:
        # Drawn alike for different images, so that what each is given by itself stays together.
        number = sum(isinstance(one, Wrapped) and one.roles.shares(roles) for one in self.done)
        if library == "torchvision":
            from .torch._torchvision import Torchvision

            label = self._label.name if self._label else None
            self.done.append(Torchvision(rest, roles, number, label))
        else:
            from ._albumentations import Albumentations

            self._check_no_bfloat16(rest[0], roles)
            self.done.append(Albumentations(rest, roles, number, self.done))

    def _check_no_bfloat16(self, step: Any, roles: Roles) -> None:
        settings = self._settings()
        if any(settings.get(field.name, {}).get("dtype") == _core.APL_BF16 for field in roles.images):
            raise InvalidError(f"{shown(step)}: Albumentations takes no bfloat16: say ToFloat32() before it")

    @property
    def _label(self) -> Field | None:
        """The only target of a single number, if there is one."""
        targets = [
            one.field
            for one in self._following.fates()
            if one.field.mark == "target" and one.field.shape == ()
        ]
        return targets[0] if len(targets) == 1 else None


def _changes_values(transform: Any) -> bool:
    """Does one of torchvision's that moves nothing leave masks and boxes alone? Those of users may not."""

    def of_images(part: Any) -> bool:
        retypes = isinstance(getattr(part, "dtype", None), dict)
        others = any(word in name_of(part) for word in ("Lambda", "BoundingBoxes", "KeyPoints"))
        return library_of_class(part) == "torchvision" and not (altered(part) or retypes or others)

    return all(map(of_images, parts_of(transform)))


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
        self._ended = self._works = False
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

    def __call__(self, batch: Any) -> None:
        try:
            self._apply(batch)
        except Error:
            raise
        except Exception as error:
            if self._works:
                raise
            fields = ", ".join(f"{field.name}: {field.type}" for field in self.roles.all)
            told = brief(str(error), _LONGEST_REASON)
            raise InvalidError(
                f"{self!r} cannot be applied to {fields}: {type(error).__name__}: {told}{self._advice(error)}"
            ) from error
        self._works = True

    def _advice(self, error: Exception) -> str:
        return ""

    def _apply(self, batch: Any) -> None:
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
    transforms: Any, store: Store, wanted: Iterable[str] | None = None, kinds: Mapping[str, Any] | None = None
) -> list[Any]:
    """The transforms that a loader is given, with those of other libraries made into ours, or into functions
    over batches.

    Args:
        wanted: names of the fields that are read; None: all.
        kinds: what they are, where the store does not say it, or says something else.

    Raises:
        InvalidError, NotFoundError: one that cannot be applied; the message says why.
    """
    plan = _Plan(store, wanted, kinds)
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
            plan.add([inner], library, first.field)
        else:
            group = [first]
            while given and library_of(given[0]) == library:
                group.append(given.pop(0))
            plan.add(group, library)
    plan.check()
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
