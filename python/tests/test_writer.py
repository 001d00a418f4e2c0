"""Writer: what goes in comes out; what cannot be held is refused; failures leave nothing behind."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from writer_tools import read

import apldata
from apldata import Field, Store, Writer

NUMBERS = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bool"]


def values_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """All sorts of values, with the extremes among them."""
    kind = apldata.numpy_dtype(dtype)
    random = np.random.default_rng(7)
    if kind.kind == "f":
        values = random.normal(0, 100, shape).astype(kind)
        values.flat[:4] = [np.nan, np.inf, -np.inf, -0.0]
    elif kind.kind == "b":
        values = random.integers(0, 2, shape).astype(bool)
    else:
        info = np.iinfo(kind)
        values = random.integers(info.min, info.max, shape, kind, endpoint=True)
        values.flat[:2] = [info.min, info.max]
    return values


def write(path: Path, fields: dict, **columns: object) -> Store:
    with Writer(path, fields) as writer:
        writer.extend(**columns)
    return Store(path)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4)])
def test_every_dtype_comes_back(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    values = values_of(dtype, (150, *shape))
    with write(tmp_path / "s", {"x": (dtype, shape)}, x=values) as store:
        back = store.to_numpy()["x"]
        assert back.dtype == values.dtype and back.shape == values.shape
        assert back.tobytes() == values.tobytes()
        assert store.schema["x"].dtype == dtype and store.schema["x"].shape == shape


def test_big_endian_and_strided_values_come_back(tmp_path: Path) -> None:
    values = np.arange(600, dtype=">i4").reshape(100, 6)[:, ::2]
    with write(tmp_path / "s", {"x": ("i32", (3,))}, x=values) as store:
        assert np.array_equal(store.to_numpy()["x"], values)


def test_bfloat16_comes_back(tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(-10, 10, dtype=np.float32).astype(ml_dtypes.bfloat16)
    with Writer(tmp_path / "s", {"x": "bf16", "y": ("bf16", (2,))}) as writer:
        writer.append(x=values[0], y=values[:2])
        writer.extend(x=values[1:], y=np.stack([values[1:], values[:-1]], 1))
    back = Store(tmp_path / "s").to_numpy()
    assert np.array_equal(back["x"], values) and back["y"].dtype == values.dtype


TEXTS = ["", "plain", "é\U0001f600", "\0inside\0", "a" * 5000, "‮left", "\n\t"]


def test_text_comes_back(tmp_path: Path) -> None:
    with write(tmp_path / "s", {"name": str, "n": "u8"}, name=TEXTS, n=range(len(TEXTS))) as store:
        assert store.to_numpy()["name"] == TEXTS
        assert [record["name"] for record in store] == TEXTS


def test_bytes_come_back_as_text(tmp_path: Path) -> None:
    with write(tmp_path / "s", {"name": str}, name=["ä".encode(), b""]) as store:
        assert store.to_numpy()["name"] == ["ä", ""]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"\xff\xfe", r"bytes that are not UTF-8: 0xff at 0"),
        (b"e\xe9t", r"bytes that are not UTF-8: 0xe9 at 1"),
        (os.fsdecode(b"a\x80"), r"a lone surrogate, \\udc80"),
        ("\ud800", r"a lone surrogate, \\ud800"),
    ],
)
def test_what_is_not_utf8_is_refused(value: str | bytes, told: str, tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"name": str}) as writer:
        with pytest.raises(apldata.InvalidError, match=f"field name: {told}"):
            writer.append(name=value)
        with pytest.raises(apldata.InvalidError, match=f"row 1: field name: {told}"):
            writer.extend(name=["good", value])
        writer.append(name="good")
    assert apldata.Store(tmp_path / "s").to_numpy()["name"] == ["good"]
    with pytest.raises(apldata.InvalidError, match=f"row 300: field x: {told}"):
        rows = ({"x": "good" if row < 300 else value} for row in range(301))
        apldata.convert(rows, tmp_path / "c", types={"x": "utf8"})
    splits = {"train": {"x": np.array(["a"])}, "test": {"x": np.array([b"b", b"\xe9"])}}
    with pytest.raises(apldata.InvalidError, match="test, row 1: field x: bytes that are not UTF-8"):
        apldata.convert(splits, tmp_path / "c", types={"x": "utf8"})


def test_varying_shapes_come_back(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    shapes = [(0, 2), (3, 2), (1, 2), (40, 2)] * 10
    values = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    with write(tmp_path / "s", {"x": ("f32", (-1, 2)), "label": "i64"}, x=values, label=range(40)) as store:
        back = store.to_numpy()
        assert [array.shape for array in back["x"]] == shapes
        assert all(np.array_equal(a, b) for a, b in zip(back["x"], values, strict=True))
        assert back["label"].tolist() == list(range(40))


def test_a_field_may_have_any_name(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", {"self": "u8", "values": "u8"}) as w:
        w.append(self=1, values=2)
        w.extend(self=[3], values=[4])
    store = Store(tmp_path / "db")
    assert [(int(store[i]["self"]), int(store[i]["values"])) for i in range(2)] == [(1, 2), (3, 4)]


def test_extend_is_append(tmp_path: Path) -> None:
    pictures, labels = np.arange(10 * 12, dtype=np.uint8).reshape(10, 3, 2, 2), np.arange(10)
    fields = {"image": ("u8", (3, 2, 2)), "label": "u8"}
    with Writer(tmp_path / "a", fields) as writer:
        for picture, label in zip(pictures, labels, strict=True):
            writer.append(image=picture, label=label)
    with Writer(tmp_path / "b", fields) as writer:
        writer.extend(image=pictures[:3], label=labels[:3].tolist())
        writer.extend(image=pictures[:0], label=[])
        writer.extend(image=list(pictures[3:]), label=labels[3:])
    assert Store(tmp_path / "a").content_digest == Store(tmp_path / "b").content_digest
    assert (tmp_path / "a/data.mdb").read_bytes() == (tmp_path / "b/data.mdb").read_bytes()


def test_values_in_a_dict(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", {"x": "u8", "y": "u8"}) as w:
        w.append({"x": 1, "y": 2})
        w.append({"x": 3}, y=4, split="val")
        w.extend({"x": [5], "y": [6]})
        with pytest.raises(TypeError, match="record must be a dict from names of fields"):
            w.append([1, 2])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="records must be a dict"):
            w.extend(np.zeros(2))  # type: ignore[arg-type]
    store = Store(tmp_path / "db")
    assert [(int(store[i]["x"]), int(store[i]["y"])) for i in range(3)] == [(1, 2), (5, 6), (3, 4)]


WRONG = [
    ("u8", (), 256),
    ("u8", (), -1),
    ("u8", (), 1.5),
    ("u8", (), float("nan")),
    ("u8", (), 2**70),
    ("u8", (), "1"),
    ("u8", (), [1]),
    ("u8", (2,), [1, 2, 3]),
    ("u8", (2,), [[1, 2]]),
    ("u8", (2,), 7),
    ("u8", (), None),
    ("i8", (), 128),
    ("i64", (), np.uint64(2**64 - 1)),
    ("u64", (), np.int64(-1)),
    ("bool", (), 2),
    ("f32", (), 1e300),
    ("f16", (), 70000.0),
    ("f32", (), 2**24 + 1),
    ("f32", (), 1 + 2j),
    ("f32", (), b"x"),
    ("utf8", (-1,), None),
    ("utf8", (-1,), 3),
    ("i16", (-1, 2), np.zeros((3, 3))),
    ("i16", (-1, 2), np.zeros(4)),
]


@pytest.mark.parametrize(("dtype", "shape", "value"), WRONG)
def test_values_that_do_not_fit_are_refused(
    tmp_path: Path, dtype: str, shape: tuple[int, ...], value: object
) -> None:
    with Writer(tmp_path / "s", [Field("x", dtype, shape), Field("n", "u8")]) as writer:
        with pytest.raises((ValueError, TypeError)):
            writer.append(x=value, n=0)
        with pytest.raises((ValueError, TypeError)):
            writer.extend(x=[value], n=[0])
        good = "text" if dtype == "utf8" else np.zeros([max(size, 0) for size in shape])
        writer.append(x=good, n=1)  # a value that was refused does no harm
    assert len(Store(tmp_path / "s")) == 1


def test_rounding_of_floats_is_no_loss(tmp_path: Path) -> None:
    with write(tmp_path / "s", {"x": "f32"}, x=[0.1, np.inf, np.nan, 1e-60]) as store:
        assert np.array_equal(
            store.to_numpy()["x"], np.array([0.1, np.inf, np.nan, 0], np.float32), equal_nan=True
        )


def test_fields_must_be_named(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s", {"x": "u8", "y": "u8"})
    with pytest.raises(TypeError, match=r"missing are y"):
        writer.append(x=1)
    with pytest.raises(TypeError, match=r"no field is z"):
        writer.append(x=1, y=2, z=3)
    with pytest.raises(ValueError, match="different lengths"):
        writer.extend(x=[1, 2], y=[3])
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.append(x=1, y=2)


@pytest.mark.parametrize(
    "options", [{"threads": -1}, {"block_records": -1}, {"shuffle": -1}, {"codec": "none such"}]
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict) -> None:
    with pytest.raises((ValueError, OverflowError)), Writer(tmp_path / "s", {"x": "u8"}, **options) as writer:
        writer.append(x=1)
    assert not (tmp_path / "s" / "data.mdb").exists()


@pytest.mark.parametrize(
    "fields", [[Field("x", "u8", mark="odd")], {"x": "u9"}, {"x": object}, {"": "u8"}, {}]
)
def test_wrong_schemas_are_refused(tmp_path: Path, fields: object) -> None:
    with pytest.raises((ValueError, TypeError)), Writer(tmp_path / "s", fields) as writer:  # type: ignore[arg-type]
        writer.extend()
    assert not (tmp_path / "s" / "data.mdb").exists()


def test_an_exception_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.append(x=1)
        raise KeyError("trouble")
    assert not list(tmp_path.rglob("*.mdb*"))
    write(tmp_path / "s", {"x": "u8"}, x=[1])


def test_a_progress_that_raises_ends_the_commit(tmp_path: Path) -> None:
    def progress(*_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Writer(tmp_path / "s", {"x": "u8"}, progress=progress) as writer:
        writer.extend(x=[1, 2])
    assert not (tmp_path / "s" / "data.mdb").exists()


def test_replacing(tmp_path: Path) -> None:
    write(tmp_path / "s", {"x": "u8"}, x=[1])
    with pytest.raises(apldata.ExistsError):
        write(tmp_path / "s", {"x": "u8"}, x=[2])
    with pytest.raises(ZeroDivisionError), Writer(tmp_path / "s", {"x": "u8"}, replace=True) as writer:
        writer.append(x=3)
        raise ZeroDivisionError
    assert Store(tmp_path / "s")[0]["x"] == 1
    with Writer(tmp_path / "s", {"x": "u8"}, replace=True) as writer:
        writer.append(x=4)
    assert Store(tmp_path / "s")[0]["x"] == 4


def test_a_class_that_is_none_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(apldata.Error),
        Writer(tmp_path / "s", [Field("y", "u8", mark="target", classes=("a",))]) as w,
    ):
        w.append(y=1)
    assert not (tmp_path / "s" / "data.mdb").exists()


def test_two_threads_may_not_mix_records(tmp_path: Path) -> None:
    """Two threads that append to one writer: each record is either written whole or refused."""
    writer, refused = Writer(tmp_path / "s", {"x": ("u16", (500,))}), []

    def fill(value: int) -> None:
        for _ in range(300):
            try:
                writer.append(x=np.full(500, value))
            except apldata.InvalidError:
                refused.append(value)

    threads = [threading.Thread(target=fill, args=(value,)) for value in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.commit()
    rows = Store(tmp_path / "s").to_numpy()["x"]
    assert len(rows) + len(refused) == 600
    assert (rows == rows[:, :1]).all()


def test_a_shuffled_store_has_the_same_records(tmp_path: Path) -> None:
    with Writer(tmp_path / "s", {"x": "u16"}, shuffle=5) as writer:
        writer.extend(x=range(1000))
    stored = Store(tmp_path / "s").to_numpy()["x"]
    assert sorted(stored) == list(range(1000)) and stored.tolist() != list(range(1000))


# ------------------------------------------------------------------------------------------- what is lost


def test_values_that_are_too_large(tmp_path: Path) -> None:
    wanted = r"field (x|name): a value of 68,157,440 bytes; one has at most 67,108,864 \(64 MiB\)"
    with Writer(tmp_path / "s", {"x": ("u8", (-1, -1)), "name": str}) as writer:
        large = np.zeros((65, 1 << 20), np.uint8)
        for values in ({"x": large, "name": ""}, {"x": large[:0], "name": "a" * large.size}):
            with pytest.raises(apldata.InvalidError, match=wanted):
                writer.append(**values)
            with pytest.raises(apldata.InvalidError, match=wanted):
                writer.extend(**{name: [value] for name, value in values.items()})
        writer.append(x=large[:2], name="small")
    with pytest.raises(apldata.InvalidError, match=r"x.*67108864"):
        Writer(tmp_path / "t", {"x": ("u8", (65, 1 << 20))})


@pytest.mark.parametrize("threads", [None, 0, 1, 3])
def test_a_number_of_threads_means_the_same_everywhere(tmp_path: Path, threads: int | None) -> None:
    values, before = np.arange(5000, dtype=np.int32), len(os.listdir("/proc/self/task"))
    with Writer(tmp_path / "db", {"x": ("i32", ())}, threads=threads, block_records=16) as writer:
        writer.extend(x=values)
        assert (len(os.listdir("/proc/self/task")) > before) == (threads != 0)
    with Store(tmp_path / "db") as store:
        assert not store.verify(threads)
        assert np.array_equal(store.get(values, threads=threads)["x"], values)
        assert np.array_equal(store.to_numpy(threads=threads)["x"], values)
        with pytest.raises(apldata.InvalidError, match="threads"):
            store.get([0], threads=-1)


def test_files_are_kept(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    files = [random.bytes(int(size)) for size in random.integers(0, 3000, 200)]
    fields = [
        Field("photo", "u8", media="image/jpeg"),
        Field("label", "u8", mark="target", classes=("cat", "dog")),
    ]
    with Writer(tmp_path / "kept", fields) as writer:
        for i, file in enumerate(files[:100]):
            value = [file, bytearray(file), memoryview(file), np.frombuffer(file, "u1")][i % 4]
            writer.append(photo=value, label=i % 2)
        writer.extend(photo=files[100:], label=[i % 2 for i in range(100, 200)])
    store = Store(tmp_path / "kept")
    store.verify()
    field = store.schema["photo"]
    assert (field.media, field.codec, field.shape) == ("image/jpeg", "kept", (-1,))
    assert "image/jpeg" in repr(field) and store.schema["label"].media is None
    assert [bytes(store[i]["photo"]) for i in range(200)] == files
    with apldata.Loader(store, batch_size=32, seed=1) as loader:
        for _ in range(2):
            seen = {
                int(i): bytes(value)
                for batch in loader
                for i, value in zip(batch.ids, batch["photo"], strict=True)
            }
            assert seen == dict(enumerate(files))


@pytest.mark.parametrize("media", ["jpeg", "Image/jpeg", "", "image/"])
def test_media_types_are_checked(tmp_path: Path, media: str) -> None:
    with pytest.raises(apldata.InvalidError, match="media type"):
        Writer(tmp_path / "db", [Field("photo", "u8", media=media)])
    with pytest.raises(apldata.InvalidError, match="only fields of type u8"):
        Writer(tmp_path / "db", [Field("photo", "u8", (3,), media="image/jpeg")])
    assert not (tmp_path / "db" / "data.mdb").exists()


# ------------------------------------------------------------------------------------- what would be lost


def test_masked_values_are_refused(tmp_path: Path) -> None:
    masked = np.ma.array([1, 2, 3], mask=[False, True, False], dtype=np.uint8)
    with apldata.Writer(tmp_path / "s", {"x": ("u8", (3,)), "y": "f32"}) as writer:
        for value in (masked, [1, np.ma.masked, 3], [[masked[0]], 1, np.ma.masked]):
            with pytest.raises(apldata.InvalidError, match=r"field x: 1 masked values.*filled\(0\)"):
                writer.append(x=value, y=1)
        with pytest.raises(apldata.InvalidError, match=r"row 1: field x: 1 masked values"):
            writer.extend(x=[np.ma.array([1, 2, 3]), masked], y=[1, 2])
        with pytest.raises(apldata.InvalidError, match=r"row 2: field y: 1 masked"):
            writer.extend(x=np.zeros((3, 3)), y=np.ma.array([1, 2, 3], mask=[0, 0, 1]))
        writer.append(x=np.ma.array([4, 5, 6], mask=False), y=1)
    assert read(tmp_path / "s")["train"]["x"].tolist() == [[4, 5, 6]]


def test_tensors_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    values = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3) / 4
    with apldata.Writer(
        tmp_path / "s", {"x": ("f32", (3,)), "n": ("u8", (3,)), "v": ("f32", (-1,))}
    ) as writer:
        writer.append(x=values[0].requires_grad_(), n=torch.tensor([1.0, 2, 3], dtype=torch.bfloat16), v=[])
        writer.extend(
            x=values.float().requires_grad_(), n=list((values * 4).unbind()), v=[values[0], values[1]]
        )
        with pytest.raises(
            apldata.InvalidError, match=r"row 1: field n: values of dtype float32.*cannot hold"
        ):
            writer.extend(x=values, n=torch.stack([values[0] * 4, values[1]]), v=values)
        with pytest.raises(
            apldata.InvalidTypeError, match=r"^field x: NumPy can make no array of the tensor"
        ):
            writer.append(x=torch.eye(3)[0].to_sparse(), n=[1, 2, 3], v=[])
    found = read(tmp_path / "s")["train"]
    assert np.array_equal(found["x"], values[[0, 0, 1]].float().numpy())
    assert found["n"].tolist() == [[1, 2, 3], [0, 1, 2], [3, 4, 5]]
    assert [v.tolist() for v in found["v"]] == [[], [0, 0.25, 0.5], [0.75, 1, 1.25]]


def test_an_empty_list_has_no_rows(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"boxes": ("f32", (-1, 4)), "v": ("u8", (-1, -1, 2))}) as writer:
        writer.append(boxes=[], v=[])
        writer.extend(boxes=[[], [[1, 2, 3, 4]]], v=[np.zeros((1, 1, 2)), []])
        with pytest.raises(apldata.InvalidError, match=r"field boxes: a value of shape \(4,\)"):
            writer.append(boxes=[1, 2, 3, 4], v=[])
    found = read(tmp_path / "s")["train"]
    assert [b.shape for b in found["boxes"]] == [(0, 4), (0, 4), (1, 4)]
    assert [v.shape for v in found["v"]] == [(0, 0, 2), (1, 1, 2), (0, 0, 2)]


@pytest.mark.parametrize("schema", [{"x": "u8", "y": ("u8", (-1,))}, {"x": "u8", "y": ("u8", (2,))}])
def test_extend_is_all_or_nothing(tmp_path: Path, schema: Any) -> None:
    with apldata.Writer(tmp_path / "s", schema) as writer:
        writer.append(x=9, y=[9, 9])
        for x, y, message in [
            ([1, 2, 300], [[1, 1]] * 3, r"^row 2: field x: 300, of dtype int64, which u8 cannot hold"),
            ([1, 2, 3], [[1, 1], [2, -2], [3, 3]], r"^row 1: field y: values of dtype int64"),
            ([1, 2], [[1, 1], "ab"], r"^row 1: field y: 'ab', of dtype"),
            ([1, 2], [[1, 1], [[2, 2]]], r"^row 1: field y: a value of shape \(1, 2\)"),
        ]:
            with pytest.raises(apldata.InvalidError, match=message):
                writer.extend(x=x, y=y)
        for wrong in ({1: 2, 0: 1}, {1, 2}):
            with pytest.raises(apldata.InvalidTypeError, match="field x must be an array, or a sequence"):
                writer.extend(x=wrong, y=[[1, 1], [2, 2]])
        writer.extend(x=[1], y=[[1, 1]])
    assert read(tmp_path / "s")["train"]["x"].tolist() == [9, 1]


def test_series_of_pandas_are_read_by_place(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2, 3], "name": ["a", "b", "c"]}, index=[2, 0, 1])
    with apldata.Writer(tmp_path / "s", {"x": "u8", "name": str}) as writer:
        writer.extend(x=frame.x, name=frame.name)
    found = read(tmp_path / "s")["train"]
    assert found["x"].tolist() == [1, 2, 3] and found["name"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (("a", "b", "a"), "^field y: classes 0 and 2 are both called 'a': give each a name of its own"),
        ("abc", r"^field y: classes must be a list of names; got 'abc'"),
        ({"a", "b"}, "^field y: classes must be a list of names, which has an order"),
    ],
)
def test_classes_have_names_of_their_own(tmp_path: Path, classes: Any, message: str) -> None:
    with pytest.raises(apldata.InvalidError, match=message):
        apldata.Writer(tmp_path / "s", [apldata.Field("y", "u8", mark="target", classes=classes)])
    assert not (tmp_path / "s").exists()


def test_a_field_has_one_name(tmp_path: Path) -> None:
    with pytest.raises(apldata.InvalidError, match="'a' stands for a Field that is called 'b'"):
        apldata.Writer(tmp_path / "s", {"a": apldata.Field("b", "u8")})


def test_a_second_writer_is_told_of_a_writer(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.append(x=1)
        with pytest.raises(apldata.BusyError, match="another writer is at work on this store"):
            apldata.Writer(tmp_path / "s", {"x": "u8"})
