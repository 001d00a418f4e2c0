"""Kinds of fields: their words, what stores keep of them, and that every door of Python obeys them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import (
    ColorJitter,
    Error,
    Field,
    InvalidError,
    InvalidTypeError,
    Loader,
    Normalize,
    PerPicture,
    RandomCrop,
    RandomFlip,
    SanitizeBoundingBoxes,
    ToFloat32,
    Writer,
)
from apldata.kinds import (
    Audio,
    Boxes,
    Image,
    Keypoints,
    Kind,
    Label,
    Map,
    Mask,
    Pinned,
    Plain,
    Text,
    Tokens,
    Vectors,
    kind_of,
)

# -------------------------------------------------------------------------------------------------- words

WORDS = {
    "image": Image(),
    "image,hwc": Image("hwc"),
    "mask": Mask(),
    "mask,per=boxes,ignore=255": Mask(ignore=255, per="boxes"),
    "map,nearest": Map(),
    "map,linear,of=left": Map("linear", of="left"),
    "boxes,xyxy": Boxes(),
    "boxes,cxcywh-rel,of=image": Boxes("cxcywh-rel", of="image"),
    "keypoints,xy": Keypoints(),
    "keypoints,xyv,per=boxes,flip=1-2+3-4": Keypoints("xyv", per="boxes", flip=[(1, 2), (3, 4)]),
    "vectors": Vectors(),
    "pinned": Pinned(),
    "label,per=boxes": Label(per="boxes"),
    "text": Text(),
    "tokens": Tokens(),
    "audio,rate=16000": Audio(rate=16000),
    "plain,per=boxes": Plain(per="boxes"),
}


@pytest.mark.parametrize("words", WORDS)
def test_words(words: str) -> None:
    kind = WORDS[words]
    assert kind_of("x", words) == kind and kind_of("x", str(kind)) == kind
    assert hash(kind_of("x", words)) == hash(kind)
    assert eval(repr(kind)) == kind and pickle.loads(pickle.dumps(kind)) == kind


def test_words_short_and_long() -> None:
    assert (
        kind_of("x", "boxes") == Boxes("xyxy")
        and kind_of("x", "map") == Map()
        and kind_of("x", Mask) == Mask()
    )
    assert repr(Boxes("xywh", per="people")) == "Boxes('xywh', per='people')" and repr(Plain()) == "Plain()"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: Boxes("xyhw"), r"Boxes\('xyhw'\): .*xywh"),
        (lambda: kind_of("a", "boxes,xyhw"), "field a: boxes,xyhw: .*xywh"),
        (lambda: kind_of("a", "bocks"), "field a: bocks.*boxes"),
        (lambda: kind_of("a", "mask,from=x"), "from= is not known yet"),
        (lambda: kind_of("a", 3), "one of apldata.kinds, or a string"),
        (lambda: Keypoints(flip=[(1, 1)]), r"Keypoints\("),
        (lambda: Keypoints(flip=[1]), "pairs of numbers"),
        (lambda: Mask(ignore="x"), "Mask: ignore"),
        (lambda: Label(per=3), "Label: per"),
    ],
)
def test_wrong_words(wrong: Callable[[], Any], told: str) -> None:
    with pytest.raises(InvalidError, match=told):
        wrong()


# ------------------------------------------------------------------------------------------------- stores


def test_stores_keep_kinds(tmp_path: Path) -> None:
    fields = [
        Field("image", "u8", (3, 4, 4), kind=Image()), Field("boxes", "f32", (-1, 4), kind="boxes,xywh"),
        Field("labels", "u8", (-1,), "target", kind=Label(per="boxes")), Field("other", "f32", (2,)),
    ]  # fmt: skip
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 4, 4)), boxes=[[0, 0, 1, 1]], labels=[3], other=[1, 2])
    schema = apldata.Store(tmp_path / "db").schema
    assert [field.kind for field in schema] == [Image(), Boxes("xywh"), Label(per="boxes"), None]
    assert [field.kind_origin for field in schema] == ["declared", "declared", "declared", None]
    assert "boxes,xywh" in repr(schema["boxes"])
    with Writer(tmp_path / "again", schema) as writer:
        writer.append(image=np.zeros((3, 4, 4)), boxes=[[0, 0, 1, 1]], labels=[3], other=[1, 2])
    assert apldata.Store(tmp_path / "again").schema["boxes"].kind == Boxes("xywh")


@pytest.mark.parametrize(
    ("dtype", "shape", "kind"), [("f32", (4, 4), Mask()), ("f32", (-1, 5), Boxes()), ("utf8", (), Mask())]
)
def test_a_kind_fits_its_field(tmp_path: Path, dtype: str, shape: Any, kind: Kind) -> None:
    with pytest.raises(InvalidError, match="wrong"):
        Writer(tmp_path / "db", [Field("wrong", dtype, shape, kind=kind)])


def test_values_are_checked_against_what_was_said(tmp_path: Path) -> None:
    """As COCO's boxes, which are x, y, width and height."""
    writer = Writer(tmp_path / "db", [Field("boxes", "f32", (-1, 4), kind=Boxes())])
    with pytest.raises(InvalidError, match=r"record 0, boxes: \[40, 30, 10, 8\] has right < left in form xyxy"):
        writer.append(boxes=[[40, 30, 10, 8]])
    writer.discard()


