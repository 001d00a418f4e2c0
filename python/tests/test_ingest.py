"""apldata.ingest: what it makes, says, refuses; that it can be stopped and leaves nothing behind."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import tarfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import draw

import apldata
from apldata import ingesting
from apldata._progress import Progress

BATCHES = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
META = "".join(f"class-{i}\n" for i in range(10)).encode()


def rows(records: int, seed: int) -> bytes:
    """Rows of CIFAR-10's binary layout: a label, then a picture."""
    pictures, labels = draw(records, seed)
    return np.concatenate([labels[:, None], pictures.reshape(records, -1)], axis=1).tobytes()


def packed(folder: Path, name: str, mode: str, members: list[bytes]) -> Path:
    """An archive in CIFAR-10's binary layout, with these bytes in its members."""
    inside = folder / "cifar-10-batches-bin"
    inside.mkdir()
    (inside / "batches.meta.txt").write_bytes(META)
    for member, data in zip(BATCHES, members, strict=True):
        (inside / f"{member}.bin").write_bytes(data)
    with tarfile.open(folder / name, mode) as tar:
        tar.add(inside, inside.name)
    return folder / name


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All members, with 10,000 rows each, 60 different ones."""
    members = [(rows(60, number) * 167)[: 10000 * 3073] for number in range(len(BATCHES))]
    return packed(tmp_path_factory.mktemp("archive"), "drawn.tar", "w", members)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with too few rows: it needs `partial`."""
    members = [rows(40, number) for number in range(len(BATCHES))]
    return packed(tmp_path_factory.mktemp("small"), "small.tar.gz", "w:gz", members)


def quietly(source: object, db: object, **options: object) -> apldata.IngestSummary:
    """apldata.ingest, without its warnings."""
    with pytest.warns(apldata.IngestWarning):
        return apldata.ingest(source, db, **options)


def test_store_and_summary(small: Path, tmp_path: Path) -> None:
    db = tmp_path / "db"
    summary = quietly(small, db, partial=True)
    assert (summary.format, summary.records, summary.raw_bytes) == ("cifar-10-binary", 240, 240 * 3073)
    assert summary.source_bytes == small.stat().st_size
    assert summary.file_bytes == (db / "data.mdb").stat().st_size
    assert summary.source_digest == hashlib.sha256(small.read_bytes()).hexdigest()
    assert summary.db == str(db) and summary.seconds > 0
    store = apldata.Store(db)
    pictures, labels = draw(40, BATCHES.index("test_batch"))
    test = store.to_numpy("test")
    assert (test["image"] == pictures).all() and (test["label"] == labels).all()
    assert store.classes[3] == "class-3"


def test_repr_and_pickle(small: Path, tmp_path: Path) -> None:
    summary = quietly(small, tmp_path / "db", partial=True)
    assert "240 records" in repr(summary) and "cifar-10-binary" in repr(summary)
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert summary.ratio == pytest.approx(summary.file_bytes / summary.raw_bytes)


def test_same_bytes_as_the_options_say(small: Path, tmp_path: Path) -> None:
    options = {"partial": True, "shuffle": 7, "block_records": 32, "codec": "picture"}
    quietly(small, tmp_path / "a", **options, threads=1)
    quietly(small, tmp_path / "b", **options, threads=4)
    a, b = ((tmp_path / name / "data.mdb").read_bytes() for name in "ab")
    assert a == b
    info = apldata.Store(tmp_path / "a").info
    assert info["block_records"] == 32 and info["shuffled"]


def test_shuffle_true_is_seed_zero(small: Path, tmp_path: Path) -> None:
    quietly(small, tmp_path / "a", partial=True, shuffle=True)
    quietly(small, tmp_path / "b", partial=True, shuffle=0)
    a, b = ((tmp_path / name / "data.mdb").read_bytes() for name in "ab")
    assert a == b


def test_splits(small: Path, tmp_path: Path) -> None:
    split = {"val": 0.2, "dev": (0.5, "train-val")}
    quietly(small, tmp_path / "db", partial=True, split=split, stratify="label")
    splits = apldata.Store(tmp_path / "db").splits
    assert set(splits) >= {"train", "test", "val", "train-val", "dev", "train-val-dev"}
    ids = [apldata.Store(tmp_path / "db").split_ids(s) for s in ("val", "dev", "train-val-dev")]
    assert sorted(np.concatenate(ids)) == list(range(200))


