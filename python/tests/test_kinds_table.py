"""What is declared of fields becomes of them, at every type and shape: they move, refuse the transform, or stay."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import (
    CutMix,
    Error,
    Field,
    InvalidError,
    Loader,
    Normalize,
    RandomFlip,
    Resize,
    Store,
    Writer,
    _core,
)
from apldata.kinds import Boxes, Image, Keypoints, Kind, Map, Mask, Pinned, Plain, Vectors, texts_of

IMAGE, MASK, MAP, BOXES = Image(), Mask(), Map(), Boxes()
KEYPOINTS, VECTORS, PINNED, PLAIN = Keypoints(), Vectors(), Pinned(), Plain()
IMAGES = {
    "small": Field("image", "u8", (3, 32, 32), kind=IMAGE),
    "tall": Field("image", "u8", (3, 256, 192), kind=IMAGE),
    "files": Field("image", "u8", media="image/jpeg", kind=IMAGE),
    "any": Field("image", "u8", (3, -1, -1), kind=IMAGE),
}
SIDES = {"small": (32, 32), "tall": (256, 192), "files": (32, 32), "any": (32, 32)}
FILE = "JPEG"
ROWS = [
    # name, type, shape, role: what it is beside u8[3,32,32], u8[3,256,192], and images of any size
    # name, type, shape, role: beside u8[3,32,32], u8[3,256,192], and images of any size
    ("right", "u8", (3, 32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("thumbnail", "u8", (3, 16, 16), "input", IMAGE, IMAGE, IMAGE),
    ("grey", "u8", (32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("last", "u8", (32, 32, 3), "input", IMAGE, IMAGE, IMAGE),
    ("photo", FILE, (-1,), "input", IMAGE, IMAGE, IMAGE),
    ("photo", "u8", (3, -1, -1), "input", IMAGE, IMAGE, IMAGE),
    ("infrared", "u16", (1, 64, 48), "input", IMAGE, IMAGE, IMAGE),
    ("hdr", "f32", (3, 32, 32), "input", IMAGE, PLAIN, PINNED),
    ("landmark", "u8", (3, 32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("landmark", "f32", (3, 32, 32), "input", IMAGE, KEYPOINTS, KEYPOINTS),
    ("thermal", "u16", (32, 32), "input", IMAGE, PLAIN, PINNED),
    ("bands", "f32", (7, 32, 32), "input", IMAGE, PLAIN, PINNED),
    # in four dimensions
    ("clip", "u8", (8, 3, 32, 32), "input", PINNED, PINNED, PINNED),
    ("clip", "u8", (-1, 3, 64, 48), "input", PINNED, PINNED, PINNED),
    ("clip", "f32", (-1, 3, -1, -1), "input", PLAIN, PLAIN, PINNED),
    ("views", "u8", (4, 32, 32, 3), "input", PINNED, PINNED, PINNED),
    ("volume", "f32", (1, 8, 32, 32), "input", PINNED, PLAIN, PINNED),
    ("slices", "f32", (1, 32, 32, 8), "target", PINNED, PLAIN, PLAIN),
    ("masks", "u8", (-1, 1, 32, 32), "target", PINNED, PINNED, PINNED),
    ("features", "f32", (2, 8, 4, 4), "input", PLAIN, PLAIN, PLAIN),
    # masks
    ("seg", "u8", (32, 32), "input", MASK, PINNED, MASK),
    ("annotations", "u8", (8, 32, 32), "input", MASK, PINNED, MASK),
    ("annotation", "u8", (32, 32), "input", MASK, PINNED, MASK),
    ("annotated", "u8", (3, 32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("seg_ids", "i64", (16, 77), "input", PLAIN, PLAIN, PLAIN),
    ("mask", "u8", (32, 32), "input", MASK, PINNED, MASK),
    ("segmentation", "i64", (32, 32), "input", MASK, PINNED, MASK),
    ("gt", "i32", (1, 32, 32), "target", MASK, PLAIN, MASK),
    ("gt", "i16", (32, 32, 1), "target", MASK, PLAIN, MASK),
    ("gt", "u8", (10, 10), "target", PINNED, PINNED, MASK),
    ("gt", "i64", (16, 16), "target", PINNED, PLAIN, MASK),
    ("gt", "u16", (-1, -1, -1), "target", PLAIN, PLAIN, MASK),
    ("gt", FILE, (-1,), "target", MAP, MAP, MASK),
    ("mask", "u8", (1, -1, -1), "target", MAP, MAP, MASK),
    ("gt", "u8", (3, -1, -1), "target", MAP, MAP, MASK),
    ("landmark_mask", "u8", (32, 32), "input", MASK, PINNED, MASK),
    ("masks", "u8", (-1, 32, 32), "target", PINNED, PINNED, PINNED),
    ("masks", "i32", (-1, 32, 32), "target", PINNED, PINNED, PINNED),
    ("attention_mask", "i64", (-1, -1), "input", PLAIN, PLAIN, PLAIN),
    ("causal_mask", "f32", (77, 77), "input", PLAIN, PLAIN, PLAIN),
    ("segment_ids", "i64", (16, 77), "input", PLAIN, PLAIN, PLAIN),
    ("joint_mask", "bool", (-1, 17, 3), "input", PLAIN, PLAIN, PLAIN),
    # maps
    ("depth", "f32", (32, 32), "target", MAP, PINNED, PINNED),
    ("normals", "f32", (32, 32, 3), "target", MAP, PLAIN, PINNED),
    ("normals", "i32", (32, 32, 2), "input", MAP, PLAIN, PINNED),
    ("edges", "f64", (7, 32, 32), "input", MAP, PLAIN, PINNED),
    ("planes", "f32", (-1, 32, 32), "input", PINNED, PLAIN, PLAIN),
    ("depth", "u16", (-1, -1), "input", MAP, MAP, MAP),
    ("depth", "u16", (-1, -1, -1), "input", MAP, MAP, MAP),
    ("depth", "i32", (1, -1, -1), "input", MAP, MAP, MAP),
    ("depth", "bool", (-1, -1), "input", MASK, MASK, MASK),
    ("depth", "f32", (1, -1, -1), "input", MAP, MAP, MAP),
    ("normals", "f32", (3, -1, -1), "input", PLAIN, PLAIN, MAP),
    ("disparity", "i16", (-1, -1), "input", PLAIN, PLAIN, MAP),
    ("surfaces", "u32", (1, -1, -1), "input", PLAIN, PLAIN, MAP),
    ("probabilities", "f32", (17, -1, -1), "target", PLAIN, PLAIN, MAP),
    ("heatmaps", "f32", (17, -1, -1), "input", MAP, MAP, MAP),
    # maps of other sizes
    ("heatmaps", "f32", (17, 64, 48), "target", PINNED, PINNED, PINNED),
    ("pose", "f32", (17, 64, 48), "target", PLAIN, PINNED, PINNED),
    ("pose", "f16", (64, 48, 17), "target", PLAIN, PINNED, PINNED),
    ("depth_map", "u8", (64, 48), "input", PINNED, PINNED, IMAGE),
    ("depth", "u16", (64, 48), "input", PINNED, PINNED, PINNED),
    ("segm", "i64", (17, 64, 48), "input", PINNED, PINNED, PINNED),
    ("sharp", "f32", (3, 64, 64), "target", PINNED, PLAIN, PINNED),
    ("grid", "f32", (8, 6), "target", PLAIN, PINNED, PINNED),
    # of one size, and large enough for an image
    ("thermal", "f32", (48, 64), "input", PLAIN, PLAIN, PINNED),
    ("bands", "u16", (13, 48, 64), "input", PLAIN, PLAIN, PINNED),
    ("valid", "bool", (48, 64), "input", PLAIN, PLAIN, PINNED),
    ("clip", "f32", (8, 3, 48, 64), "input", PLAIN, PLAIN, PINNED),
    ("patches", "f32", (197, 768), "input", PLAIN, PLAIN, PLAIN),
    ("patches", "f32", (24, 24), "input", PLAIN, PLAIN, PLAIN),
    ("features", "f32", (196, 384), "input", PLAIN, PLAIN, PLAIN),
    ("embeddings", "f32", (64, 64), "input", PLAIN, PLAIN, PLAIN),
    ("spectrogram", "f32", (1, 128, 100), "input", PLAIN, PLAIN, PLAIN),
    ("codes", "i64", (64, 64), "input", PLAIN, PLAIN, PLAIN),
    ("tokens", "u8", (4, 64), "input", PLAIN, PLAIN, PLAIN),
    ("attention_mask", "u8", (77, 77), "input", PLAIN, PLAIN, PLAIN),
    ("captions", "u8", (5, 40), "input", PLAIN, PLAIN, PLAIN),
    ("byte_ids", "u8", (4, 64), "input", PLAIN, PLAIN, PLAIN),
    ("codes", "i64", (1, 48, 64), "input", PLAIN, PLAIN, PINNED),
    # flow
    ("flow", "f32", (2, 32, 32), "target", VECTORS, VECTORS, VECTORS),
    ("flow", "i16", (32, 32, 2), "input", VECTORS, VECTORS, VECTORS),
    ("offsets", "f32", (-1, -1, 2), "input", VECTORS, VECTORS, VECTORS),
    ("motion", "f32", (-1, -1, 2), "target", PLAIN, PLAIN, VECTORS),
    ("motion", "f32", (2, -1, -1), "input", PLAIN, PLAIN, VECTORS),
    # boxes
    ("boxes", "f32", (-1, 4), "target", BOXES, BOXES, BOXES),
    ("bbox", "f32", (1, 4), "input", PINNED, PINNED, PINNED),
    ("boxes", "i64", (-1, 4), "target", PINNED, PINNED, PINNED),
    ("objects", "f32", (-1, 4), "target", BOXES, BOXES, BOXES),
    ("annotations", "f32", (-1, 4), "input", BOXES, BOXES, BOXES),
    ("bbox", "f32", (4,), "input", PINNED, PINNED, PINNED),
    ("boxes", "f32", (-1, 6), "input", PINNED, PINNED, PINNED),
    ("objects", "i64", (-1, 5), "target", PINNED, PINNED, PINNED),
    ("gt_boxes", "f64", (3, 6), "input", PINNED, PINNED, PINNED),
    ("annotations", "f32", (-1, 5), "input", PINNED, PINNED, PINNED),
    ("targets", "f32", (-1, 6), "input", PINNED, PINNED, PINNED),
    ("bbox", "f64", (-1,), "target", PINNED, PINNED, PINNED),
    ("objects.bbox", "i64", (-1, -1), "target", PINNED, PINNED, PINNED),
    ("rois_xyxy", "f32", (-1, -1), "input", PINNED, PINNED, PINNED),
    ("box_labels", "i64", (-1,), "target", PLAIN, PLAIN, PLAIN),
    # keypoints and outlines
    ("keypoints", "f32", (17, 3), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("keypoints", "f32", (2, 17, 3), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("keypoints", "i64", (-1, 17, 3), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("landmarks", "f32", (136,), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("joints", "u8", (5, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("image_points", "f32", (-1, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("polygon", "f32", (-1, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("polygons", "f32", (-1, -1, 2), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("polygons", "f32", (-1, -1), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("polygon", "i32", (8,), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("contour", "f32", (-1,), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("points", "f32", (-1,), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("polygons", "f32", (-1, 8), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("contours", "i32", (3, 12), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("segmentation", "f32", (-1,), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("segmentation", "f32", (-1, 4, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("segm", "f64", (-1, 8), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("segmentation", "f32", (32, 32), "target", MAP, PINNED, PINNED),
    ("kps", "f32", (12, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("kpts", "f32", (51,), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("face_pts", "f32", (-1, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("lm", "f32", (68, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("poly", "f32", (-1, 4, 2), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("quads", "f32", (-1, 8), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("contours", "u8", (-1, -1), "target", PLAIN, PLAIN, MASK),
    # nothing of the image
    ("label", "i64", (), "target", PLAIN, PLAIN, PLAIN),
    ("classes", "f32", (10,), "target", PLAIN, PLAIN, PLAIN),
    ("embedding", "f32", (768,), "input", PLAIN, PLAIN, PLAIN),
    ("tokens", "u16", (16, 77), "input", PLAIN, PLAIN, PLAIN),
    ("tokens", "i64", (-1, -1), "input", PLAIN, PLAIN, PLAIN),
    ("features", "f32", (-1, -1, -1), "input", PLAIN, PLAIN, PLAIN),
    ("features", "f32", (8, -1, -1), "input", PLAIN, PLAIN, PLAIN),
    ("extrinsics", "f32", (2, 3, 4), "input", PLAIN, PLAIN, PLAIN),
    ("kernel", "f32", (16, 16), "input", PLAIN, PLAIN, PLAIN),
    ("spectrogram", "f32", (1, 8, 8), "input", PLAIN, PLAIN, PLAIN),
    ("poses", "f32", (2, 4, 4), "target", PLAIN, PLAIN, PLAIN),
    ("relations", "i64", (-1, 3), "target", PLAIN, PLAIN, PLAIN),
    ("flower", "f32", (5, 2), "input", PLAIN, PLAIN, PLAIN),
    ("depth_scale", "f32", (), "input", PLAIN, PLAIN, PLAIN),
    ("depth_matrix", "f32", (3, 3), "input", PLAIN, PLAIN, PLAIN),
    ("waypoints", "f32", (-1, 2), "input", PLAIN, PLAIN, PLAIN),
    ("keypoint_scores", "f32", (17,), "target", PLAIN, PLAIN, PLAIN),
    ("num_keypoints", "i64", (), "target", PLAIN, PLAIN, PLAIN),
    ("joints", "f32", (7,), "input", PLAIN, PLAIN, PLAIN),
    ("points", "i64", (-1,), "target", PLAIN, PLAIN, PLAIN),
    ("lm", "i64", (-1,), "input", PLAIN, PLAIN, PLAIN),
    ("polymer", "f32", (8,), "input", PLAIN, PLAIN, PLAIN),
    ("segments", "f32", (-1, 2), "target", PLAIN, PLAIN, PLAIN),
    ("points", "f32", (-1, 4), "input", PLAIN, PLAIN, PLAIN),
    ("features", "f32", (-1, 5), "input", PLAIN, PLAIN, PLAIN),
    ("scores", "f32", (5,), "target", PLAIN, PLAIN, PLAIN),
]  # fmt: skip
CASES = [
    pytest.param(of, row[:4], kind, id=f"{of}-{row[0]}-{row[1]}{list(row[2])}-{row[3]}")
    for row in ROWS
    for of, kind in zip(IMAGES, (*row[4:], row[6]), strict=True)
]
ACTIONS = {
    IMAGE: _core.APL_MOVES, MASK: _core.APL_MOVES, MAP: _core.APL_MOVES, BOXES: _core.APL_MOVES,
    KEYPOINTS: _core.APL_REFUSED, VECTORS: _core.APL_REFUSED, PINNED: _core.APL_REFUSED, PLAIN: _core.APL_STAYS,
}  # fmt: skip


def has_channels_last(shape: Any) -> bool:
    return len(shape) == 3 and min(shape[:2]) > 4 >= shape[2]


def field_of(row: Any, kind: Kind | None) -> Field:
    name, dtype, shape, mark = row
    if dtype == FILE:
        return Field(name, "u8", (), mark, media="image/jpeg", kind=kind)
    if isinstance(kind, Keypoints) and not (len(shape) in (2, 3) and shape[-1] in (2, 3)):
        kind = PINNED  # all of them in a row
    elif isinstance(kind, Keypoints) and shape[-1] == 3:
        kind = Keypoints("xyv")
    return Field(name, dtype, shape, mark, kind=kind)


def pixels(sides: tuple[int, ...]) -> np.ndarray:
    """A slope from left to right, of whole numbers."""
    return np.broadcast_to(np.arange(sides[1]) * 2 // 3, sides).astype("u1")


def file_of(sides: tuple[int, ...]) -> bytes:
    image = pytest.importorskip("PIL.Image").fromarray(pixels(sides)).convert("RGB")
    out = io.BytesIO()
    image.save(out, "JPEG", quality=100)
    return out.getvalue()


def value_of(field: Field, sides: tuple[int, ...]) -> Any:
    """One that fits; of a map, a slope along its width; of boxes, some within."""
    if field.media:
        return file_of(sides)
    if field.dtype == "f32" and field.shape == (-1, 4):
        return [[1, 2, 5, 9], [3, 1, 4, 4]]
    many = 1 if field.shape == (-1, -1, -1) else 3
    shape = [many if side == -1 else side for side in field.shape]
    at = next((at for at in (slice(-2, None), slice(0, 2)) if field.shape[at] == (-1, -1)), None)
    if at is not None:
        shape[at] = sides
    slope = np.arange(shape[-1] if shape else 1) * 2 // 3
    value = np.broadcast_to(slope, shape or (1,)).reshape(shape)
    if has_channels_last(shape):
        value = np.broadcast_to(pixels(tuple(shape[:2]))[..., None], shape)
    return value > value.mean() if field.dtype == "bool" else value % 2 if field.dtype == "i8" else value


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Of a kind of images and a field, made once."""
    made: dict[Any, Path] = {}

    def store(of: str, field: Field) -> Path:
        """The loaders are told what the field is: a writer refuses masks of other sizes."""
        field, like = replace(field, kind=None), field
        if (of, field) not in made:
            path = tmp_path_factory.mktemp("db") / "db"
            with Writer(path, {"image": IMAGES[of], field.name: field}) as writer:
                picture = file_of(SIDES[of]) if IMAGES[of].media else np.stack([pixels(SIDES[of])] * 3)
                writer.append(**{"image": picture, field.name: value_of(like, SIDES[of])})
            made[of, field] = path
        return made[of, field]

    return store


