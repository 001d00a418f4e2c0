"""Names for the classes of folders."""

import re
from pathlib import Path

import pytest

import apldata


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("n01", "n02", "n03", "n 04"):
        (tmp_path / "images" / "train" / name).mkdir(parents=True)
        (tmp_path / "images" / "train" / name / "1.ppm").write_bytes(b"P6 1 1 255\n" + name[:3].encode())
    return tmp_path


def classes(folder: Path, names: object) -> tuple[str, ...]:
    apldata.ingest(folder / "images", folder / "db", map=names, replace=True)
    with apldata.Store(folder / "db") as store:
        assert [record["path"][6:9] for record in store] == ["n 0", "n01", "n02", "n03"]
        return store.classes


def test_classes_get_names_and_keep_their_order(folder: Path) -> None:
    file = folder / "names.txt"
    file.write_bytes(b"n03 tench, Tinca tinca \r\n\nn9 not there\nn02\tcrane\nn01 crane\nn 04\tgr\xc3\xbcn\n")
    names = ("grün", "crane (n01)", "crane (n02)", "tench, Tinca tinca")
    assert classes(folder, file) == names
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())  # as some editors write it
    assert classes(folder, file) == names
    assert classes(folder, {"n01": "a", "n02": "b", "n03": "c", "n 04": "d e"}) == ("d e", "a", "b", "c")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"n01 a\nn02 b\nn03 c\n", r"names.txt: has no name for the class n 04$"),
        (b"n01 a\nn02\n", r"names.txt: line 2: is not a folder and the name of its class"),
        (b"n01 a\nn01 a\nn01 b\n", r"names.txt: line 3: names the folder of line 1 differently"),
        (b"n01 a\nn02 \xff\n", r"names.txt: line 2: the name is not printable UTF-8 of at most 255 bytes"),
        (b"n01 " + b"x" * 256, r"names.txt: line 1: the name is not printable UTF-8 of at most 255 bytes"),
        (
            b"n01 %b\nn02 %b\nn03 c\nn 04\td\n" % (b"x" * 252, b"x" * 252),
            r"line 1: the name is another's too",
        ),
        (b"", r"map"),
    ],
)
def test_bad_maps_are_refused(folder: Path, text: bytes, what: str) -> None:
    (folder / "names.txt").write_bytes(text)
    with pytest.raises(ValueError, match=what):
        classes(folder, folder / "names.txt")
    assert not (folder / "db").exists()


def test_only_folders_have_such_names(folder: Path) -> None:
    (folder / "a.csv").write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(ValueError, match=re.escape("the format list has no folders whose classes")):
        apldata.ingest(folder / "a.csv", folder / "db", map={"n01": "a"})
    for wrong in (3, {}, {"n01": 3}, {"n01": "a\nb"}):
        with pytest.raises((ValueError, TypeError), match="map"):
            apldata.ingest(folder / "images", folder / "db", map=wrong)