@pytest.mark.parametrize("ratio", [0, 1, 1.5, -0.1, float("nan")])
def test_bad_ratio_is_refused_before_anything_is_done(ratio: float, small: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ratio"):
        apldata.ingest(small, tmp_path / "db", partial=True, split={"val": ratio})
    assert not (tmp_path / "db").exists()


def test_two_splits_of_one_parent_are_refused_before_anything_is_done(small: Path, tmp_path: Path) -> None:
    wrong = r"'test' and 'val' would share records: .* 'val': \(0.2, 'train-test'\)"
    for first in (0.1, (0.1, "train")):
        with pytest.raises(apldata.InvalidError, match=wrong):
            apldata.ingest(small, tmp_path / "db", partial=True, split={"test": first, "val": 0.2})
    assert not (tmp_path / "db").exists()


def test_existing_store(small: Path, tmp_path: Path) -> None:
    quietly(small, tmp_path / "db", partial=True)
    before = (tmp_path / "db/data.mdb").read_bytes()
    with pytest.raises(apldata.ExistsError) as caught:
        apldata.ingest(small, tmp_path / "db", partial=True)
    assert isinstance(caught.value, FileExistsError) and "\n" not in str(caught.value)
    quietly(small, tmp_path / "db", partial=True, force=True)
    quietly(small, tmp_path / "db", partial=True, replace=True)
    assert (tmp_path / "db/data.mdb").read_bytes() == before


def test_incomplete_source(small: Path, tmp_path: Path) -> None:
    with pytest.raises(apldata.IncompleteError, match="row"):
        apldata.ingest(small, tmp_path / "db")
    assert not list(tmp_path.rglob("*.mdb*"))


def test_truncated_archive(truncated_archive: Path, tmp_path: Path) -> None:
    with pytest.raises(apldata.IncompleteError):
        apldata.ingest(truncated_archive, tmp_path / "db")
    assert not list(tmp_path.rglob("*.mdb*"))


def test_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("nothing to train on\n" * 100)
    with pytest.raises(apldata.SourceError):
        apldata.ingest(tmp_path / "text", tmp_path / "db")
    with pytest.raises(apldata.Error, match="missing"):
        apldata.ingest(tmp_path / "missing", tmp_path / "db")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"threads": -1}, ValueError),
        ({"threads": 1 << 40}, ValueError),
        ({"block_records": 1 << 31}, ValueError),
        ({"shuffle": -1}, ValueError),
        ({"shuffle": "yes"}, TypeError),
        ({"codec": "best"}, ValueError),
        ({"codec": 3}, TypeError),
        ({"level": "high"}, TypeError),
        ({"split": {"val": "much"}}, TypeError),
        ({"split": {"val": 1.5}}, ValueError),
        ({"progress": 3}, TypeError),
    ],
)
def test_wrong_arguments(options: dict, error: type[Exception], small: Path, tmp_path: Path) -> None:
    with pytest.raises(error) as caught:
        apldata.ingest(small, tmp_path / "db", partial=True, **options)
    assert isinstance(caught.value, apldata.InvalidError)
    assert not list(tmp_path.rglob("*.mdb*"))