def test_boxes_of_torchvision_come_in_the_form_of_their_field(tmp_path: Path) -> None:
    torch, tv_tensors = pytest.importorskip("torch"), pytest.importorskip("torchvision.tv_tensors")
    boxes = tv_tensors.BoundingBoxes(torch.tensor([[10, 20, 30, 60]]), format="XYXY", canvas_size=(100, 100))
    wanted = {"xyxy": [10, 20, 30, 60], "xywh": [10, 20, 20, 40], "cxcywh": [20, 40, 20, 40]}
    for form, numbers in wanted.items():
        with Writer(tmp_path / form, [Field("boxes", "f32", (-1, 4), kind=Boxes(form))]) as writer:
            writer.append(boxes=boxes)
        assert apldata.Store(tmp_path / form)[0]["boxes"].tolist() == [numbers]
    writer = Writer(tmp_path / "other", [Field("boxes", "f32", (-1, 4), kind=Boxes("yxyx"))])
    with pytest.raises(InvalidError, match="in a field of the form yxyx: convert them first"):
        writer.append(boxes=boxes)
    writer.discard()


# ------------------------------------------------------------------------------------------------- doors

SIDES = (24, 32)
IMAGE = Field("image", "u8", (3, *SIDES))


def slope(*shape: int) -> np.ndarray:
    return np.broadcast_to(np.arange(shape[-1]), shape).astype("u1")


def value_of(field: Field) -> Any:
    shape = [3 if side == -1 else side for side in field.shape]
    return "some words" if field.dtype == "utf8" else slope(*shape) if shape else 5


def make(path: Path, *fields: Field, records: int = 4, **values: Any) -> Path:
    with Writer(path, [IMAGE, *fields]) as writer:
        for _ in range(records):
            made = {field.name: values.get(field.name, value_of(field)) for field in fields}
            writer.append(image=slope(3, *SIDES), **made)
    return path


def by_loader(db: Path, **options: Any) -> dict[str, Any]:
    with Loader(db, batch_size=1, threads=1, **options) as loader:
        batch = next(iter(loader))
        return {name: batch[name][0] for name in batch}


def by_torch(db: Path, **options: Any) -> dict[str, Any]:
    torch = pytest.importorskip("apldata.torch")
    with torch.DataLoader(db, 1, as_dict=True, num_workers=1, **options) as loader:
        return {name: value[0] for name, value in next(iter(loader)).items()}


def by_device(db: Path, **options: Any) -> dict[str, Any]:
    torch = pytest.importorskip("apldata.torch")
    with torch.DeviceLoader(db, batch_size=1, device="cpu", threads=1, **options) as loader:
        return {name: value[0].numpy() for name, value in next(iter(loader))._asdict().items()}


def by_jax(db: Path, **options: Any) -> dict[str, Any]:
    jax = pytest.importorskip("apldata.jax")
    with jax.DataLoader(db, batch_size=1, threads=1, **options) as loader:
        return {name: np.asarray(value[0]) for name, value in next(iter(loader)).items()}


def by_tf(db: Path, **options: Any) -> dict[str, Any]:
    tf = pytest.importorskip("apldata.tf")
    batch = next(iter(tf.dataset(db, batch_size=1, threads=1, **options)))
    return {name: value[0].numpy() for name, value in batch.items()}


DOORS = {"loader": by_loader, "torch": by_torch, "device": by_device, "jax": by_jax, "tf": by_tf}
FIXED = pytest.mark.parametrize("door", list(DOORS))  # of fields of one shape
VARYING = pytest.mark.parametrize("door", ["loader", "torch", "tf"])


