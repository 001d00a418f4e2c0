"""Which fields a store gets: from what the caller asks for, what the source says, and its first rows."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any

from .._arguments import names, text, wrong_type
from .._arrays import store_dtype
from .._declared import declared
from .._errors import Error, InvalidError, InvalidTypeError
from ..kinds import Mask
from ..schema import UNCLEAR, Field, listed, plain
from ._beside import Beside
from ._cells import has_gaps
from ._found import found
from ._images import BYTES, DecodedImage, File, Header, alike, is_image, mask_of, media_of
from ._making import Files, Json, Maker, Numbers, Pixels
from ._reading import bytes_of, files_of, header_of
from ._refusals import refusal
from ._segmentation import Segmentation
from ._shapes import shape_of_numbers
from ._times import unit_of
from ._told import Chunk, Column, Told, said

Types = Mapping[str, Any] | None
Fields = Iterable[str] | Mapping[str, str] | None
Classes = Mapping[str, Iterable[str]] | Iterable[str] | None
AS_MASK = Told(mark="target", as_mask=True, kind=Mask())
_CODES = ("u8", "u16", "u32")  # the types of classes' numbers


@dataclasses.dataclass
class Asked:
    """What the caller asks for.

    Attributes:
        fields: the names of fields, by those of columns, in their order; None: all.
        types: of fields, what is known of their types; "json" is that.
        classes: of fields, the names of their classes; None: to be found.
        keep_bytes, check, allow_warnings: see `convert()`.
    """

    fields: dict[str, str] | None
    types: dict[str, Told | str]
    classes: dict[str, tuple[str, ...] | None]
    keep_bytes: bool | None
    check: bool
    allow_warnings: bool

    def field(self, column: str) -> str:
        return column if self.fields is None else self.fields[column]

    def says_nothing(self, column: str, told: Mapping[str, Told]) -> bool:
        """Does nobody say what the column is for?"""
        name, of = self.field(column), told.get(column, Told())
        return name not in {**self.types, **self.classes} and of.mark is None and of.classes is None


def _fields(fields: Fields) -> dict[str, str] | None:
    if isinstance(fields, Mapping):
        return {text("fields", old): text(f"fields[{old!r}]", new) for old, new in fields.items()}
    found = names("fields", fields)
    return None if found is None else {name: name for name in found}


def _type(name: str, spec: Any) -> Told | str:
    if isinstance(spec, Field):
        (field,) = declared({name: spec})
        return Told(str(field.dtype), field.shape, is_file=field.media is not None, **said(field))
    if isinstance(spec, str) and spec == "mask":
        return AS_MASK
    if isinstance(spec, str) and spec in ("json", "file"):
        return "json" if spec == "json" else Told(is_file=True)
    dtype, shape = spec if isinstance(spec, tuple) and len(spec) == 2 else (spec, None)
    found = store_dtype(dtype, f"types[{name!r}]")
    if shape is not None:
        shape = declared({name: (dtype, tuple(shape))})[0].shape
    return Told(found, (-1,) if found == "utf8" else shape)


def _classes(classes: Classes) -> dict[str, tuple[str, ...] | None]:
    if isinstance(classes, Mapping):
        return {name: tuple(names(f"classes[{name!r}]", given) or ()) for name, given in classes.items()}
    return dict.fromkeys(names("classes", classes) or ())


def asked(fields: Fields, types: Types, classes: Classes, *of_files: Any) -> Asked:
    """What the caller gave, checked."""
    if not isinstance(types, Mapping | None):
        raise wrong_type("types", "a mapping from names of fields to types", types)
    known = {text("types", name): _type(name, spec) for name, spec in (types or {}).items()}
    return Asked(_fields(fields), known, _classes(classes), *of_files)


# ------------------------------------------------------------------------------------------------ choosing


def _members(fields: Mapping[str, str], columns: list[str]) -> Iterator[tuple[str, str]]:
    """The fields, with the members of structs in their place."""
    for old, new in fields.items():
        inside = [] if old in columns else [name for name in columns if name.startswith(f"{old}.")]
        yield from ((name, new + name.removeprefix(old)) for name in inside or [old])


def check_names(wanted: Asked, columns: Iterable[str]) -> list[str]:
    """The columns that are wanted, in order; refuses names that nothing has."""
    columns = list(columns)
    if wanted.fields is not None:
        wanted.fields = dict(_members(wanted.fields, columns))
    for name in wanted.fields or ():
        if name not in columns:
            raise InvalidError(f"fields: there is no column {name!r}: there are {listed(columns)}")
    chosen = list(wanted.fields) if wanted.fields is not None else columns
    made = [wanted.field(column) for column in chosen]
    for option, given in (("types", wanted.types), ("classes", wanted.classes)):
        for name in given:
            if name not in made:
                raise InvalidError(f"{option}: there is no field {name!r}: there are {listed(made)}")
    for name in made:
        if made.count(name) > 1:
            raise InvalidError(f"fields: two columns would both be the field {name!r}")
    return chosen


def _unnamed(names: tuple[str, ...]) -> str:
    """Of the classes of a field that cannot have their names."""
    more = f", ... ({len(names)} in all)" if len(names) > 100 else ""
    told = ", ".join(f"{number} {plain(name)}" for number, name in enumerate(names[:100]))
    return (
        "a field of lists keeps the numbers of classes, not their names: write these into a file of the "
        f"store's directory, as docs/DATA.md shows; they are {told}{more}"
    )


def _as_pixels(column: str, what: str, values: Column) -> str:
    """Of images that are stored decoded; those that were converted have a note of their own."""
    exact = not any(isinstance(value, DecodedImage) and value.remarks for value in values)
    return f"column {column}: {what}: their pixels are stored{', without loss' * exact}"


def not_of_lists(name: str) -> str:
    """Why the field has no classes."""
    return (
        f"classes: field {plain(name)} holds lists, of which a store keeps the numbers of classes and not "
        "their names: write these into a file of the store's directory, as docs/DATA.md shows"
    )


def are_lists(values: Column) -> bool:
    one = next((value for value in values if value is not None), None)
    return isinstance(one, list) or getattr(one, "ndim", 0) > 0


class _Chooser:
    """Chooses the makers of one source."""

    def __init__(
        self, wanted: Asked, first: Chunk, columns: list[str], pool: Executor, outside: bool
    ) -> None:
        self._wanted, self._first, self._pool, self._outside = wanted, first, pool, outside
        self._made = [wanted.field(column) for column in columns]
        self.notes: list[str] = []
        self._images: list[str] = []

    def maker(self, column: str, told: Told) -> Maker:
        name, values = self._wanted.field(column), self._first[column]
        given = self._wanted.types.get(name, Told())
        if isinstance(given, str):
            return Json(column, self._field(Told("utf8", (-1,)), name))
        told = given.over(told)
        if told.as_mask:
            told, values = self._masks(column, told, values)
        if given.dtype is not None:
            told = dataclasses.replace(told, refused="", is_file=given.is_file)
        if (told.dtype is None and not told.is_file and not told.refused) or told.shape is None:
            told = self._completed(given, told, values)
        told = self._with_classes(name, told, are_lists(values))
        if told.inside:
            self.notes.append(f"column {column}: {_unnamed(told.inside)}")
        if told.refused:
            alone = len(self._first) == 1 and hasattr(values[0], "__dict__")
            raise refusal(column, name, given, told.refused, values, alone and column == "value")
        if told.time is None and not told.is_file:
            told = dataclasses.replace(told, time=unit_of(values))
        if told.time and given.dtype is None:
            self.notes.append(f"column {column}: stored as {told.time} ({told.dtype})")
        if told.is_file:
            return self._files(column, name, told, values, self._outside or given.is_file or given.as_mask)
        if any(isinstance(value, DecodedImage) for value in values[:1]):
            self._images.append(name)
            if not told.as_mask:
                self.notes.append(_as_pixels(column, "images come without their files", values))
            self._note_palettes(column, name, values)
        field = self._field(told, name)
        if field.layout_unclear:
            if not any(isinstance(value, DecodedImage) for value in values[:1]):
                self.notes.append(f"column {column}: {UNCLEAR.format(field.type)} (types={{{name!r}: ...}})")
            field = dataclasses.replace(field, layout="CHW")  # so that the writer need not warn again
        maker = Numbers(column, field)
        maker.masks, maker.time, maker.asked = told.as_mask, told.time, given.dtype is not None
        return maker

    def _masks(self, column: str, told: Told, values: Column) -> tuple[Told, Column]:
        """Of masks; texts are where their files lie. What is no mask, its row will tell."""
        if any(isinstance(value, str) for value in values):
            told = dataclasses.replace(told, is_file=True)
        images = [value for value in values if isinstance(value, DecodedImage)]
        if not images:
            return told, values
        made = list(map(mask_of, images))
        good = [one for one in made if isinstance(one, DecodedImage)]
        if not good:
            raise InvalidTypeError(f"column {column}: {made[0]}")
        others = [value for value in values if not isinstance(value, DecodedImage)]
        return told, [*alike(good), *others]

    def _completed(self, given: Told, told: Told, values: Column) -> Told:
        """With what the first rows tell."""
        if isinstance(values, list):
            values = [None if has_gaps(value) else value for value in values]
        of_rows = found(values)
        if told.is_file:
            return told if not of_rows.refused or "missing" in of_rows.refused else of_rows
        if of_rows.refused and given.dtype is not None:
            shape = shape_of_numbers(values)
            of_rows = of_rows if shape is None else Told(shape=shape)
        if told.dtype is not None:
            of_rows = dataclasses.replace(
                of_rows, refused="" if of_rows.shape is not None else of_rows.refused, is_file=False
            )
        return told.over(of_rows)

    def _with_classes(self, name: str, told: Told, lists: bool) -> Told:
        """With the names of classes, and the smallest type that their numbers fit into."""
        given = self._wanted.types.get(name, Told())
        dtype = given.dtype if isinstance(given, Told) else None
        classes = self._wanted.classes.get(name) or (told.classes if dtype in (None, *_CODES) else None)
        if not classes:
            return dataclasses.replace(told, classes=None)
        if lists:
            raise InvalidError(not_of_lists(name))
        if dtype not in _CODES:
            as_stored = (
                told.mark is not None and told.dtype in _CODES
            )  # what a store was made into keeps its type
            needed = (len(classes) > 256) + (len(classes) > 65536)
            dtype = _CODES[max(needed, _CODES.index(str(told.dtype)) if as_stored else 0)]
        mark = told.mark or "target"
        return dataclasses.replace(told, dtype=dtype, shape=(), classes=tuple(classes), mark=mark, refused="")

    def _field(self, told: Told, name: str) -> Field:
        mark = told.mark or ("target" if name == "label" else "input")
        return declared([Field(name, told.dtype, told.shape or (), **{**said(told), "mark": mark})])[0]

    def describe_images(self, makers: list[Maker], told: Mapping[str, Told]) -> None:
        """Beside images, columns whose marks nobody tells are what is known of them, as in aplingest's lists:
        targets, but for shapes and orientations."""
        beside = {f"{image}_{what}" for image in self._images for what in ("shape", "orientation")}
        for maker in makers if self._images else ():
            name = maker.field.name
            given = self._wanted.types.get(name)
            said = told.get(maker.column, Told()).mark or (given.mark if isinstance(given, Told) else None)
            if said is None and name not in self._images:
                mark = "name" if name in beside else "target"
                maker.field = dataclasses.replace(maker.field, mark=mark)

    # ------------------------------------------------------------------------------------------- files

    def _medias(self, values: list[Any], outside: bool) -> Counter[str]:
        """The media types of the first files; of those that can be read."""
        found: Counter[str] = Counter()
        for value in values:
            with suppress(Error):  # making its record will tell
                if value is not None and not isinstance(value, DecodedImage):
                    head = value.head() if isinstance(value, File) and outside else value
                    found[media_of(bytes_of(head, outside))] += 1
        return found

    def _files(self, column: str, name: str, told: Told, given: Column, outside: bool) -> Maker:
        values = files_of(given)
        decoded_already = any(isinstance(value, DecodedImage) for value in values)
        medias, keep = self._medias(values, outside), self._wanted.keep_bytes
        are_images = 2 * sum(count for media, count in medias.items() if is_image(media)) > medias.total()
        few = 2 * medias["image/jpeg"] < sum(count for media, count in medias.items() if is_image(media))
        decode = told.as_mask or keep is False or (keep is None and (few or "image/jpeg" not in medias))
        if told.media is None and (decoded_already or told.as_mask or (are_images and decode)):
            return self._pixels(column, name, told, values, outside)
        media = next(iter(medias)) if len(medias) == 1 else BYTES
        if keep is None and are_images:
            media = "image/jpeg"
        media = told.media or media
        field = self._field(dataclasses.replace(told, dtype="u8", shape=(-1,), media=media), name)
        shaped = media == "image/jpeg" and not told.shapeless
        beside = Beside(self._paths(name, values), self._shapes(name) if shaped else None)
        if is_image(media):
            self._images.append(name)
        maker = Files(column, field, beside, outside, self._pool)
        maker.check, maker.allow_warnings = self._wanted.check, self._wanted.allow_warnings
        maker.recode = keep is None and are_images and told.media is None
        maker.told = told.media is not None
        return maker

    def _beside(self, field: Field) -> Field | None:
        """A field beside that of files, unless there is one of that name."""
        if field.name in self._made:
            return None
        self._made.append(field.name)
        return declared([field])[0]

    def _shapes(self, name: str) -> Field | None:
        return self._beside(Field(f"{name}_shape", "u32", (3,), "name"))

    def _orientations(self, name: str, images: list[Header | DecodedImage]) -> Field | None:
        """Of images that are decoded and not turned, if any of the first ought to be."""
        turned = any(image.orientation > 1 for image in images)
        return self._beside(Field(f"{name}_orientation", "u8", (), "name")) if turned else None

    def _paths(self, name: str, values: list[Any]) -> Field | None:
        files = [value for value in values if isinstance(value, File)]
        if not files or any(file.name is None for file in files):
            return None
        free = (one for one in ("path", f"{name}_path") if one not in self._made)
        return self._beside(Field(next(free, "path"), "utf8", (-1,), "name"))

    def _note_palettes(self, column: str, name: str, values: Column) -> None:
        if any(isinstance(value, (Header, DecodedImage)) and value.of_palette for value in values):
            self.notes.append(
                f"column {column}: images with a palette become colours: of masks, whose numbers are "
                f"classes, types={{{name!r}: 'mask'}} keeps the numbers"
            )

    def _pixels(self, column: str, name: str, told: Told, values: list[Any], outside: bool) -> Maker:
        of_pillow = any(isinstance(value, DecodedImage) for value in values)
        what = "images" if self._wanted.keep_bytes is False else "images that are not JPEG"
        what = "images come without their files" if of_pillow else what
        if not told.as_mask:
            self.notes.append(_as_pixels(column, what, values))
        of = outside, told.as_mask, self._wanted.allow_warnings
        made = list(self._pool.map(lambda value: header_of(value, *of), values))
        good = [one for one in made if isinstance(one, (Header, DecodedImage))]
        if not good:
            bad = next((row for row, one in enumerate(made) if isinstance(one, str)), None)
            raise InvalidTypeError(
                f"column {column}: nothing but missing values"
                if bad is None
                else f"row {bad:,}, column {column}: {made[bad]}"
            )
        self._images.append(name)
        if told.as_mask:
            good = alike(good)
        medias = () if told.as_mask else self._medias(values, outside)
        jpegs = self._wanted.keep_bytes is None and "image/jpeg" in medias
        self._note_palettes(column, name, good)
        of_rows = found(good) if of_pillow else _as_folders(found(good), jpegs)
        if of_rows.refused:
            raise refusal(column, name, Told(), of_rows.refused, values)
        told = dataclasses.replace(told, is_file=False, media=None)
        field = self._field(told.over(of_rows), name)
        beside = Beside()
        if not of_pillow:
            beside = Beside(self._paths(name, values), self._shapes(name), self._orientations(name, good))
        if field.layout_unclear:
            field = dataclasses.replace(field, layout="CHW")  # as images are decoded
        maker = Pixels(column, field, beside, outside, self._pool)
        maker.masks, maker.allow_warnings = told.as_mask, self._wanted.allow_warnings
        maker.upright = all(image.orientation == 1 for image in good)
        return maker


def _as_folders(told: Told, jpegs: bool) -> Told:
    """The shapes that aplingest gives images in folders: channels first, and all of one shape or none; none
    where there are JPEGs among them."""
    shape = told.shape or ()
    shape = (1, *shape) if len(shape) == 2 else shape
    return dataclasses.replace(told, shape=(-1,) * len(shape) if -1 in shape or jpegs else shape)


def choose(
    wanted: Asked, told: Mapping[str, Told], first: Chunk, columns: list[str], pool: Executor, outside: bool
) -> tuple[list[Maker], list[str]]:
    """The makers of the columns that are wanted, and what the caller ought to know of them."""
    chooser = _Chooser(wanted, first, columns, pool, outside)
    unsaid = {column: wanted.field(column) for column in columns if wanted.says_nothing(column, told)}
    masks = Segmentation({one: first[one] for one in columns}, told, unsaid, outside, wanted.allow_warnings)
    guessed = () if wanted.keep_bytes else columns
    of_all = {column: told.get(column, Told()) for column in columns}
    by_name = dataclasses.replace(AS_MASK, kind_origin="guessed")
    of_all |= {column: by_name.over(of_all[column]) for column in guessed if masks.are_masks(column)}
    makers = [chooser.maker(column, of_all[column]) for column in columns]
    chooser.describe_images(makers, told)
    masks.mark(makers)
    return makers, [*chooser.notes, *masks.notes]
