"""What fields are to transforms that move images, by name, type and role, and that these do as it says."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import CutMix, Field, InvalidError, Loader, Normalize, PerPicture, RandomFlip, Resize, Writer
from apldata._belonging import Kind, kind_of

NOTHING, IMAGE, MASK, MAP, UNFIT = Kind.NOTHING, Kind.IMAGE, Kind.MASK, Kind.MAP, Kind.UNFIT
VECTORS, INSTANCES, KEYPOINTS, GUESS = Kind.VECTORS, Kind.INSTANCES, Kind.KEYPOINTS, Kind.LIKELY_UNFIT
FRAMES = Kind.FRAMES
BOXES, LIKELY, OTHER_BOXES, ROWS = Kind.BOXES, Kind.LIKELY_BOXES, Kind.OTHER_BOXES, Kind.BOX_ROWS

IMAGES = {
    "small": Field("image", "u8", (3, 32, 32)),
    "tall": Field("image", "u8", (3, 256, 192)),
    "files": Field("image", "u8", media="image/jpeg"),
    "any": Field("image", "u8", (3, -1, -1)),
}
SIDES = {"small": (32, 32), "tall": (256, 192), "files": (32, 32), "any": (32, 32)}
FILE = "JPEG"
ROWS_OF = [
    # name, type, shape, role: beside u8[3,32,32], u8[3,256,192], and images of any size
    ("right", "u8", (3, 32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("thumbnail", "u8", (3, 16, 16), "input", IMAGE, IMAGE, IMAGE),
    ("grey", "u8", (32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("last", "u8", (32, 32, 3), "input", IMAGE, IMAGE, IMAGE),
    ("photo", FILE, (-1,), "input", IMAGE, IMAGE, IMAGE),
    ("photo", "u8", (3, -1, -1), "input", IMAGE, IMAGE, IMAGE),
    ("infrared", "u16", (1, 64, 48), "input", IMAGE, IMAGE, IMAGE),
    ("hdr", "f32", (3, 32, 32), "input", IMAGE, NOTHING, GUESS),
    ("landmark", "u8", (3, 32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("landmark", "f32", (3, 32, 32), "input", IMAGE, KEYPOINTS, KEYPOINTS),
    ("thermal", "u16", (32, 32), "input", IMAGE, NOTHING, GUESS),
    ("bands", "f32", (7, 32, 32), "input", IMAGE, NOTHING, GUESS),
    # in four dimensions
    ("clip", "u8", (8, 3, 32, 32), "input", FRAMES, FRAMES, FRAMES),
    ("clip", "u8", (-1, 3, 64, 48), "input", FRAMES, FRAMES, FRAMES),
    ("clip", "f32", (-1, 3, -1, -1), "input", NOTHING, NOTHING, FRAMES),
    ("views", "u8", (4, 32, 32, 3), "input", FRAMES, FRAMES, FRAMES),
    ("volume", "f32", (1, 8, 32, 32), "input", FRAMES, NOTHING, FRAMES),
    ("slices", "f32", (1, 32, 32, 8), "target", FRAMES, NOTHING, NOTHING),
    ("masks", "u8", (-1, 1, 32, 32), "target", INSTANCES, INSTANCES, INSTANCES),
    ("features", "f32", (2, 8, 4, 4), "input", NOTHING, NOTHING, NOTHING),
    # masks
    ("seg", "u8", (32, 32), "input", MASK, UNFIT, MASK),
    ("annotations", "u8", (8, 32, 32), "input", MASK, UNFIT, MASK),
    ("annotation", "u8", (32, 32), "input", MASK, UNFIT, MASK),
    ("annotated", "u8", (3, 32, 32), "input", IMAGE, IMAGE, IMAGE),
    ("seg_ids", "i64", (16, 77), "input", NOTHING, NOTHING, NOTHING),
    ("mask", "u8", (32, 32), "input", MASK, UNFIT, MASK),
    ("segmentation", "i64", (32, 32), "input", MASK, UNFIT, MASK),
    ("gt", "i32", (1, 32, 32), "target", MASK, NOTHING, MASK),
    ("gt", "i16", (32, 32, 1), "target", MASK, NOTHING, MASK),
    ("gt", "u8", (10, 10), "target", UNFIT, UNFIT, MASK),
    ("gt", "i64", (16, 16), "target", GUESS, NOTHING, MASK),
    ("gt", "u16", (-1, -1, -1), "target", NOTHING, NOTHING, MASK),
    ("gt", FILE, (-1,), "target", MAP, MAP, MASK),
    ("mask", "u8", (1, -1, -1), "target", MAP, MAP, MASK),
    ("gt", "u8", (3, -1, -1), "target", MAP, MAP, MASK),
    ("landmark_mask", "u8", (32, 32), "input", MASK, UNFIT, MASK),
    ("masks", "u8", (-1, 32, 32), "target", INSTANCES, INSTANCES, INSTANCES),
    ("masks", "i32", (-1, 32, 32), "target", INSTANCES, INSTANCES, INSTANCES),
    ("attention_mask", "i64", (-1, -1), "input", NOTHING, NOTHING, NOTHING),
    ("causal_mask", "f32", (77, 77), "input", NOTHING, NOTHING, NOTHING),
    ("segment_ids", "i64", (16, 77), "input", NOTHING, NOTHING, NOTHING),
    ("joint_mask", "bool", (-1, 17, 3), "input", NOTHING, NOTHING, NOTHING),
    # maps
    ("depth", "f32", (32, 32), "target", MAP, UNFIT, UNFIT),
    ("normals", "f32", (32, 32, 3), "target", MAP, NOTHING, GUESS),
    ("normals", "i32", (32, 32, 2), "input", MAP, NOTHING, GUESS),
    ("edges", "f64", (7, 32, 32), "input", MAP, NOTHING, GUESS),
    ("planes", "f32", (-1, 32, 32), "input", UNFIT, NOTHING, NOTHING),
    ("depth", "u16", (-1, -1), "input", MAP, MAP, MAP),
    ("depth", "u16", (-1, -1, -1), "input", MAP, MAP, MAP),
    ("depth", "i32", (1, -1, -1), "input", MAP, MAP, MAP),
    ("depth", "bool", (-1, -1), "input", MAP, MAP, MAP),
    ("depth", "f32", (1, -1, -1), "input", MAP, MAP, MAP),
    ("normals", "f32", (3, -1, -1), "input", NOTHING, NOTHING, MAP),
    ("disparity", "i16", (-1, -1), "input", NOTHING, NOTHING, MAP),
    ("surfaces", "u32", (1, -1, -1), "input", NOTHING, NOTHING, MAP),
    ("probabilities", "f32", (17, -1, -1), "target", NOTHING, NOTHING, MAP),
    ("heatmaps", "f32", (17, -1, -1), "input", MAP, MAP, MAP),
    # maps of other sizes
    ("heatmaps", "f32", (17, 64, 48), "target", UNFIT, UNFIT, UNFIT),
    ("pose", "f32", (17, 64, 48), "target", NOTHING, GUESS, GUESS),
    ("pose", "f16", (64, 48, 17), "target", NOTHING, GUESS, GUESS),
    ("depth_map", "u8", (64, 48), "input", UNFIT, UNFIT, IMAGE),
    ("depth", "u16", (64, 48), "input", UNFIT, UNFIT, UNFIT),
    ("segm", "i64", (17, 64, 48), "input", UNFIT, UNFIT, UNFIT),
    ("sharp", "f32", (3, 64, 64), "target", GUESS, NOTHING, GUESS),
    ("grid", "f32", (8, 6), "target", NOTHING, GUESS, GUESS),
    # of one size, and large enough for an image
    ("thermal", "f32", (48, 64), "input", NOTHING, NOTHING, GUESS),
    ("bands", "u16", (13, 48, 64), "input", NOTHING, NOTHING, GUESS),
    ("valid", "bool", (48, 64), "input", NOTHING, NOTHING, GUESS),
    ("clip", "f32", (8, 3, 48, 64), "input", NOTHING, NOTHING, FRAMES),
    ("patches", "f32", (197, 768), "input", NOTHING, NOTHING, NOTHING),
    ("patches", "f32", (24, 24), "input", NOTHING, NOTHING, NOTHING),
    ("features", "f32", (196, 384), "input", NOTHING, NOTHING, NOTHING),
    ("embeddings", "f32", (64, 64), "input", NOTHING, NOTHING, NOTHING),
    ("spectrogram", "f32", (1, 128, 100), "input", NOTHING, NOTHING, NOTHING),
    ("codes", "i64", (64, 64), "input", NOTHING, NOTHING, NOTHING),
    ("tokens", "u8", (4, 64), "input", NOTHING, NOTHING, NOTHING),
    ("attention_mask", "u8", (77, 77), "input", NOTHING, NOTHING, NOTHING),
    ("captions", "u8", (5, 40), "input", NOTHING, NOTHING, NOTHING),
    ("byte_ids", "u8", (4, 64), "input", NOTHING, NOTHING, NOTHING),
    ("codes", "i64", (1, 48, 64), "input", NOTHING, NOTHING, GUESS),
    # flow
    ("flow", "f32", (2, 32, 32), "target", VECTORS, VECTORS, VECTORS),
    ("flow", "i16", (32, 32, 2), "input", VECTORS, VECTORS, VECTORS),
    ("offsets", "f32", (-1, -1, 2), "input", VECTORS, VECTORS, VECTORS),
    ("motion", "f32", (-1, -1, 2), "target", NOTHING, NOTHING, VECTORS),
    ("motion", "f32", (2, -1, -1), "input", NOTHING, NOTHING, VECTORS),
    # boxes
    ("boxes", "f32", (-1, 4), "target", BOXES, BOXES, BOXES),
    ("bbox", "f32", (1, 4), "input", OTHER_BOXES, OTHER_BOXES, OTHER_BOXES),
    ("boxes", "i64", (-1, 4), "target", OTHER_BOXES, OTHER_BOXES, OTHER_BOXES),
    ("objects", "f32", (-1, 4), "target", LIKELY, LIKELY, LIKELY),
    ("annotations", "f32", (-1, 4), "input", LIKELY, LIKELY, LIKELY),
    ("bbox", "f32", (4,), "input", ROWS, ROWS, ROWS),
    ("boxes", "f32", (-1, 6), "input", ROWS, ROWS, ROWS),
    ("objects", "i64", (-1, 5), "target", ROWS, ROWS, ROWS),
    ("gt_boxes", "f64", (3, 6), "input", ROWS, ROWS, ROWS),
    ("annotations", "f32", (-1, 5), "input", ROWS, ROWS, ROWS),
    ("targets", "f32", (-1, 6), "input", ROWS, ROWS, ROWS),
    ("bbox", "f64", (-1,), "target", ROWS, ROWS, ROWS),
    ("objects.bbox", "i64", (-1, -1), "target", ROWS, ROWS, ROWS),
    ("rois_xyxy", "f32", (-1, -1), "input", ROWS, ROWS, ROWS),
    ("box_labels", "i64", (-1,), "target", NOTHING, NOTHING, NOTHING),
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
    ("segmentation", "f32", (32, 32), "target", MAP, UNFIT, UNFIT),
    ("kps", "f32", (12, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("kpts", "f32", (51,), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("face_pts", "f32", (-1, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("lm", "f32", (68, 2), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("poly", "f32", (-1, 4, 2), "target", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("quads", "f32", (-1, 8), "input", KEYPOINTS, KEYPOINTS, KEYPOINTS),
    ("contours", "u8", (-1, -1), "target", NOTHING, NOTHING, MASK),
    # nothing of the image
    ("label", "i64", (), "target", NOTHING, NOTHING, NOTHING),
    ("classes", "f32", (10,), "target", NOTHING, NOTHING, NOTHING),
    ("embedding", "f32", (768,), "input", NOTHING, NOTHING, NOTHING),
    ("tokens", "u16", (16, 77), "input", NOTHING, NOTHING, NOTHING),
    ("tokens", "i64", (-1, -1), "input", NOTHING, NOTHING, NOTHING),
    ("features", "f32", (-1, -1, -1), "input", NOTHING, NOTHING, NOTHING),
    ("features", "f32", (8, -1, -1), "input", NOTHING, NOTHING, NOTHING),
    ("extrinsics", "f32", (2, 3, 4), "input", NOTHING, NOTHING, NOTHING),
    ("kernel", "f32", (16, 16), "input", NOTHING, NOTHING, NOTHING),
    ("spectrogram", "f32", (1, 8, 8), "input", NOTHING, NOTHING, NOTHING),
    ("poses", "f32", (2, 4, 4), "target", NOTHING, NOTHING, NOTHING),
    ("relations", "i64", (-1, 3), "target", NOTHING, NOTHING, NOTHING),
    ("flower", "f32", (5, 2), "input", NOTHING, NOTHING, NOTHING),
    ("depth_scale", "f32", (), "input", NOTHING, NOTHING, NOTHING),
    ("depth_matrix", "f32", (3, 3), "input", NOTHING, NOTHING, NOTHING),
    ("waypoints", "f32", (-1, 2), "input", NOTHING, NOTHING, NOTHING),
    ("keypoint_scores", "f32", (17,), "target", NOTHING, NOTHING, NOTHING),
    ("num_keypoints", "i64", (), "target", NOTHING, NOTHING, NOTHING),
    ("joints", "f32", (7,), "input", NOTHING, NOTHING, NOTHING),
    ("points", "i64", (-1,), "target", NOTHING, NOTHING, NOTHING),
    ("lm", "i64", (-1,), "input", NOTHING, NOTHING, NOTHING),
    ("polymer", "f32", (8,), "input", NOTHING, NOTHING, NOTHING),
    ("segments", "f32", (-1, 2), "target", NOTHING, NOTHING, NOTHING),
    ("points", "f32", (-1, 4), "input", NOTHING, NOTHING, NOTHING),
    ("features", "f32", (-1, 5), "input", NOTHING, NOTHING, NOTHING),
    ("scores", "f32", (5,), "target", NOTHING, NOTHING, NOTHING),
]  # fmt: skip
GRID = np.arange(256.0).reshape(16, 16)
CASES = [
    pytest.param(of, row[:4], kind, id=f"{of}-{row[0]}-{row[1]}{list(row[2])}-{row[3]}")
    for row in ROWS_OF
    for of, kind in zip(IMAGES, (*row[4:], row[6]), strict=True)
]


def field_of(name: str, dtype: str, shape: tuple[int, ...], mark: str) -> Field:
    return (
        Field(name, "u8", (), mark, media="image/jpeg") if dtype == FILE else Field(name, dtype, shape, mark)
    )


@pytest.mark.parametrize(("of", "row", "kind"), CASES)
def test_the_kind_of_a_field(of: str, row: Any, kind: Kind) -> None:
    assert kind_of(field_of(*row), [IMAGES[of]]) is kind


def test_the_kind_of_a_field_by_itself() -> None:
    assert kind_of(Field("depth", "u8", (32, 32))) is IMAGE
    assert kind_of(Field("hdr", "f32", (3, -1, -1))) is IMAGE
    assert kind_of(Field("depth", "u16", (-1, -1, -1))) is IMAGE
    assert kind_of(Field("mask", "u8", (1, 32, 32))) is MASK
    assert kind_of(Field("kernel", "f32", (32, 32))) is NOTHING
    assert kind_of(Field("features", "f32", (-1, -1, -1))) is NOTHING
    assert kind_of(Field("id", "u8", (3, 32, 32), "name")) is NOTHING


def test_of_several_images_one_is_enough() -> None:
    images = [IMAGES["tall"], IMAGES["small"]]
    assert kind_of(Field("gt", "i64", (32, 32), "target"), images) is MASK
    assert kind_of(Field("pose", "f32", (17, 64, 48), "target"), images) is GUESS


def test_beside_several_images_nothing_is_guessed(tmp_path: Path) -> None:
    """Since naming these does not say that other fields have nothing to do with them."""
    fields = dict.fromkeys(("left", "right"), ("u8", (3, 32, 32)))
    fields |= {name: Field(name, "f32", (16, 16), "target") for name in ("grid", "heatmap")}
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(**{name: np.zeros((3, 32, 32)) for name in ("left", "right")}, grid=GRID, heatmap=GRID)
    flip = RandomFlip(1.0, field=["left", "right"])
    with pytest.raises(
        InvalidError,
        match=r"move left and right alone, and leave heatmap as it is: only maps .* out of fields, or move",
    ):
        Loader(tmp_path / "db", transforms=flip)
    with Loader(tmp_path / "db", transforms=flip, fields=["left", "right", "grid"]) as loader:
        assert np.array_equal(next(iter(loader))["grid"][0], GRID)


@pytest.mark.parametrize("row", [row for row in ROWS_OF if row[4] is not NOTHING], ids=str)
def test_nothing_is_refused_where_nothing_moves(tmp_path: Path, row: Any) -> None:
    """Whatever is beside two images."""
    sides = IMAGES["small"].shape
    field = field_of(*row[:4])
    fields = {"img1": ("u8", sides), "img2": ("u8", sides), field.name: field}
    with Writer(tmp_path / "db", fields) as writer:
        value = value_of(field, SIDES["small"])
        writer.append(**{"img1": np.zeros(sides), "img2": np.ones(sides), field.name: value})
    pair = ["img1", "img2"]
    each = PerPicture(lambda image: image, field="img1")
    for still in (None, [], lambda batch: None, Normalize(0.5, 0.5, field=pair), each):
        with Loader(tmp_path / "db", transforms=still) as loader:
            next(iter(loader))


# ---------------------------------------------------------------------------------------- what becomes of it


def pixels(sides: tuple[int, ...]) -> np.ndarray:
    """A slope from left to right, of whole numbers."""
    return np.broadcast_to(np.arange(sides[1]) * 2 // 3, sides).astype("u1")


def file_of(sides: tuple[int, ...]) -> bytes:
    Image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    Image.fromarray(pixels(sides)).convert("RGB").save(out, "JPEG", quality=100)
    return out.getvalue()


def has_channels_last(shape: Any) -> bool:
    return len(shape) == 3 and min(shape[:2]) > 4 >= shape[2]


def value_of(field: Field, sides: tuple[int, ...]) -> Any:
    """One that fits; of a map, a slope along its width."""
    if field.media:
        return file_of(sides)
    if field.dtype == "bool":
        slope = value_of(Field(field.name, "u8", field.shape), sides)
        return slope > slope.mean()
    many = 1 if field.shape == (-1, -1, -1) else 3
    shape = [many if side == -1 else side for side in field.shape]
    at = next((at for at in (slice(-2, None), slice(0, 2)) if field.shape[at] == (-1, -1)), None)
    if at is not None:
        shape[at] = sides
    if has_channels_last(shape):
        return np.broadcast_to(pixels(tuple(shape[:2]))[..., None], shape)
    return np.broadcast_to(np.arange(shape[-1] if shape else 1) * 2 // 3, shape or (1,)).reshape(shape)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Of a kind of images and a field, made once."""
    made: dict[Any, Path] = {}

    def store(of: str, row: Any) -> Path:
        if (of, row) not in made:
            path = tmp_path_factory.mktemp("db") / "db"
            field, image, sides = field_of(*row), IMAGES[of], SIDES[of]
            with Writer(path, {"image": image, field.name: field}) as writer:
                picture = file_of(sides) if image.media else np.stack([pixels(sides)] * 3)
                writer.append(**{"image": picture, field.name: value_of(field, sides)})
            made[of, row] = path
        return made[of, row]

    return store