@pytest.fixture(params=["own", "torchvision", "albumentations"])
def flip(request: Any) -> Any:
    if request.param == "own":
        return RandomFlip(1.0)
    if request.param == "torchvision":
        return pytest.importorskip("torchvision.transforms.v2").RandomHorizontalFlip(1)
    return pytest.importorskip("albumentations").HorizontalFlip(p=1)


def is_flipped(value: Any) -> bool:
    value = np.asarray(value)
    return bool(value[..., 0].mean() > value[..., -1].mean())


# What is an array of numbers, by names as public datasets have them, and what is not: names decide nothing.
ARRAYS = {
    "kps": ("f32", (-1, 3)), "polys": ("f32", (-1, 8)), "bbox": ("f64", (-1,)), "heatmap": ("f32", (17, 8, 8)),
    "clip": ("u8", (4, 3, 8, 8)), "landmarks_2d": ("f32", (68, 2)), "pt3d": ("f32", (3, 68)),
    "pose_params": ("f32", (7,)), "xcoords": ("f32", (11,)), "ycoords": ("f32", (11,)), "xyxyz": ("f32", (3,)),
    "location": ("f32", (-1, 3)), "dimensions": ("f32", (-1, 3)), "rotation": ("f32", (-1,)), "K": ("f32", (3, 3)),
    "P2": ("f32", (3, 4)), "xyz": ("f32", (21, 3)), "uv": ("f32", (21, 2)), "verts": ("f32", (10, 3)),
    "pose": ("f32", (17, 2)), "skeleton": ("i32", (17, 3)), "corners": ("f32", (4, 2)), "hands": ("f32", (2, 21, 3)),
    "homography": ("f32", (3, 3)), "inbox": ("i64", (5,)), "embedding": ("f32", (32, 32)), "adj": ("u8", (24, 32)),
    "attributes": ("i8", (40,)), "tokens": ("i64", (77,)), "logits": ("f32", (10,)),
}  # fmt: skip
OTHERS = {"lefteye_x": ("f32", ()), "rotation_y": ("f32", ()), "label": ("i64", ()), "caption": ("utf8", ())}


@FIXED
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_nobody_has_said_anything_of(tmp_path: Path, door: str, name: str) -> None:
    dtype, shape = ARRAYS[name]
    db = make(tmp_path / "db", Field(name, dtype, shape, "target"))
    if -1 in shape and door in ("device", "jax"):
        pytest.skip("fields of varying shape are not read")
    with pytest.raises(InvalidError, match=rf"^RandomFlip moves 'image', but what is '{name}' \({dtype}\["):
        DOORS[door](db, transforms=RandomFlip(1.0))
    batch = DOORS[door](db, transforms=RandomFlip(1.0), kinds={name: Plain()})
    assert is_flipped(batch["image"]) and np.array_equal(
        np.asarray(batch[name]), value_of(Field(name, dtype, shape))
    )
    with pytest.raises(
        InvalidError, match=f"RandomFlip cannot be used beside '{name}': it is pinned to 'image'"
    ):
        DOORS[door](db, transforms=RandomFlip(1.0), kinds={name: "pinned"})


@pytest.mark.parametrize("door", ["loader", "torch", "device"])
@pytest.mark.parametrize("name", OTHERS)
def test_single_numbers_and_text_stay(tmp_path: Path, door: str, name: str) -> None:
    dtype, shape = OTHERS[name]
    if dtype == "utf8" and door == "device":
        pytest.skip("text is not read")
    db = make(tmp_path / "db", Field(name, dtype, shape, "target"))
    assert is_flipped(DOORS[door](db, transforms=RandomFlip(1.0))["image"])


@FIXED
def test_normalize_without_a_training_split(tmp_path: Path, door: str) -> None:
    """Of a store that has none, and no moments kept of it: images would be scaled as if they were those trained on."""
    with Writer(tmp_path / "db", [IMAGE], split="val") as writer:
        writer.append(image=slope(3, *SIDES))
    with pytest.raises(Error, match=r"Normalize\(\): no split 'train' here and no moments kept"):
        DOORS[door](tmp_path / "db", split="val", transforms=[Normalize()])
    DOORS[door](tmp_path / "db", split="val", transforms=[Normalize(0.5, 0.5)])


