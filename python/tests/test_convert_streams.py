"""apldata.convert() of Arrow streams that were cut short."""

from __future__ import annotations

from pathlib import Path

import pytest
from convert_tools import made

import apldata

pa = pytest.importorskip("pyarrow")


def ends_of_messages(file: Path) -> list[int]:
    """Where the schema and each batch end."""
    mapped, ends = pa.memory_map(str(file)), []
    for _ in pa.ipc.MessageReader.open_stream(mapped):
        ends.append(mapped.tell())
    return ends


def write(file: Path) -> None:
    table = pa.table({"x": pa.array([-1, 0], pa.int32()), "t": ["a", "b"]})
    with pa.ipc.new_stream(file, table.schema) as writer:
        for _ in range(5):
            writer.write_table(table)


def test_a_stream_that_was_cut_short(tmp_path: Path) -> None:
    file = tmp_path / "a.arrows"
    write(file)
    assert len(made(file, tmp_path / "a")) == 10
    whole = file.read_bytes()
    for end in ends_of_messages(file)[1:]:
        file.write_bytes(whole[:end])
        with pytest.raises(apldata.SourceError, match=r"a\.arrows: is cut short: the mark at the end"):
            made(file, tmp_path / "b")
    file.write_bytes(whole[:-20])
    with pytest.raises(apldata.SourceError, match=r"a\.arrows"):
        made(file, tmp_path / "b")


def test_a_saved_dataset_that_was_cut_short(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    saved = datasets.Dataset.from_dict({"x": list(range(5000))})
    datasets.DatasetDict(train=saved, test=saved.select(range(9))).save_to_disk(tmp_path / "both")
    saved.save_to_disk(tmp_path / "one")
    assert len(made(tmp_path / "both", tmp_path / "a")) == 5009
    for path, file in (("both", next((tmp_path / "both/train").glob("*.arrow"))),
                       ("one", next((tmp_path / "one").glob("*.arrow")))):  # fmt: skip
        whole = file.read_bytes()
        for end in (ends_of_messages(file)[-2], len(whole) - 20):
            file.write_bytes(whole[:end])
            with pytest.raises(apldata.SourceError, match=file.name):
                made(tmp_path / path, tmp_path / "b")
