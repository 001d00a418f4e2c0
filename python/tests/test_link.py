"""Stores beyond a link of 20 ms there and back, which loses and reorders packets, and fails for a while: by
nginx, and by a server of S3 that checks signatures."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from link_tools import Link, linked
from remote_tools import epochs, stand_alone
from s3_server import s3_serving

from apldata import Loader, StorageError, Store

_NGINX = """
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log {root}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off; sendfile on;
    client_body_temp_path {root}; proxy_temp_path {root}; fastcgi_temp_path {root}; uwsgi_temp_path {root};
    scgi_temp_path {root};
    server {{ listen {host}:8080; root {files}; }}
}}
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_alone(monkeypatch, tmp_path)
    monkeypatch.setenv("APL_ALLOW_HTTP", "1")
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "60")


@pytest.fixture(scope="module")
def link() -> Iterator[Link]:
    with linked() as one:
        yield one


@pytest.fixture(scope="module")
def url(link: Link, store_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The store, by nginx in the namespace."""
    nginx, path = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin"), Path(store_path)
    if not nginx:
        pytest.skip("no nginx")
    root = tmp_path_factory.mktemp("nginx")
    for folder in (root, *path.parents):  # its worker has a user of its own
        if folder.stat().st_uid == 0 and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    configuration = root / "nginx.conf"
    configuration.write_text("user root;" + _NGINX.format(root=root, host=link.host, files=path.parent))
    with subprocess.Popen(
        [*link.within, nginx, "-p", str(root), "-c", str(configuration), "-e", str(root / "error.log")]
    ) as server:
        while not (root / "nginx.pid").exists():
            assert server.poll() is None, (root / "error.log").read_text()
            time.sleep(0.01)
        yield f"http://{link.host}:8080/{path.name}"
        server.terminate()


LINKS = {
    "long": {},
    "lossy": {"loss": 0.03},
    "overtaking": {"overtaking": 0.05},
    "lossy, overtaking and narrow": {"loss": 0.03, "overtaking": 0.05, "bits_per_s": 5e7},
}
STOPPED_S = 30 if os.environ.get("APL_LONG") else 3
AT_ITS_BEST = {"delay_s": 0.01, "bits_per_s": 1e9, "loss": 0, "overtaking": 0, "down": 0}


@pytest.fixture()
def settled(link: Link) -> Iterator[Link]:
    yield link
    link.tell(**AT_ITS_BEST)


@pytest.mark.parametrize("kind", LINKS)
def test_an_epoch_over_http(settled: Link, url: str, store_path: str, kind: str) -> None:
    settled.tell(**LINKS[kind])
    assert epochs(url) == epochs(store_path)


@pytest.mark.parametrize("kind", LINKS)
def test_an_epoch_over_s3(
    settled: Link, store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    settled.tell(**LINKS[kind])
    with s3_serving(store_path, tmp_path / "moto.log", settled.host, settled.within) as s3:
        s3.use(monkeypatch)
        assert epochs("s3://data/a store") == epochs(store_path)


def test_a_link_that_stops_for_a_while(settled: Link, url: str, store_path: str) -> None:
    """The epoch goes on where it was."""
    wanted = epochs(store_path, 1)
    settled.tell(bits_per_s=1e7)  # which takes two seconds for the epoch
    with Store(url) as store, Loader(store, "train", batch_size=100, seed=7) as loader:
        settled.tell(down=1)
        timer = threading.Timer(STOPPED_S, settled.tell, kwargs={"down": 0})
        timer.start()
        begun = time.monotonic()
        got = [(np.asarray(batch.ids).tobytes(), np.asarray(batch["image"]).tobytes()) for batch in loader]
        assert time.monotonic() - begun > STOPPED_S
        timer.join()
    assert got == wanted


def test_a_link_that_stops_for_good(settled: Link, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in time, which names the URL."""
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "3")
    with Store(url) as store:
        settled.tell(down=1)
        begun = time.monotonic()
        with pytest.raises(StorageError, match=r"http://198\.18\..*"):
            store.to_numpy("train")
        assert time.monotonic() - begun < 60  # some tries of 3 s each
