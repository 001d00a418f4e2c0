"""Store: reading, describing, splitting, checking, pickling."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
import apldata._reading
from apldata import Store

ALL = 1300  # records of the drawn store, of which the last 300 are "test"


@pytest.fixture(scope="module")
def whole(drawn: dict[str, dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([drawn["train"][name], drawn["test"][name]]) for name in ("image", "label")}


IDS: list[Any] = [
    [3, 1, 4, 1, 5],
    [-1, 0, -ALL, ALL - 1],
    [],
    (7,),
    range(1290, 1300),
    slice(None),
    slice(5, None, 100),
    slice(100, 50, -3),
    slice(-10, None),
    slice(50, 10),
    np.array([-1, -2], np.int8),
    np.array([200, 3], np.uint8),
    np.array([-128, 127], np.int16),
    np.array([[0, 1, 2]]).T[:, 0],
    np.arange(10, dtype=">u8")[::-2],
    [np.int32(3), np.uint64(4)],
    {5: "x"},
    np.zeros(0),
    np.random.default_rng(1).integers(0, ALL, 3000),
]


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: type(ids).__name__)
@pytest.mark.parametrize("threads", [None, 0, 1, 3])
def test_get_is_what_was_written(
    store: Store, whole: dict[str, np.ndarray], ids: Any, threads: int | None
) -> None:
    given = list(ids) if not isinstance(ids, (slice, np.ndarray)) else ids
    index = given if isinstance(given, slice) else np.array(given, np.int64)
    batch = store.get(given, threads=threads)
    assert np.array_equal(batch.ids, np.arange(ALL)[index])
    for name, values in whole.items():
        assert batch[name].dtype == values.dtype and np.array_equal(batch[name], values[index])


@pytest.mark.parametrize(
    "ids",
    [
        5,
        None,
        "3",
        "ab",
        [1.0],
        ["1"],
        [[1, 2]],
        [None],
        np.array(3),
        [1, 2.5],
        [2**70],
    ],
)
def test_what_are_no_ids(store: Store, ids: Any) -> None:
    with pytest.raises(TypeError):
        store.get(ids)


@pytest.mark.parametrize("ids", [[ALL], [0, -ALL - 1], [2**64 - 1], [-(2**63)], np.array([ALL], np.uint16)])
def test_ids_that_are_not_there(store: Store, ids: Any) -> None:
    with pytest.raises(apldata.NotFoundError, match="no record") as caught:
        store.get(ids)
    assert isinstance(caught.value, LookupError)
    with pytest.raises(IndexError):
        store[int(np.array(ids).flat[-1])]


def test_one_record(store: Store, whole: dict[str, np.ndarray]) -> None:
    for key in (0, 17, -1, np.int64(1299), np.uint8(9)):
        record = store[key]
        assert list(record) == ["image", "label"]
        assert np.array_equal(record["image"], whole["image"][key]) and record["label"] == whole["label"][key]
    assert np.array_equal(store[3:9]["label"], whole["label"][3:9])
    assert np.array_equal(store[[9, 3]]["image"], whole["image"][[9, 3]])


def test_iterating(store: Store, whole: dict[str, np.ndarray]) -> None:
    records = list(store)
    assert len(records) == len(store) == ALL
    assert np.array_equal(np.stack([record["image"] for record in records]), whole["image"])


def test_fields(store: Store) -> None:
    assert store.get([1], fields=["label"]).keys() == {"label"}
    assert list(store.get([1], fields=("label", "image"))) == ["image", "label"]
    none = store.get([1, 2], fields=[])
    assert list(none) == [] and none.rows == 2
    assert list(store.to_numpy(fields=["label"])) == ["label"]
    with pytest.raises(apldata.NotFoundError, match="nope"):
        store.get([1], fields=["nope"])
    for wrong in ("label", b"label", [1], [None], 3, ["label\0"]):
        with pytest.raises((TypeError, ValueError)):
            store.get([1], fields=wrong)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        store.get([1], fields=["label"])["image"]


@pytest.mark.parametrize("threads", [None, 0, 1, 5])
def test_to_numpy(store: Store, drawn: dict[str, Any], whole: dict[str, Any], threads: int | None) -> None:
    for split, expected in {**drawn, None: whole}.items():
        arrays = store.to_numpy(split, threads=threads)
        assert list(arrays) == list(expected)
        assert all(np.array_equal(arrays[name], expected[name]) for name in expected)
    with pytest.raises(apldata.NotFoundError):
        store.to_numpy("none such")


def test_to_numpy_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    rows = [random.integers(0, 9, (n, 2), dtype=np.int16) for n in random.integers(0, 9, 500)]
    columns = {"x": np.arange(500, dtype=np.int32), "v": rows, "name": [f"né{i}" for i in range(500)]}
    with apldata.Writer(tmp_path / "s", {"x": "i32", "v": ("i16", (-1, 2)), "name": str}) as writer:
        writer.extend(**columns)
    store = Store(tmp_path / "s")
    at_once = store.to_numpy()
    monkeypatch.setattr(apldata._reading, "_COPY_FROM", 1000)
    pieces = store.to_numpy()
    for arrays in (at_once, pieces):
        assert np.array_equal(arrays["x"], columns["x"]) and arrays["name"] == columns["name"]
        assert all(np.array_equal(a, b) for a, b in zip(arrays["v"], rows, strict=True))
    assert store.to_numpy(fields=["x"]).keys() == {"x"} and store.to_numpy(fields=[]) == {}


def test_closing(store_path: str) -> None:
    with Store(store_path) as store:
        batch = store.get([1, 2])
        loader = apldata.Loader(store, "test", 100)
    assert store.closed and len(store) == ALL and store.path == store_path
    for use in (
        lambda: store[0],
        lambda: store.get([1]),
        lambda: store.info,
        lambda: store.splits,
        store.verify,
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert repr(store).endswith("closed>")
    store.close()
    assert sum(b.rows for b in loader) == 300 and len(batch["image"]) == 2  # stay valid
    loader.close()


def test_closing_while_others_read(store_path: str) -> None:
    for _ in range(20):
        store, errors = Store(store_path), []

        def read(store: Store = store, errors: list[BaseException] = errors) -> None:
            try:
                while True:
                    store.get(slice(0, 200))
            except ValueError as error:
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        store.close()
        for thread in threads:
            thread.join()
        assert len(errors) == 3 and store.closed


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(apldata.NotFoundError, match="missing"):
        Store(tmp_path / "missing")
    with pytest.raises(apldata.NotFoundError):
        Store(tmp_path)
    with pytest.raises(apldata.NotFoundError):
        Store(os.fsencode(tmp_path) + b"/\xff")
    (tmp_path / "data.mdb").write_bytes(b"not a store" * 1000)
    with pytest.raises(apldata.Error):
        Store(tmp_path)
    for wrong in (None, 3, "a\0b"):
        with pytest.raises((TypeError, ValueError)):
            Store(wrong)  # type: ignore[arg-type]


def test_expected_content(store: Store, store_path: str) -> None:
    digest = store.content_digest
    assert len(digest) == 64
    for good in (digest, bytes.fromhex(digest), None):
        Store(store_path, expected_content=good).close()
    with pytest.raises(apldata.MismatchError):
        Store(store_path, expected_content="00" * 32)
    for wrong in ("00", "zz" * 32, b"short", 3):
        with pytest.raises((ValueError, TypeError)):
            Store(store_path, expected_content=wrong)  # type: ignore[arg-type]


def test_what_it_says_of_itself(store: Store, drawn: dict[str, Any]) -> None:
    assert dict(store.schema) == {"image": store.schema[0], "label": store.schema[1]}
    assert list(store.schema.keys()) == store.schema.names and store.schema.values() == tuple(store.schema)
    assert store.schema.get("label") is store.schema[1] and store.schema.get("x") is None
    assert store.schema.names == ["image", "label"] and "image" in store.schema and "x" not in store.schema
    image, label = store.schema
    assert image == store.schema["image"] == store.schema[0] and image.is_picture and not label.is_picture
    assert (image.type, image.mark, label.type, label.mark) == ("u8[3,32,32]", "input", "u8", "target")
    assert label.classes == store.classes and len(store.classes or ()) == 10
    assert image.raw_bytes == ALL * 3072 and 0 < image.stored_bytes < image.raw_bytes
    with pytest.raises(KeyError):
        store.schema["x"]
    assert store.info["records"] == ALL and store.info["block_records"] == 64
    assert {name: (s.first, s.records) for name, s in store.splits.items()} == {
        "train": (0, 1000),
        "test": (1000, 300),
    }
    assert [m.name for m in store.members] == ["train", "test"]
    for split, arrays in drawn.items():
        counts = np.bincount(arrays["label"], minlength=10)
        assert list(store.class_counts(split).values()) == counts.tolist()
        mean, deviation = store.moments(split)
        assert np.allclose(mean, arrays["image"].mean((0, 2, 3)), rtol=1e-12)
        assert np.allclose(deviation, arrays["image"].std((0, 2, 3)), rtol=1e-9)
    for wrong in (
        lambda: store.moments("none"),
        lambda: store.moments("train", "label"),
        lambda: store.class_counts("no"),
    ):
        with pytest.raises(apldata.NotFoundError):
            wrong()


def test_pickling(store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(store_path).parent)
    store = Store(Path(store_path).name, split_directory=".")
    monkeypatch.chdir(tmp_path)
    copy = pickle.loads(pickle.dumps(store))
    assert copy.content_digest == store.content_digest and np.array_equal(copy[5]["image"], store[5]["image"])
    assert copy.split_directory == store.split_directory
    shutil.copytree(store_path, tmp_path / "s")
    pickled = pickle.dumps(Store(tmp_path / "s"))
    with apldata.Writer(tmp_path / "s", {"x": "u8"}, replace=True) as writer:
        writer.append(x=1)
    with pytest.raises(apldata.MismatchError):
        pickle.loads(pickled)


def labels_of(store: Store) -> list[int]:
    """For child processes."""
    return store.get(slice(0, 50))["label"].tolist()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_in_child_processes(store_path: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(store_path).parent)
    store = Store(Path(store_path).name)
    with multiprocessing.get_context(method).Pool(2) as pool:
        answers = pool.map(labels_of, [store] * 4)
    assert answers == [labels_of(store)] * 4


def test_folds_and_clients(own: Store, drawn: dict[str, Any]) -> None:
    labels = drawn["train"]["label"]
    folds = own.folds("cv", 4, stratify="label", seed=1)
    assert [(f.name, f.rest, f.ratio) for f in folds] == [
        (f"cv-{i}", f"train-cv-{i}", 0.25) for i in range(4)
    ]
    ids = [own.split_ids(f.name) for f in folds]
    assert np.array_equal(np.sort(np.concatenate(ids)), np.arange(1000))
    counts = np.array([np.bincount(labels[i], minlength=10) for i in ids])
    assert np.abs(counts - np.bincount(labels, minlength=10) / 4).max() < 3
    alike, skewed = own.clients("a", 5), own.clients("b", 5, dirichlet=0.1)
    assert sum(c.records for c in alike) == sum(c.records for c in skewed) == 1000
    most = [max(max(own.class_counts(c.name).values()) for c in clients) for clients in (alike, skewed)]
    assert most[0] < most[1]
    with pytest.raises(apldata.ExistsError):
        own.folds("cv", 4)
    with pytest.raises(apldata.InvalidError):
        own.clients("c", 1)
    with pytest.raises(apldata.InvalidError):
        own.clients("c", 3, dirichlet=-1.0)


def test_splits(own: Store, drawn: dict[str, Any]) -> None:
    made = own.split("val", 0.2, stratify="label", seed=3)
    assert (made.name, made.rest, made.parent, made.ratio, made.seed) == ("val", "train-val", "train", 0.2, 3)
    val, rest = own.split_ids("val"), own.split_ids("train-val")
    assert np.array_equal(np.sort(np.concatenate([val, rest])), np.arange(1000))
    assert own.splits["val"].records == len(val) and own.splits["train-val"].records == len(rest)
    labels = drawn["train"]["label"]
    share = np.bincount(labels[val], minlength=10) / np.bincount(labels, minlength=10)
    assert np.abs(share - 0.2).max() < 0.02
    assert own.class_counts("val") == dict(
        zip(own.classes or (), np.bincount(labels[val]).tolist(), strict=True)
    )
    assert np.array_equal(own.to_numpy("val")["label"], labels[val])
    with apldata.Loader(own, "train-val", 64) as loader:
        assert sorted(int(i) for batch in loader for i in batch.ids) == rest.tolist()
    with pytest.raises(apldata.ExistsError):
        own.split("val", 0.3)
    assert own.split("val", 0.5, replace=True).ratio == 0.5
    for wrong in (
        {"ratio": 2.0},
        {"ratio": 0.1, "parent": "no"},
        {"ratio": 0.1, "seed": -1},
        {"ratio": float("nan")},
    ):
        with pytest.raises((apldata.Error, ValueError)):
            own.split("other", **wrong)
    Path(own.path, "broken.split").write_bytes(b"junk")
    assert set(own.splits) == {"train", "test", "val", "train-val"}


def test_splits_by_groups(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    patient, sick = rng.integers(0, 60, 2000, dtype=np.int32), rng.integers(0, 2, 60, dtype=np.uint8)
    who = [f"patient {p}" for p in patient]
    fields = [
        apldata.Field("x", "u8"),
        apldata.Field("patient", "i32", mark="target"),
        apldata.Field("sick", "u8", mark="target"),
        apldata.Field("who", "utf8", (-1,), "name"),
    ]
    with apldata.Writer(tmp_path / "db", fields) as writer:
        x = rng.integers(0, 256, 2000, dtype=np.uint8)
        writer.extend(x=x, patient=patient, sick=sick[patient], who=who)
    with Store(tmp_path / "db") as store:
        made = store.split("val", 0.3, group="patient")
        assert (made.group, made.by) == ("patient", "group")
        assert 8 < len(set(patient[store.split_ids("val")])) < 29
        store.split("dev", 0.3, group="who", stratify="sick", overlap=True)
        folds = store.folds("cv", 3, group="patient", overlap=True)
        folds += store.clients("c", 3, group="who", dirichlet=1.0, stratify="sick", overlap=True)
        for split in [store.splits["val"], store.splits["dev"], *folds]:
            part, rest = store.split_ids(split.name), store.split_ids(str(split.rest))
            assert len(part) + len(rest) == 2000 and not set(patient[part]) & set(patient[rest])
        with pytest.raises(apldata.NotFoundError, match="no field nobody"):
            store.split("x", 0.5, group="nobody")
        with pytest.raises(apldata.InvalidError, match="nothing else"):
            store.split("x", 0.5, group="patient", by="id")


def test_what_splits_hash(own: Store) -> None:
    made = [own.split(by, 0.5, by=by, overlap=True) for by in ("content", "key", "id")]
    assert [(split.by, split.group) for split in made] == [(by, None) for by in ("content", "key", "id")]
    ids = [own.split_ids(split.name) for split in made]
    assert all(400 < len(i) < 600 for i in ids)
    assert not np.array_equal(ids[0], ids[1])
    with pytest.raises(apldata.InvalidError, match="by must be 'content', 'key' or 'id'; got 'name'"):
        own.split("x", 0.5, by="name")


def test_damage_is_found(own: Store, whole: dict[str, np.ndarray]) -> None:
    assert own.verify() == []
    path = Path(own.path, "data.mdb")
    own.close()
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0x10
    path.write_bytes(damaged)
    store = Store(own.path)
    with pytest.raises(apldata.CorruptError) as caught:
        store.verify()
    bad = store.verify(raises=False)
    records = caught.value.records
    assert records is not None and len(bad) == 1
    assert (bad[0].first, bad[0].records) == (records.start, len(records)) and set(bad[0].bad) <= set(records)
    with pytest.raises(apldata.CorruptError) as read:
        store.get(records)
    assert read.value.records is not None and set(read.value.records) <= set(records)
    good = np.setdiff1d(np.arange(ALL), list(records))
    assert np.array_equal(store.get(good)["image"], whole["image"][good])
    with apldata.Loader(store, None, 64) as loader, pytest.raises(apldata.CorruptError):
        list(loader)
    split = store.members[int(records.start >= 1000)].split
    with apldata.Loader(store, split, 40, skip_corrupt=64, threads=1) as loader:
        given, skipped = [], []
        for batch in loader:
            given += batch.ids.tolist()
            skipped += batch.skipped.tolist()
    assert sorted(given + skipped) == store.split_ids(split).tolist() and set(skipped) == set(records)
    assert pickle.loads(pickle.dumps(caught.value)).records == records


def test_progress_of_verifying(store: Store) -> None:
    seen: list[tuple[int, int]] = []
    store.verify(progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (ALL, ALL) and seen == sorted(seen)

    def stop(done: int, of: int) -> None:
        raise ZeroDivisionError

    for threads in (0, 1, 3):
        with pytest.raises(ZeroDivisionError):
            store.verify(threads, stop)


def test_read_instead_of_mapped(store_path: str) -> None:
    gc.collect()  # stores that are held by the tracebacks of errors before
    with Store(store_path, io="read") as read, Store(store_path, io="map") as mapped:
        assert np.array_equal(read.to_numpy("test")["image"], mapped.to_numpy("test")["image"])
        maps = Path("/proc/self/maps").read_text(encoding="utf-8")
        assert maps.count(f"{store_path}/data.mdb") == 1
        assert len(pickle.loads(pickle.dumps(read))) == len(read)
    with pytest.raises(apldata.InvalidError, match="'auto', 'map' or 'read'"):
        Store(store_path, io="fast")


def test_what_is_there_instead_of_a_store(tmp_path: Path) -> None:
    with pytest.raises(apldata.NotFoundError, match="is not there"):
        Store(tmp_path / "none")
    (tmp_path / "archive.tar.gz").write_bytes(b"x")
    with pytest.raises(apldata.NotFoundError, match=r"is a file; apldata\.ingest"):
        Store(tmp_path / "archive.tar.gz")


def test_names_that_are_not_there_are_told(store_path: str) -> None:
    with pytest.raises(apldata.NotFoundError, match=r"trian.*splits train, test, the fields image, label"):
        apldata.Loader(store_path, "trian")


def test_the_command_writes_text_of_any_length(tmp_path: Path) -> None:
    command = Path(apldata._core.__file__).parent / "bin/apldata"
    if not command.is_file():
        pytest.skip("the command is not built")
    texts = ["word " * 400, "a\tb" * 5000, ""]
    with apldata.Writer(tmp_path / "s", {"text": str}) as writer:
        writer.extend(text=texts)
    get = [command, "get", tmp_path / "s", "0", "1", "2"]
    subprocess.run([*get, "-o", tmp_path / "x.TXT"], check=True)
    told = subprocess.run([*get, "--fields", "text", "--format", "text"], check=True, capture_output=True)
    expected = "".join(text.replace("\t", "\\x09") + "\n" for text in texts)
    assert (tmp_path / "x.TXT").read_text() == told.stdout.decode() == expected


def test_a_number_without_dimensions_is_one_record(store: Store) -> None:
    for key in (np.array(3), np.int32(3)):
        assert store[key].keys() == store[3].keys()
        assert store["test"][key]["label"] == store["test"][3]["label"]
    for key in (np.array(3.0), np.array(True)):
        with pytest.raises(apldata.InvalidTypeError, match=r"^ids must be"):
            store[key]
