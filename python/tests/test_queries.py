"""The query of a URL may hold a signature: nothing that commands print, or write into pages, shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import COMMAND
from remote_server import Server, serving

import apldata

SECRET = "XSIGNATUREX"

MONITORED = """
import pathlib, sys, apldata
with apldata.Loader(sys.argv[2].partition("=")[2], "train", monitor=sys.argv[1]):
    [path] = pathlib.Path(sys.argv[1]).glob("*.json")
    print(path.read_text())
"""


@pytest.fixture
def server(store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving(Path(store_path).parent) as s:
        yield s


@pytest.mark.skipif(not COMMAND.exists(), reason="build/apldata is not built")
@pytest.mark.parametrize(
    "line",
    [
        "info URL", "info --json URL", "verify URL", "verify --json URL", "check URL", "check --json URL",
        "bench --seconds 0.1 URL", "bench --json --seconds 0.1 URL", "audit --epochs 2 URL",
        "audit --epochs 2 --json URL", "audit --no-splits --epochs 2 --html PAGE URL", "view -q -o PAGE URL",
        "view -o PAGE URL", "stage URL CACHE", "stage --json URL CACHE", "stage URL URL",
        "get --fields none URL 1", "export --format npy --fields none URL CACHE", "audit --epochs 2 USER",
        "extract --fields none URL CACHE", "merge URL DB CACHE", "stream --format raw --fields none URL",
        "check URL none", "audit --epochs 2 --split none URL",
    ],
)  # fmt: skip
def test_no_query_is_shown(server: Server, store_path: str, tmp_path: Path, line: str) -> None:
    url = f"{server.url}/{Path(store_path).name}"
    apldata.convert({"train": {"x": [1, 2]}}, tmp_path / "db")
    places = {
        "URL": f"{url}?X-Amz-Signature={SECRET}", "PAGE": tmp_path / "page.html", "CACHE": tmp_path / "cache",
        "DB": tmp_path / "db", "USER": f"http://user:{SECRET}@localhost/db",
    }  # fmt: skip
    command = [COMMAND, *[str(places.get(word, word)) for word in line.split()]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    pages = [page.read_text() for page in tmp_path.glob("*.html")]
    assert len(pages) == ("PAGE" in line), done.stderr
    shown = "".join([done.stdout, done.stderr, *pages])
    assert SECRET not in shown
    if "-q" not in line and "USER" not in line:
        assert url in shown.replace("\\/", "/").replace("\n", "")
    if "--json" in line:
        assert json.loads(done.stdout)["db"] == url


def test_a_command_line_that_is_monitored_has_no_query(
    server: Server, store_path: str, tmp_path: Path
) -> None:
    url = f"{server.url}/{Path(store_path).name}"
    command = [sys.executable, "-c", MONITORED, tmp_path, f"--db={url}?sig={SECRET}", "--epochs", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert SECRET not in done.stdout
    assert json.loads(done.stdout)["command"].startswith(f"{sys.executable} -c ")
    short = tmp_path / "t.py"
    short.write_text(MONITORED)
    done = subprocess.run([sys.executable, short, *command[3:]], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)["command"]
    assert said == f"{sys.executable} {short} {tmp_path} --db={url} --epochs 3"[:255]
