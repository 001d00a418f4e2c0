"""apldata.export() of kept JPEG files: convert() adds a field of their shapes only where there was one."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_export import jpeg

import apldata

pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("shaped", [False, True])
@pytest.mark.parametrize("name", ["image", "names.jpg"])
def test_shapes_are_added_where_they_were(tmp_path: Path, name: str, shaped: bool) -> None:
    fields = [apldata.Field(name, "u8", media="image/jpeg")]
    fields += [apldata.Field(f"{name}_shape", "u32", (3,), "name")] if shaped else []
    fields += [apldata.Field("label", "u8", (), "target")]
    values = {name: jpeg(), "label": 1} | ({f"{name}_shape": [3, 8, 9]} if shaped else {})
    with apldata.Writer(tmp_path / "db", fields) as writer:
        for _ in range(3):
            writer.append(**values)
    apldata.export(tmp_path / "db", tmp_path / "out.parquet")
    apldata.convert(tmp_path / "out.parquet", tmp_path / "again")
    first, again = apldata.Store(tmp_path / "db"), apldata.Store(tmp_path / "again")
    assert sorted(again.schema.names) == sorted(first.schema.names)
    assert again.content_digest == first.content_digest