def test_the_refusal_says_what_to_write(tmp_path: Path) -> None:
    db = make(tmp_path / "db", Field("pose", "f32", (17, 2)))
    with pytest.raises(InvalidError) as caught:
        Loader(db, transforms=RandomFlip())
    assert str(caught.value) == (
        "RandomFlip moves 'image', but what is 'pose' (f32[17,2])? kinds={'pose': Keypoints('xy')} if it lies in the "
        "image, Pinned() if it cannot be moved, Plain() if it has nothing to do with it"
    )
    with pytest.raises(
        InvalidError, match="RandomFlip cannot be used beside 'pose': keypoints cannot be moved yet"
    ):
        Loader(db, transforms=RandomFlip(), kinds={"pose": Keypoints("xy")})


@FIXED
def test_masks_and_maps_follow(tmp_path: Path, door: str, flip: Any) -> None:
    db = make(
        tmp_path / "db", Field("seg", "i32", SIDES, "target", kind=Mask()),
        Field("depth", "f32", (1, *SIDES), "target", kind=Map()), Field("table", "f32", SIDES, kind=Plain()),
    )  # fmt: skip
    if door == "device":
        with pytest.raises(InvalidError, match="DeviceLoader"):
            DOORS[door](db, transforms=flip)
        return
    batch = DOORS[door](db, transforms=flip)
    assert [is_flipped(batch[name]) for name in ("image", "seg", "depth", "table")] == [
        True,
        True,
        True,
        False,
    ]


PER_BOX = [
    Field("boxes", "f32", (-1, 4), "target", kind=Boxes("xywh")),
    Field("labels", "i64", (-1,), "target", kind=Label(per="boxes")),
    Field("scores", "f32", (-1, 2), "target", kind=Plain(per="boxes")),
]


def sanitized(library: str) -> list[Any]:
    if library == "own":
        return [apldata.CenterCrop(16), SanitizeBoundingBoxes()]
    v2 = pytest.importorskip("torchvision.transforms.v2")
    first = [] if library == "C" else [v2.RandomPosterize(8, p=0)]
    return [*first, v2.CenterCrop(16), v2.SanitizeBoundingBoxes()]


@VARYING
@pytest.mark.parametrize("library", ["own", "C", "Python"])
def test_what_has_an_element_for_each_box_goes_with_it(tmp_path: Path, door: str, library: str) -> None:
    boxes = [[10, 6, 4, 5], [0, 0, 6, 20], [12, 8, 2, 2]]  # of which the second is outside the crop
    values = {"boxes": boxes, "labels": [7, 8, 9], "scores": [[1, 2], [3, 4], [5, 6]]}
    batch = DOORS[door](make(tmp_path / "db", *PER_BOX, **values), transforms=sanitized(library))
    assert np.asarray(batch["boxes"]).tolist() == [[2, 2, 4, 5], [4, 4, 2, 2]]
    assert np.asarray(batch["labels"]).tolist() == [7, 9]
    assert np.asarray(batch["scores"]).tolist() == [[1, 2], [5, 6]]


@pytest.mark.parametrize("library", ["own", "C", "Python"])
def test_fixed_numbers_go_with_boxes_too(tmp_path: Path, library: str) -> None:
    """As older stores have them, whose kinds the loader is told."""
    fields = Field("boxes", "f32", (2, 4), "target"), Field("labels", "i64", (2,), "target")
    db = make(tmp_path / "db", *fields, boxes=[[0, 0, 6, 20], [10, 6, 14, 11]], labels=[7, 8])
    kinds = {"boxes": Boxes(), "labels": Label(per="boxes")}
    batch = by_loader(db, transforms=sanitized(library), kinds=kinds)
    assert batch["boxes"].tolist() == [[2, 2, 6, 7]] and batch["labels"].tolist() == [8]


@pytest.mark.parametrize("library", ["own", "C", "Python"])
def test_a_text_has_no_element_for_each_box(tmp_path: Path, library: str) -> None:
    """As tables keep lists of names."""
    boxes, names, of_boxes = PER_BOX[0], Field("names", "utf8", mark="target"), {"names": Label(per="boxes")}
    with pytest.raises(InvalidError, match="field names: per=boxes, and names has one value in a record"):
        make(tmp_path / "none", boxes, Field("names", "utf8", kind=of_boxes["names"]))
    db = make(tmp_path / "db", boxes, names, boxes=[[10, 6, 4, 5], [0, 0, 6, 20]], names='["cat", "dog"]')
    with pytest.raises(Error, match="field names: "):
        by_loader(db, transforms=sanitized(library), kinds=of_boxes)


