"""apldata.export(): a Parquet file, of which convert() makes the same content again."""

from __future__ import annotations

import base64
import io
import lzma
import re
import subprocess
import sys
import tarfile
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


def test_members_of_structs_come_back(tmp_path: Path) -> None:
    """Fields called a.b are columns of that name, also beside others called a and a.bytes."""
    pa = pytest.importorskip("pyarrow")
    structs = [{"n": 1, "t": {"text": "x"}, "l": [1.5, 2]}, {"n": 2, "t": {"text": "y"}, "l": []}]
    boxes = [[{"x": 1, "y": 2}, {"x": 3, "y": 4}], []]
    apldata.convert(pa.table({"s": structs, "boxes": boxes, "x": [1, 2]}), tmp_path / "structs")
    fields = {"a": apldata.Field("a", "u8", media="image/jpeg"), "a.bytes": ("i16", ()), "a.": ("u8", (-1,))}
    with apldata.Writer(tmp_path / "names", fields) as writer:
        writer.append(a=jpeg(), **{"a.bytes": -3, "a.": [1, 2]})
    for name in ("structs", "names"):
        apldata.export(tmp_path / name, tmp_path / f"{name}.parquet")
        apldata.convert(tmp_path / f"{name}.parquet", tmp_path / f"{name}-again")
        before, after = apldata.Store(tmp_path / name), apldata.Store(tmp_path / f"{name}-again")
        assert after.content_digest == before.content_digest
        assert set(after.schema.names) >= set(before.schema.names) > {"a." if name == "names" else "s.t.text"}
    apldata.convert(tmp_path / "structs.parquet", tmp_path / "one", fields=["s.n"])
    assert [record["s.n"] for record in apldata.Store(tmp_path / "one")] == [1, 2]


OF_EACH_TYPE = {
    "application/json": [b"{}", b"", b'{"n": 1}'],
    "text/plain": [b"caption", b"BM, as a text may begin", b""],
    "audio/mpeg": [b"\xff\xfb\x90", b"ID3", b"\0"],
    "video/quicktime": [b"\0\0\0\x14ftypqt  ", b"moov", b"mdat"],
    "application/octet-stream": [b"\xff\xd8\xff, and no JPEG", b"fLaC", b""],
}


@pytest.mark.parametrize("media", OF_EACH_TYPE)
def test_files_of_all_types_come_back(media: str, tmp_path: Path) -> None:
    """Whatever they begin with: of most types, that tells nothing."""
    with apldata.Writer(tmp_path / "db", [apldata.Field("f", "u8", media=media)]) as writer:
        writer.extend(f=OF_EACH_TYPE[media])
    apldata.export(tmp_path / "db", tmp_path / "x.parquet")
    apldata.convert(tmp_path / "x.parquet", tmp_path / "again")
    before, after = apldata.Store(tmp_path / "db"), apldata.Store(tmp_path / "again")
    assert after.content_digest == before.content_digest and after.schema["f"].media == media
    assert [record["f"].tobytes() for record in after] == OF_EACH_TYPE[media]


def test_a_webdataset_with_json_comes_back(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "train-0.tar", "w") as archive:
        for n in range(3):
            for ending, data in (("jpg", jpeg()), ("json", b'{"n": %d}' % n), ("txt", b"a")):
                member = tarfile.TarInfo(f"{n}.{ending}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    apldata.ingest(tmp_path / "train-0.tar", tmp_path / "db")
    apldata.export(tmp_path / "db", tmp_path / "x.parquet")
    apldata.convert(tmp_path / "x.parquet", tmp_path / "again")
    before, after = apldata.Store(tmp_path / "db"), apldata.Store(tmp_path / "again")
    assert before.schema["json"].media == "application/json"
    assert after.content_digest == before.content_digest


def test_files_of_another_type_than_told_are_refused(tmp_path: Path) -> None:
    for media, data in (("image/png", b"GIF89a"), ("image/png", b"text"), ("audio/flac", b"OggS")):
        with pytest.raises(apldata.SourceError, match=rf"row 0, column f: holds .*keeps {media}"):
            types = {"f": apldata.Field("f", "u8", media=media)}
            apldata.convert([{"f": data}], tmp_path / "db", types=types)


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


# Of three records, written before text had to be UTF-8: "plain", b"caf\xe9" and b"two\xff\xfe".
OLD = """
{Wp48S^xk9=GL@E0stWa8~^|S5YJf5;7|Vo09^n8Yk+kMQz5um;a-f~L^o6`4tl=@29&kV%#fE4A!LBa5knCs%YtwHy5tky!E=lF
BxThGK@Z_Uoq8!cY1vn!F_2cg=uakIv7qM{sH#iv9D{NtmyG#QN)9OFl|`D~=-zN9mN?Ywq;Y%Q`CdwjM1S;0Jv$W51L8|xA^QjP
PD1#wFHSFmI*)?t-W}3)Bd`3b*!U@w+t{PMzY_3!V!>*;d6`Sm8tLq1v2@T5DJ}gO=|W>299#O~;!alp>f6{q*!dM-(Q;Wu@5Np|
QqgyH*&LphV3^1#f&?<&hd>oQ`6EEEtpc})NXhPIjCqXAgGrfC8s7dx^pPwu$<Jc?J5ExC49m;)8-N&o!pS+n1HBF@&x#+!V_;0*
<)5dn)*Eh1JU(Yt9=YNCU>eo4cIX#;&&h{rG-MYK*x^$kq+~I}#F8g3#VE3CTn=-9mbl#J@w}pIInHDn(5OiOwxmk%+(jew5MnG5
!GVt+?a`3@#^P=5CiZD50bukJ5_6mP3J)VBTZq{2o-nUsHmJ$>s&lONwKSQE${=^V&F<Osn20f`EYztkW-5?ct&zGBo{!wrPp!Sf
#hz?g1PwDUOI+$^xLjXh!g=AtdDT!INC=%GjFrMUrI#s>shAd&ZM=8k7GAlYFXIoSJB0K|?Qmi!jFSKW!wxM~i{OUP00Eo?fS>^Y
KYmMbvBYQl0ssI200dcD
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/data.mdb").write_bytes(lzma.decompress(base64.b85decode(OLD.replace("\n", ""))))
    return tmp_path / "old"


def test_text_that_is_not_utf8_is_named(old: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    why = r"old: record 1, field text: text with the byte 0xe9, which is not UTF-8.*apldata extract --fields"
    with pytest.raises(apldata.UnsupportedError, match=why):
        apldata.export(old, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]
    command = [
        sys.executable,
        "-m",
        "apldata",
        "extract",
        str(old),
        str(tmp_path / "new"),
        "--fields",
        "label",
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert apldata.export(tmp_path / "new", out) == 3


def test_text_that_is_not_utf8_can_be_repaired(old: Path, tmp_path: Path) -> None:
    """As docs/DATA.md shows."""
    page = (Path(__file__).parents[2] / "docs/DATA.md").read_text()
    (code,) = re.findall(r"```python\n(old = .*?)```", page, re.DOTALL)
    names = {"apldata": apldata, "__name__": "doc"}
    exec(
        code.replace('"rows.db"', repr(str(old))).replace('"repaired.db"', repr(str(tmp_path / "new"))), names
    )
    assert apldata.export(tmp_path / "new", tmp_path / "out.parquet") == 3
    assert [record["text"] for record in apldata.Store(tmp_path / "new")] == [
        "plain",
        "caf\ufffd",
        "two\ufffd\ufffd",
    ]