def flip(of: str) -> Any:
    """Of images that are brought to one size first."""
    return [
        *([Resize(SIDES[of], field="image")] if of in ("files", "any") else []),
        RandomFlip(1.0, field="image"),
    ]


def is_flipped(value: Any) -> bool:
    """Does its slope go down, along its width?"""
    value = np.asarray(value).astype(float)
    return bool(value[..., 0].mean() > value[..., -1].mean())


@pytest.mark.parametrize(("of", "row", "kind"), CASES)
def test_what_becomes_of_it(stores: Any, of: str, row: Any, kind: Kind) -> None:
    """As the rule says; masks and maps that are not as large as their image, or have their channels last, are refused
    beside it."""
    field, sides = field_of(row, kind), SIDES[of]
    db, kinds = stores(of, field), {field.name: field.kind}
    told = Store(db)._actions({"fields": None, "kinds": texts_of(kinds)})
    actions = {name: action for name, _, action in told}
    assert actions[field.name] == ACTIONS[kind]
    if ACTIONS[kind] == _core.APL_REFUSED:
        with pytest.raises(Error, match=f"(Resize|RandomFlip) cannot be used beside '{field.name}'"):
            Loader(db, transforms=flip(of), kinds=kinds)
        return
    try:
        with Loader(db, batch_size=1, transforms=flip(of), kinds=kinds) as loader:
            batch = next(iter(loader))
            image, value = batch["image"][0], batch[field.name][0]
    except InvalidError as error:
        assert kind in (MASK, MAP) and f"field {field.name}" in str(error)
        fits = field.media or (not has_channels_last(field.shape) and field.shape[-2:] in (sides, (-1, -1)))
        assert not fits, error
        return
    assert is_flipped(image)
    if kind in (MASK, MAP):
        assert is_flipped(value)
    elif kind == BOXES:
        assert value.tolist() == [[sides[1] - 5, 2, sides[1] - 1, 9], [sides[1] - 4, 1, sides[1] - 3, 4]]
    elif not field.media:
        assert np.array_equal(value, value_of(field, sides))