def steps(library: str, of: str, **named: Any) -> Any:
    """A flip, of images that are brought to one size first."""
    first = [Resize(SIDES[of], **named)] if of in ("files", "any") else []
    if library == "own":
        return [*first, RandomFlip(1.0, **named)]
    if library == "albumentations":
        flip = pytest.importorskip("albumentations").HorizontalFlip(p=1)
    else:
        v2 = pytest.importorskip("torchvision.transforms.v2")
        flip = v2.RandomHorizontalFlip(1)
    if library == "torchvision":
        return [v2.Resize(SIDES[of]), flip] if first else flip
    first = [Resize(SIDES[of], field="image")] if first else []
    return [*first, PerPicture(flip, **named)]


def first_of(db: Path, transforms: Any, name: str, **said: Any) -> Any:
    """The values of the first record, of the image and of that field."""
    with Loader(db, batch_size=1, transforms=transforms, **said) as loader:
        batch = next(iter(loader))
        return batch["image"][0], batch[name][0]


def is_flipped(value: Any) -> bool:
    """Does its slope go down, along its width?"""
    value = np.asarray(value).astype(float)
    if has_channels_last(value.shape):
        value = value[..., 0]
    return bool(value[..., 0].mean() > value[..., -1].mean())


STORE = (
    r"boxes that follow are f32\[-1,4\], not .*: store the(m so .(aplingest|types=)| four numbers of each)"
)
ADVICE = {
    IMAGE: "masks=", MASK: "masks=", MAP: "masks=", BOXES: "boxes=", LIKELY: "boxes=",
    OTHER_BOXES: STORE, ROWS: STORE, INSTANCES: "varies: store one mask", KEYPOINTS: "keypoints cannot",
    UNFIT: "only maps as large", GUESS: "it may be a map", VECTORS: "vectors, as of optical flow",
    FRAMES: "four dimensions",
}  # fmt: skip


