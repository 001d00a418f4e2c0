"""A writer that is closed or goes away before its records are committed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

import apldata
from apldata import Store, Writer


def lost(path: Path) -> pytest.WarningsRecorder:
    return pytest.warns(
        UserWarning, match=rf"{path.name}: 2 records were not committed.*commit\(\).*discard\(\)"
    )  # type: ignore[return-value]


def test_closing_without_commit_warns(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s", {"x": "u8"})
    writer.extend(x=[1, 2])
    with lost(tmp_path / "s"):
        writer.close()
    writer.close()  # is told once
    with Writer(tmp_path / "t", {"x": "u8"}) as writer, lost(tmp_path / "t"):
        writer.extend(x=[1, 2])
        writer.close()
    assert not list(tmp_path.rglob("data.mdb"))


def test_a_writer_that_goes_away_warns(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s", {"x": "u8"})
    writer.extend(x=[1, 2])
    with lost(tmp_path / "s"):
        del writer
        gc.collect()
    code = "from apldata import Writer; w = Writer('s', {'x': 'u8'}); w.extend(x=[1, 2])"
    environment = {**os.environ, "PYTHONPATH": str(Path(apldata.__file__).parents[1])}
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True)
    assert b"s: 2 records were not committed" in told.stderr and told.returncode == 0


@pytest.mark.filterwarnings("error")
def test_what_is_meant_to_go_warns_of_nothing(tmp_path: Path) -> None:
    for end in ("commit", "discard"):
        writer = Writer(tmp_path / end, {"x": "u8"})
        writer.append(x=1)
        getattr(writer, end)()
        writer.close()
        assert (tmp_path / end / "data.mdb").exists() == (end == "commit")
    Writer(tmp_path / "s", {"x": "u8"}).close()  # without records
    with Writer(tmp_path / "s", {"x": "u8"}) as writer:
        writer.append(x=1)
        writer.commit()
    assert len(Store(tmp_path / "s")) == 1
    with Writer(tmp_path / "t", {"x": "u8"}) as writer:
        writer.append(x=1)
        writer.discard()
    with pytest.raises(KeyError), Writer(tmp_path / "t", {"x": "u8"}) as writer:
        writer.append(x=1)
        raise KeyError
    assert not (tmp_path / "t/data.mdb").exists()
    del writer
    gc.collect()