@pytest.mark.parametrize(("of", "row", "kind"), [case for case in CASES if case.values[0] == "small"])
def test_nothing_is_refused_where_nothing_moves(stores: Any, of: str, row: Any, kind: Kind) -> None:
    field = field_of(row, kind)
    for still in (None, lambda batch: None, Normalize(0.5, 0.5, field="image")):
        with Loader(stores(of, field), transforms=still, kinds={field.name: field.kind}) as loader:
            next(iter(loader))


@pytest.mark.parametrize(("of", "row", "kind"), [case for case in CASES if case.values[0] == "small"])
def test_unsaid_arrays_are_refused(stores: Any, of: str, row: Any, kind: Kind) -> None:
    """Whatever their name; single numbers and text stay. The message says what to write, and that works."""
    field = field_of(row, None)
    db = stores(of, field)
    if not field.media and (not field.shape or (field.dtype == "u8" and field.shape == (-1,))):
        Loader(db, transforms=flip(of)).close()
        return
    with pytest.raises(
        InvalidError, match=rf"^RandomFlip moves 'image', but what is '{field.name}' \({field.dtype}\["
    ):
        Loader(db, transforms=flip(of))
    with Loader(db, transforms=flip(of), kinds={field.name: "plain"}) as loader:
        batch = next(iter(loader))
        assert is_flipped(batch["image"][0])
        assert field.media or np.array_equal(batch[field.name][0], value_of(field, SIDES[of]))
    with pytest.raises(InvalidError, match="it is pinned to 'image'"):
        Loader(db, transforms=flip(of), kinds={field.name: Pinned()})


@pytest.mark.parametrize(("of", "row", "kind"), [case for case in CASES if case.values[0] == "small"])
def test_images_are_not_mixed_beside_it(stores: Any, of: str, row: Any, kind: Kind) -> None:
    mix, field = CutMix(num_classes=4, field="image", label="label"), field_of(row, kind)
    if ACTIONS[kind] != _core.APL_STAYS and kind != IMAGE:
        with pytest.raises(InvalidError, match=f"CutMix cannot be used beside '{row[0]}'"):
            Loader(stores(of, field), transforms=mix, kinds={field.name: field.kind})