@pytest.mark.parametrize("door", ["loader", "torch"])
@pytest.mark.parametrize("library", ["own", "C", "Python"])
def test_names_go_with_boxes(tmp_path: Path, door: str, library: str) -> None:
    names = Field("names", "utf8", (-1, -1), "target", kind=Label(per="boxes"))
    boxes = [[10, 6, 4, 5], [0, 0, 6, 20], [12, 8, 2, 2]]
    db = make(tmp_path / "db", PER_BOX[0], names, boxes=boxes, names=["cat", "dog", "eel"])
    assert DOORS[door](db, transforms=sanitized(library))["names"] == ["cat", "eel"]


@pytest.mark.parametrize("library", ["own", "C", "Python"])
def test_masks_of_instances_go_with_boxes(tmp_path: Path, library: str) -> None:
    inst = Field("inst", "u8", (-1, *SIDES), "target", kind=Mask(per="boxes"))
    planes = np.stack([np.full(SIDES, k) for k in range(3)])
    boxes = [[10, 6, 4, 5], [0, 0, 6, 20], [12, 8, 2, 2]]
    db = make(tmp_path / "db", PER_BOX[0], inst, boxes=boxes, inst=planes)
    batch = by_loader(db, transforms=sanitized(library))
    assert batch["inst"].shape == (2, 16, 16) and batch["inst"][:, 0, 0].tolist() == [0, 2]


@FIXED
def test_as_in_kitti(tmp_path: Path, door: str) -> None:
    """What is pinned refuses what moves pixels, and nothing else."""
    db = make(
        tmp_path / "db", Field("P2", "f32", (3, 4), kind=Pinned()), Field("location", "f32", (2, 3), kind=Pinned()),
    )  # fmt: skip
    for step in (RandomFlip(), RandomCrop(16), apldata.RandomRotation(5)):
        name = type(step).__name__
        with pytest.raises(
            InvalidError, match=f"{name} cannot be used beside '(P2|location)': it is pinned to 'image'"
        ):
            DOORS[door](db, transforms=step)
    colours: list[Any] = (
        [Normalize(0.5, 0.5)] if door == "device" else [ColorJitter(0.1), Normalize(0.5, 0.5)]
    )
    assert DOORS[door](db, transforms=colours)["P2"].shape == (3, 4)
    assert is_flipped(DOORS[door](db, transforms=RandomFlip(1.0), fields=["image"])["image"])


@pytest.mark.parametrize("door", ["loader", "torch"])
def test_pinned_beside_other_libraries(tmp_path: Path, door: str, flip: Any) -> None:
    db = make(tmp_path / "db", Field("P2", "f32", (3, 4), kind=Pinned()))
    steps = [flip] if isinstance(flip, RandomFlip) else [flip, [flip], PerPicture(flip)]
    for step in steps:
        with pytest.raises(InvalidError, match="Flip cannot be used beside 'P2': it is pinned to 'image'"):
            DOORS[door](db, transforms=step)


def test_quads_are_keypoints(tmp_path: Path) -> None:
    """Which cannot be moved yet."""
    db = make(tmp_path / "db", Field("quads", "f32", (-1, 4, 2), kind=Keypoints("xy")))
    for door in ("loader", "torch"):
        with pytest.raises(
            Error, match="RandomFlip cannot be used beside 'quads': keypoints cannot be moved yet"
        ):
            DOORS[door](db, transforms=RandomFlip())


def test_other_images_are_their_own(tmp_path: Path, flip: Any) -> None:
    """Two that are declared are moved together by other libraries, and by name by ours."""
    db = make(tmp_path / "db", Field("right", "u8", (3, *SIDES), kind=Image()))
    both = {"image": Image()}
    if isinstance(flip, RandomFlip):
        with pytest.raises(InvalidError, match="name its field"):
            by_loader(db, transforms=flip, kinds=both)
        steps: Any = RandomFlip(1.0, field=["image", "right"])
    elif type(flip).__module__.startswith("albumentations"):
        A = pytest.importorskip("albumentations")
        steps = A.Compose([flip], additional_targets={"right": "image"})
    else:
        steps = flip
    batch = by_loader(db, transforms=steps, kinds=both)
    assert is_flipped(batch["image"]) and is_flipped(batch["right"])