def check_left(of: str, row: Any, value: Any) -> None:
    field = field_of(*row)
    if not field.media:
        assert np.array_equal(value, value_of(field, SIDES[of]))


@pytest.mark.parametrize("library", ["own", "PerPicture", "albumentations"])
@pytest.mark.parametrize(("of", "row", "kind"), CASES)
def test_it_stays_only_if_it_is_nothing(stores: Any, library: str, of: str, row: Any, kind: Kind) -> None:
    """A flip is refused for whatever would stay, unless it is told that this is nothing of the images."""
    db, name = stores(of, row), row[0]
    if kind is NOTHING:
        image, value = first_of(db, steps(library, of), name)
        assert is_flipped(image)
        check_left(of, row, value)
    else:
        several = "several fields are images|" if kind is IMAGE and library == "own" else ""
        with pytest.raises(InvalidError, match=f"{several}leave (field )?{name} .*as it is.*{ADVICE[kind]}"):
            Loader(db, transforms=steps(library, of))
    image, value = first_of(db, steps(library, of, field="image"), name)
    assert is_flipped(image)
    check_left(of, row, value)


@pytest.mark.parametrize(("of", "row", "kind"), [case for case in CASES if case.values[2] is not NOTHING])
def test_images_are_not_mixed_beside_it(stores: Any, of: str, row: Any, kind: Kind) -> None:
    with pytest.raises(InvalidError, match=f"would leave {row[0]} as it is|several fields are images"):
        Loader(stores(of, row), transforms=CutMix(num_classes=4))