def test_path_with_nul(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        apldata.ingest("a\0b", tmp_path / "db")


def test_path_that_is_no_utf8(small: Path, tmp_path: Path) -> None:
    db = os.path.join(os.fsencode(tmp_path), b"d\xff")
    with pytest.warns(apldata.IngestWarning):
        summary = apldata.ingest(small, db, partial=True)
    assert os.fsencode(summary.db) == db and os.path.exists(os.path.join(db, b"data.mdb"))


def test_genuine_sample(genuine_archive: Path, tmp_path: Path) -> None:
    with pytest.warns(apldata.IngestWarning, match="of 10000 rows"):
        summary = apldata.ingest(genuine_archive, tmp_path / "db", partial=True)
    assert summary.file_bytes < 0.6 * summary.raw_bytes


def test_progress_function(archive: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    began = time.monotonic()
    summary = apldata.ingest(archive, tmp_path / "db", progress=seen.append, codec="raw")
    seconds = time.monotonic() - began
    assert len(seen) <= 10 * seconds + 4
    assert [p.phase for p in seen] == sorted((p.phase for p in seen), key=ingesting._PHASES.index)
    assert seen[-1].phase == "done" and seen[-1].records == summary.records == 60000
    assert all(p.source_size == archive.stat().st_size for p in seen)
    reading = [p.source_bytes for p in seen if p.phase == "reading"]
    assert reading == sorted(reading)


def test_raising_progress_function_cancels(archive: Path, tmp_path: Path) -> None:
    def refuse(p: Progress) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        apldata.ingest(archive, tmp_path / "db", progress=refuse)
    assert not list(tmp_path.rglob("*.mdb*"))


def test_warning_made_an_error_cancels(small: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", apldata.IngestWarning)
        with pytest.raises(apldata.IngestWarning):
            apldata.ingest(small, tmp_path / "db", partial=True)


def test_warnings_name_the_caller(small: Path, tmp_path: Path) -> None:
    with pytest.warns(apldata.IngestWarning) as told:
        apldata.ingest(small, tmp_path / "db", partial=True)
    assert {w.filename for w in told} == {__file__}


def test_progress_on_no_terminal(small: Path, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    quietly(small, tmp_path / "db", partial=True, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and err.startswith("240 records")


@pytest.mark.parametrize("tqdm", [True, False])
def test_progress_on_a_terminal(
    tqdm: bool, archive: Path, tmp_path: Path, capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    apldata.ingest(archive, tmp_path / "db", progress=True, codec="raw")
    err = capfd.readouterr().err
    assert "reading" in err and "%" in err
    assert err.replace("\r", "\n").splitlines()[-1].lstrip("\033[K").startswith("60,000 records")


def test_other_threads_run_meanwhile(archive: Path, tmp_path: Path) -> None:
    ticks, stop = [], threading.Event()

    def tick() -> None:
        while not stop.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    apldata.ingest(archive, tmp_path / "db", codec="raw")
    stop.set()
    thread.join()
    assert len(ticks) > 10


@pytest.mark.filterwarnings("ignore::apldata.IngestWarning")
def test_several_at_once(small: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda i: apldata.ingest(small, tmp_path / str(i), partial=True), range(8))
        assert len({s.source_digest for s in made}) == 1
    assert len({(tmp_path / str(i) / "data.mdb").read_bytes() for i in range(8)}) == 1


WAITING = """
import sys, apldata
print("begun", flush=True)
try:
    apldata.ingest("-", sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_while_the_source_is_awaited(tmp_path: Path) -> None:
    """Nothing comes from standard input, and nothing will: the wait must end all the same."""
    read, write = os.pipe()
    command = [sys.executable, "-c", WAITING, str(tmp_path / "db")]
    child = subprocess.Popen(command, stdin=read, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=10)[0] == "interrupted\n"
        assert child.returncode == 0 and not list(tmp_path.rglob("*.mdb*"))
    finally:
        child.kill()
        child.wait()
        os.close(read)
        os.close(write)


def test_ctrl_c_in_the_midst(archive: Path, tmp_path: Path) -> None:
    def interrupt(p: Progress) -> None:
        if p.phase == "reading":
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        apldata.ingest(archive, tmp_path / "db", progress=interrupt)
    assert not list(tmp_path.rglob("*.mdb*"))


def test_missing_library_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, small: Path, tmp_path: Path
) -> None:
    monkeypatch.delattr(apldata, "_ingest", raising=False)
    monkeypatch.setitem(sys.modules, "apldata._ingest", None)
    with pytest.raises(ImportError, match="libarchive") as caught:
        apldata.ingest(small, tmp_path / "db")
    assert "\n" not in str(caught.value)


def test_images_in_folders(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for i, name in enumerate(["train/cat/1.jpg", "train/dog/2.jpeg", "val/cat/3.jpg"]):
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        image.new("RGB", (20 + i, 10), (i * 50, 9, 9)).save(tmp_path / "photos" / name, "JPEG")
    summary = apldata.ingest(tmp_path / "photos", tmp_path / "db")
    assert (summary.format, summary.records) == ("folder", 3)
    store = apldata.Store(tmp_path / "db")
    assert store.schema["label"].classes == ("cat", "dog") and store.schema["image"].media == "image/jpeg"
    assert bytes(store[2]["image"]) == (tmp_path / "photos" / "val/cat/3.jpg").read_bytes()
    assert store[1]["path"] == "train/dog/2.jpeg" and store[1]["image_shape"].tolist() == [3, 10, 21]
    (tmp_path / "photos/train/cat/bad.jpg").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(apldata.Error, match=r"train/cat/bad\.jpg: PNG: end of"):
        apldata.ingest(tmp_path / "photos", tmp_path / "other")
    with pytest.warns(apldata.IngestWarning, match=r"skipped: train/cat/bad\.jpg"):
        again = apldata.ingest(
            tmp_path / "photos", tmp_path / "other", skip_bad=1, format="folder", check=False
        )
    assert again.records == 3
    with pytest.raises(apldata.InvalidError, match="no format is called nonsense"):
        apldata.ingest(tmp_path / "photos", tmp_path / "third", format="nonsense")