def test_a_loader_knows_better_than_the_store(tmp_path: Path) -> None:
    db = make(tmp_path / "db", Field("seg", "u8", SIDES, "target", kind=Plain()))
    assert not is_flipped(by_loader(db, transforms=RandomFlip(1.0))["seg"])
    assert is_flipped(by_loader(db, transforms=RandomFlip(1.0), kinds={"seg": Mask()})["seg"])
    with pytest.raises(Error, match="there is no field nobody|no field 'nobody'|nobody"):
        Loader(db, transforms=RandomFlip(1.0), kinds={"nobody": Mask()})
    with pytest.raises(InvalidTypeError, match="kinds must be a dict"):
        Loader(db, kinds=["seg"])  # type: ignore[arg-type]


def test_masks_say_which_image_they_are_of(tmp_path: Path) -> None:
    db = make(
        tmp_path / "db", Field("right", "u8", (3, *SIDES), kind=Image()),
        Field("seg", "u8", SIDES, "target", kind=Mask()),
    )  # fmt: skip
    steps = [RandomFlip(1.0, field="image"), RandomCrop(16, field="right")]
    with pytest.raises(InvalidError, match="of which image is 'seg'"):
        by_loader(db, transforms=steps, kinds={"image": Image()})
    batch = by_loader(db, transforms=steps, kinds={"image": Image(), "seg": Mask(of="image")})
    assert is_flipped(batch["seg"]) and not is_flipped(batch["right"])


def test_keypoints_move_in_a_function_over_batches(tmp_path: Path) -> None:
    A = pytest.importorskip("albumentations")
    db = make(tmp_path / "db", Field("kps", "f32", (-1, 2), "target", kind=Keypoints()), kps=[[2, 3]])
    pipeline = A.Compose([A.HorizontalFlip(p=1)], keypoint_params=A.KeypointParams("xy"))
    with pytest.raises(
        Error, match="HorizontalFlip cannot be used beside 'kps': keypoints cannot be moved yet"
    ):
        Loader(db, transforms=pipeline)

    def augment(batch: Any) -> None:
        pairs = zip(batch["image"], batch["kps"], strict=True)
        made = [pipeline(image=one.transpose(1, 2, 0), keypoints=points) for one, points in pairs]
        batch["image"] = np.stack([one["image"].transpose(2, 0, 1) for one in made])
        batch["kps"] = [one["keypoints"] for one in made]

    assert by_loader(db, transforms=augment)["kps"].tolist() == [[SIDES[1] - 3, 3]]


def test_functions_say_which_field_they_lack(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", {"left": ("u8", (3, 8, 8)), "right": ("u8", (3, 8, 8))}) as writer:
        writer.append(left=np.zeros((3, 8, 8)), right=np.zeros((3, 8, 8)))
    with pytest.raises(
        apldata.NotFoundError, match="there is no field 'image': say field=, one of left, right"
    ):
        Loader(tmp_path / "db", transforms=PerPicture(lambda image: image))


# ------------------------------------------------------------------------------- arguments that are gone

REMOVED = {
    "masks": ("mask", r"kinds=\{'mask': Mask\(\)\}"),
    "boxes": ("boxes", r"kinds=\{'boxes': Boxes\('xywh'\)\}"),
    "box_format": ("XYWH", r"kinds=\{'boxes': Boxes\('xywh'\)\}"),
    "labels": ("labels", r"kinds=\{'labels': Label\(per='boxes'\)\}"),
}


@FIXED
@pytest.mark.parametrize("name", REMOVED)
def test_removed_arguments_say_what_takes_their_place(tmp_path: Path, door: str, name: str) -> None:
    value, told = REMOVED[name]
    with pytest.raises(TypeError, match=f"has no argument '{name}' any more: .*{told}"):
        DOORS[door](make(tmp_path / "db"), **{name: value})
    for made in (PerPicture, SanitizeBoundingBoxes):
        with pytest.raises(TypeError, match=f"no argument '{name}' any more: .*{told}"):
            made(**{name: value})  # type: ignore[operator]


def test_colours_and_conversions_ask_nothing(tmp_path: Path) -> None:
    db = make(tmp_path / "db", Field("pose", "f32", (17, 2)))
    for steps in ([ToFloat32()], [ColorJitter(0.1), Normalize(0.5, 0.5)], [lambda batch: None]):
        by_loader(db, transforms=steps)