def refusal(of: str, row: Any, kind: Kind) -> str:
    """What torchvision's flip is told at once; "": nothing."""
    name, dtype, shape, _ = row
    in_c = dtype in ("u8", FILE) and not has_channels_last(shape)
    if kind is IMAGE and (not in_c if of == "files" else dtype == FILE and of != "any"):
        return "keeps JPEG files, which C decodes"
    if kind is IMAGE and dtype == "u16":  # which torch cannot flip
        return rf"uint16: if it is to follow .* say masks=\['{name}'\], else put v2.ToDtype"
    return "" if kind in (NOTHING, IMAGE, MASK) else f"leave (field )?{name} .*as it is|field {name} is boxes"


def check_moved(db: Path, transforms: Any, of: str, row: Any, kind: Kind, **said: Any) -> None:
    """With the image, unless it is a mask of another size."""
    name, _, shape, _ = row
    if kind is MASK and of in ("files", "any") and shape[-1] > 0 and shape[-2:] != SIDES[of]:
        with pytest.raises(InvalidError, match=f"field {name}: a mask of .* of an image of 32 x 32"):
            first_of(db, transforms, name, **said)
    else:
        image, value = first_of(db, transforms, name, **said)
        assert is_flipped(image) and is_flipped(value)


@pytest.mark.parametrize(("of", "row", "kind"), CASES)
def test_torchvision_takes_some_along(stores: Any, of: str, row: Any, kind: Kind) -> None:
    """Images and masks; what it does not take, it does not leave in place, either."""
    db, told = stores(of, row), refusal(of, row, kind)
    if told:
        with pytest.raises(InvalidError, match=told):
            Loader(db, transforms=steps("torchvision", of))
    elif kind is NOTHING:
        image, value = first_of(db, steps("torchvision", of), row[0])
        assert is_flipped(image)
        check_left(of, row, value)
    else:
        check_moved(db, steps("torchvision", of), of, row, kind)


@pytest.mark.parametrize(
    ("of", "row", "kind"), [case for case in CASES if case.values[2] in (MASK, MAP, BOXES, LIKELY)]
)
def test_what_is_named_follows(stores: Any, of: str, row: Any, kind: Kind) -> None:
    """As the refusal says, unless its channels come last."""
    db, name, sides = stores(of, row), row[0], SIDES[of]
    if kind in (BOXES, LIKELY):
        _, boxes = first_of(db, steps("own", of), name, boxes=name)
        left, top, right, bottom = value_of(field_of(*row), sides)[0]
        assert boxes[0].tolist() == [sides[1] - right, top, sides[1] - left, bottom]
    elif has_channels_last(row[2]):
        with pytest.raises(InvalidError, match=f"with the channels of {name} stored first .*layout='HWC'"):
            Loader(db, transforms=steps("own", of))
    else:
        check_moved(db, steps("own", of), of, row, kind, masks=name)
