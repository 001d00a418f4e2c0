"""apldata.export(): a Parquet file, of which convert() makes the same content again."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import apldata
import apldata.__main__

pq = pytest.importorskip("pyarrow.parquet")

Image = pytest.importorskip("PIL.Image")


def jpeg() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (9, 8), (9, 90, 200)).save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    schema = [
        apldata.Field("image", "u8", media="image/jpeg"),
        apldata.Field("label", "u8", (), "target", classes=("cat", "dog")),
        apldata.Field("pixels", "u8", (3, 4, 5)),
        apldata.Field("boxes", "f32", (-1, 4)),
        apldata.Field("tokens", "u16", (-1,)),
        apldata.Field("half", "f16", (2,)),
        apldata.Field("text", "utf8", (-1,)),
        apldata.Field("yes", "bool"),
        apldata.Field("notes", "u8", media="application/octet-stream"),
        apldata.Field("path", "utf8", (-1,), "name"),
    ]
    with apldata.Writer(tmp_path / "db", schema, threads=1) as writer:
        for n in range(40):
            writer.append(
                image=jpeg(), label=n % 2, pixels=np.full((3, 4, 5), n), boxes=np.full((n % 3, 4), n),
                tokens=range(n % 4), half=[n, 0.5], text=f"line {n}", yes=n % 2 == 0, notes=b"\1" * n or b"0",
                path=f"cat/{n}.jpg", split="train" if n < 30 else "test",
            )  # fmt: skip
    return tmp_path / "db"


def test_the_same_content_again(db: Path, tmp_path: Path) -> None:
    assert apldata.export(db, tmp_path / "x.parquet") == 40
    apldata.convert(tmp_path / "x.parquet", tmp_path / "again")
    before, after = apldata.Store(db), apldata.Store(tmp_path / "again")
    assert after.content_digest == before.content_digest
    assert {n: s.records for n, s in after.splits.items()} == {"train": 30, "test": 10}
    assert after.classes == ("cat", "dog") and after[33]["path"] == "cat/33.jpg"
    assert {f.name: (f.type, f.mark, f.media) for f in before.schema}.items() <= {
        f.name: (f.type, f.mark, f.media) for f in after.schema
    }.items()
    columns = pq.read_schema(tmp_path / "x.parquet").names
    assert columns[0] == "image" and "path" not in columns and columns[-1] == "split"


def test_one_split(db: Path, tmp_path: Path) -> None:
    assert apldata.export(apldata.Store(db), tmp_path / "x.parquet", split="test") == 10
    apldata.convert(tmp_path / "x.parquet", tmp_path / "again")
    assert {n: s.records for n, s in apldata.Store(tmp_path / "again").splits.items()} == {"test": 10}


def test_help_is_for_users(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the command: it used to print the docstring with all of its sections."""
    monkeypatch.setattr("sys.argv", ["apldata", "export", "--format", "parquet", "--help"])
    with pytest.raises(SystemExit):
        apldata.__main__.main()
    said = capsys.readouterr().out
    assert "Parquet file" in said and "Args:" not in said


def test_files_that_exist_stay(db: Path, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("mine")
    with pytest.raises(apldata.ExistsError, match="replace=True"):
        apldata.export(db, tmp_path / "x.parquet")
    with pytest.raises(apldata.NotFoundError):
        apldata.export(db, tmp_path / "x.parquet", split="none", replace=True)
    assert (tmp_path / "x.parquet").read_text() == "mine"
    assert apldata.export(db, tmp_path / "x.parquet", replace=True) == 40
    assert not list(tmp_path.glob(".apldata-*"))
    with pytest.raises(apldata.StorageError, match=r"no/x\.parquet: No such file"):
        apldata.export(db, tmp_path / "no/x.parquet")


def test_hugging_face_reads_it(db: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    apldata.export(db, tmp_path / "x.parquet")
    loaded = datasets.Dataset.from_parquet(str(tmp_path / "x.parquet"), cache_dir=str(tmp_path / "cache"))
    assert loaded.features["label"].names == ["cat", "dog"] and isinstance(
        loaded.features["image"], datasets.Image
    )
    assert loaded[32]["text"] == "line 32" and loaded[32]["split"] == "test"
