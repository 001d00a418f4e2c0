"""A program whose locale has decimal commas, as Qt, GTK and rpy2 set it: what loaders tell stays the same."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = r"""
import locale
import apldata
from apldata import callbacks

locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
apldata.convert([{"x": i / 4, "t": "a"} for i in range(64)], "db")
with apldata.Loader("db", batch_size=8) as loader:
    values = sorted(x for batch in loader for x in batch["x"].tolist())
    stats, text = loader.stats(), callbacks.prometheus_text({"train": loader})
    assert values == [i / 4 for i in range(64)]
    assert isinstance(stats["elapsed"], float) and stats["batches"] == 8
    for line in text.splitlines():
        line.startswith("#") or float(line.rsplit(" ", 1)[1])
    print(loader.explain())
try:
    apldata.Loader("db", batch_size=8, weight=-1.5, mix=[("db", "train", 1)])
except apldata.Error as error:
    print(error)
open("t.csv", "w").write("a,b\n1.5,x\n2.25,y\n")
apldata.ingest("t.csv", "csv.db")
assert [r["a"] for r in apldata.Store("csv.db")["train"]] == [1.5, 2.25]
"""


@pytest.mark.skipif(not shutil.which("localedef"), reason="localedef is not installed")
def test_numbers_have_points(tmp_path: Path) -> None:
    making = ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"]
    made = subprocess.run(making, capture_output=True)
    if made.returncode:
        pytest.skip("localedef cannot make de_DE.UTF-8")
    monitor = tmp_path / "monitor"
    monitor.mkdir(mode=0o700)
    environment = {**os.environ, "LOCPATH": str(tmp_path), "APL_MONITOR": str(monitor)}
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "," not in ran.stdout.replace(", ", "").replace(",\n", ""), ran.stdout
    for written in monitor.iterdir():
        json.loads(written.read_text())
