"""Stores and sets at URLs: as local ones, whatever the network does; or an error that says what it was."""

from __future__ import annotations

import gzip
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND
from remote_server import Handler, Server, Times, serving
from remote_tools import epochs, stand_alone

import apldata
from apldata import CorruptError, Loader, MismatchError, NotFoundError, StorageError, Store


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_alone(monkeypatch, tmp_path)


@pytest.fixture()
def server(store_path: str) -> Iterator[Server]:
    with serving(Path(store_path).parent) as s:
        yield s


@pytest.fixture()
def url(server: Server, store_path: str) -> str:
    return f"{server.url}/{Path(store_path).name}"


@pytest.fixture(scope="module")
def wanted(store_path: str) -> list[tuple[bytes, bytes]]:
    return epochs(store_path)


def test_a_url_is_read_as_the_directory_is(url: str, server: Server, store_path: str, wanted: Any) -> None:
    with Store(url) as there, Store(store_path) as here:
        opening = len(server.log)
        assert there.content_digest == here.content_digest
        assert (there[5]["image"] == here[5]["image"]).all()
        there.verify()
    assert opening <= 5
    assert epochs(url) == wanted
    assert epochs(url + "/data.mdb") == wanted
    assert epochs(f"file://{store_path}") == wanted


def test_a_second_epoch_asks_for_nothing(url: str, server: Server) -> None:
    blocks = -(-1000 // 64)
    epochs(url, 2)
    assert len(server.log) < 2 * blocks, server.log


def repeat(what: Any, count: int = 3) -> Times:
    return Times(count, what)


def status(code: int, **headers: str) -> Any:
    return lambda handler, first, end: handler.answer(code, b"busy", **headers)


def wrong_range(handler: Handler, first: int, end: int) -> None:
    handler.send_range(first - 1, end - 1)


def wrong_bytes(handler: Handler, first: int, end: int) -> None:
    body = bytearray(handler.read(first, end))
    body[len(body) // 2] ^= 1
    handler.send_range(first, end, bytes(body))


def too_long(handler: Handler, first: int, end: int) -> None:
    body = handler.read(first, end) + b"more"
    handler.send_range(first, end, body, len(body))


def compressed(handler: Handler, first: int, end: int) -> None:
    assert handler.headers["Accept-Encoding"] == "identity"
    body = gzip.compress(handler.read(first, end))
    handler.send_range(first, end, body, len(body), Content_Encoding="gzip")


PASSING = {
    "too long": too_long,
    "429": status(429, Retry_After="1"),
    "500": status(500),
    "502": status(502),
    "503": status(503),
    "504": status(504),
    "reset": lambda handler, first, end: handler.reset(),
    "truncated": lambda handler, first, end: handler.cut(first, end),
    "wrong range": wrong_range,
    "all of it": lambda handler, first, end: handler.answer(200, handler.read(0, handler.size)),
    "an empty answer": lambda handler, first, end: handler.answer(200),
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_changes_nothing(url: str, server: Server, wanted: Any, fault: str) -> None:
    server.fault = repeat(PASSING[fault], 1)
    assert epochs(url) == wanted
    assert server.fault.count == 0


def test_a_server_that_is_silent_is_asked_again(
    url: str, server: Server, wanted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "4")
    done = threading.Event()
    server.fault = repeat(lambda handler, first, end: done.wait(30), 1)
    try:
        assert epochs(url) == wanted
    finally:
        done.set()


def test_wrong_bytes_are_asked_for_again(url: str, server: Server, wanted: Any) -> None:
    server.fault = repeat(wrong_bytes, 1)
    assert epochs(url) == wanted
    assert server.fault.count == 0


def test_wrong_bytes_of_tree_and_manifest_are_asked_for_again(
    url: str, server: Server, store_path: str, wanted: Any
) -> None:
    """Whatever the request of the opening: the file is opened once more."""
    with Store(url):
        requests = len(server.log)
    for k in range(requests):
        seen = []

        def damage(handler: Handler, first: int, end: int, k: int = k, seen: list[int] = seen) -> bool:
            seen.append(first)
            if len(seen) != k + 1:
                return False
            handler.send_range(first, end, bytes(x ^ 0xFF for x in handler.read(first, end)))
            return True

        server.fault = damage
        with Store(url) as store, Store(store_path) as here:
            assert store.content_digest == here.content_digest


def test_bytes_that_stay_wrong_are_corrupt(url: str, server: Server) -> None:
    with Store(url) as store:
        server.fault = repeat(wrong_bytes, -1)
        with pytest.raises(CorruptError, match=r"block 0 .*checksum"):
            store[0]


def test_what_does_not_pass_is_an_error_in_time(
    url: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "1")
    with Store(url) as store:
        server.fault = repeat(status(503), -1)
        begin = time.monotonic()
        with pytest.raises(StorageError, match=r"gave up after \d+ tries: the server answered HTTP 503"):
            store[0]
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (compressed, r"the bytes come compressed \(Content-Encoding\)"),
        (too_long, r"gave up after \d+ tries: the server sent more bytes than were asked for"),
    ],
)
def test_answers_of_other_bytes_are_named(
    url: str, server: Server, monkeypatch: pytest.MonkeyPatch, fault: Any, message: str
) -> None:
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "2")
    with Store(url) as store:
        server.fault = repeat(fault, -1)
        with pytest.raises(StorageError, match=message):
            store[0]


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
@pytest.mark.parametrize("python", [False, True])
def test_who_waits_is_told_that_it_is_tried_again(
    url: str, server: Server, monkeypatch: pytest.MonkeyPatch, python: bool
) -> None:
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "0.4")
    server.fault = Times(-1, status(503), opening=True)
    secret = url + "?token=hush"
    opens = f"import apldata; apldata.Store({secret!r})"
    command = [sys.executable, "-c", opens] if python else [COMMAND, "info", secret]
    out = subprocess.run(command, capture_output=True, text=True)
    assert out.returncode == 1 and "hush" not in out.stderr.replace(opens, "")
    notes = [line for line in out.stderr.splitlines() if line.startswith("apldata: note: ")]
    assert len(notes) == 1 and url in notes[0]
    assert notes[0].endswith(": the server answered HTTP 503; trying again for up to 1 s")


def test_a_replaced_object_is_an_error(url: str, server: Server) -> None:
    with Store(url) as store:
        for path in server.etags:
            server.etags[path] = "another"
        with pytest.raises(MismatchError, match="has been replaced since it was opened"):
            store[0]


def test_a_replaced_object_is_seen_where_if_match_is_ignored(url: str, server: Server) -> None:
    def ignore(handler: Handler, first: int, end: int) -> bool:
        del handler.headers["If-Match"]
        return False

    with Store(url) as store:
        server.fault = ignore
        for path in server.etags:
            server.etags[path] = "another"
        with pytest.raises(MismatchError, match="has been replaced since it was opened"):
            store[0]


def test_a_server_that_sends_no_ranges_is_named(url: str, server: Server) -> None:
    server.fault = lambda handler, first, end: handler.answer(200, handler.read(0, handler.size)) or True
    with pytest.raises(StorageError, match="does not send ranges"):
        Store(url)


def test_access_denied(url: str, server: Server) -> None:
    server.fault = Times(-1, lambda handler, a, b: handler.answer(403, b"<Code>ExpiredToken</Code>"), True)
    with pytest.raises(StorageError, match=r"the credentials have expired: ExpiredToken$"):
        Store(url + "?secret=hush")
    server.fault = Times(-1, status(403), True)
    with pytest.raises(StorageError, match=r"access is denied$"):
        Store(url)


def test_secrets_are_not_shown(url: str, server: Server, store_path: str) -> None:
    with Store(url + "?signature=hush") as store:
        assert "?signature=hush" in server.log[0][0]
        assert "hush" not in repr(store)
        server.fault = Times(-1, status(404), True)
        with pytest.raises(NotFoundError) as caught:
            store[0]
        assert "hush" not in str(caught.value)
    with pytest.raises(ValueError, match="must not hold a user or password") as refused:
        Store("https://user:hush@example.org/db")
    assert "hush" not in str(refused.value)


def test_redirections_are_followed_to_the_same_scheme(
    url: str, server: Server, wanted: Any, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hush\n")
    moved: list[str | None] = []

    def redirect(handler: Handler, first: int, end: int) -> bool:
        if handler.path.startswith("/to/"):
            moved.append(handler.headers["Authorization"])
            return False
        handler.answer(302, b"", Location=f"http://localhost:{server.server_address[1]}/to{handler.path}")
        return True

    server.fault = redirect
    assert epochs(url) == wanted
    assert moved and set(moved) == {None}
    server.fault = Times(-1, lambda h, a, b: h.answer(301, b"", Location="https://localhost/x"), True)
    with pytest.raises(StorageError, match="redirects to another scheme"):
        Store(url)
    server.fault = Times(-1, lambda h, a, b: h.answer(307, b"", Location="http://example.org/x"), True)
    with pytest.raises(ValueError, match="allowed to this machine alone"):
        Store(url)
    server.fault = Times(-1, lambda h, a, b: h.answer(307, b"", Location=h.path), True)
    with pytest.raises(StorageError, match="redirects again and again"):
        Store(url)


def test_the_password_of_netrc_is_sent(url: str, server: Server, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hush\n")
    seen: list[str | None] = []
    server.fault = lambda handler, first, end: seen.append(handler.headers["Authorization"])  # type: ignore[assignment,func-returns-value]
    Store(url).close()
    assert seen[0] and seen[0].startswith("Basic ")


def test_http_is_for_this_machine_unless_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "http://example.org/db",
        "http://127.0.0.1.example.org/db",
        "http://localhost.example.org/db",
    ):
        with pytest.raises(ValueError, match=r"http:// is open to anybody on the way"):
            Store(name)
    monkeypatch.setenv("APL_ALLOW_HTTP", "1")
    with pytest.raises(StorageError, match="resolve"):
        Store("http://no-such-host.invalid/db")


@pytest.mark.parametrize(
    "bad", ["ftp://x/y", "https:///y", "https://x/y z", "https://x/y#z", "s3:///key", "s3://a?b/c"]
)
def test_bad_urls(bad: str) -> None:
    with pytest.raises(ValueError, match=r"scheme|names no|holds a|bucket"):
        Store(bad)


def test_nothing_there(server: Server) -> None:
    with pytest.raises(NotFoundError, match=r"no data\.mdb or set\.apl"):
        Store(server.url + "/nothing")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(StorageError, match=r"data\.mdb: .*connect"):
            Store(f"http://127.0.0.1:{unused.getsockname()[1]}/x")


def test_a_bucket_that_does_not_exist_is_named(server: Server) -> None:
    server.fault = lambda handler, first, end: (
        handler.answer(404, b"<Error><Code>NoSuchBucket</Code></Error>") or True
    )
    with pytest.raises(NotFoundError, match=r"/nowhere/data\.mdb: there is no such bucket"):
        Store(server.url + "/nowhere")


def test_a_damaged_tree_is_refused(server: Server, store_path: str, tmp_path: Path) -> None:
    """Each page of the tree is checked, wherever it comes from."""
    (tmp_path / "bad").mkdir()
    content = bytearray(Path(store_path, "data.mdb").read_bytes())
    root = int.from_bytes(content[88 + 40 : 88 + 48], "little")
    content[4096 * root : 4096 * root + 8] = b"\xff" * 8
    (tmp_path / "bad/data.mdb").write_bytes(content)
    with serving(tmp_path) as s, pytest.raises(CorruptError, match=r"bad/data\.mdb: page"):
        Store(s.url + "/bad")


def test_splits_of_a_url_are_kept_elsewhere(url: str, tmp_path: Path) -> None:
    with Store(url) as store:
        assert set(store.splits) == {"train", "test"}
        with pytest.raises(apldata.UnsupportedError, match="name a directory for splits"):
            store.split("val", 0.1)
    with Store(url, split_directory=tmp_path) as store:
        assert store.split("val", 0.1).records > 0
        assert (tmp_path / "val.split").is_file()


def test_a_child_reads_what_its_parent_has_opened(url: str, store_path: str) -> None:
    with Store(url) as store, Store(store_path) as here:
        assert (store[3]["image"] == here[3]["image"]).all()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if (store[200]["image"] == here[200]["image"]).all() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_https(store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: Any) -> None:
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key", "-out",
         tmp_path / "cert", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        capture_output=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl makes no certificate")
    server = Server(Path(store_path).parent)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        url = f"https://localhost:{server.server_address[1]}/{Path(store_path).name}"
        with pytest.raises(StorageError, match=r"(?i)certificate|SSL"):
            Store(url)
        monkeypatch.setenv("CURL_CA_BUNDLE", str(tmp_path / "cert"))
        assert epochs(url) == wanted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_many_requests_are_in_flight(url: str, server: Server, wanted: Any) -> None:
    """The plan says which blocks come: they are fetched before a thread gets to them."""
    here, most, lock = 0, 0, threading.Lock()

    def slow(handler: Handler, first: int, end: int) -> bool:
        nonlocal here, most
        with lock:
            here, most = here + 1, max(most, here + 1)
        time.sleep(0.2)
        with lock:
            here -= 1
        return False

    server.fault = slow
    assert epochs(url, threads=1) == wanted
    assert most >= 6


def kept_store(path: Path, records: int = 120) -> None:
    """A store of files, kept as they came."""
    random = np.random.default_rng(5)
    fields = [
        apldata.Field("file", "u8", media="application/octet-stream"),
        apldata.Field("label", "u8", (), "target"),
    ]
    with apldata.Writer(str(path), fields, block_records=10, keep_files=True) as w:
        w.begin("train")
        for i in range(records):
            w.append(file=random.integers(0, 256, 2000 + i, "u1"), label=i % 10)


def values(path: str, **options: Any) -> list[Any]:
    with Store(path) as store, Loader(store, "train", batch_size=16, seed=3, **options) as loader:
        return [
            (np.asarray(batch.ids).tobytes(), [np.asarray(value).tobytes() for value in batch["file"]])
            for _ in range(2)
            for batch in loader
        ]


@pytest.mark.parametrize("fault", [None, "503", "truncated", "wrong bytes"])
def test_values_that_are_read_late(tmp_path: Path, fault: str | None) -> None:
    kept_store(tmp_path / "kept")
    here = values(str(tmp_path / "kept"))
    with serving(tmp_path) as server:
        if fault:
            server.fault = repeat(wrong_bytes if fault == "wrong bytes" else PASSING[fault], 2)
        assert values(server.url + "/kept") == here
        assert values(server.url + "/kept", threads=0) == here


@pytest.mark.parametrize(
    "options",
    [{"order": "free"}, {"window": 128}, {"threads": 0}, {"shuffle": False}],
    ids=["free", "window", "no threads", "in order"],
)
def test_every_order(url: str, store_path: str, options: dict[str, Any]) -> None:
    there, here = epochs(url, 2, **options), epochs(store_path, 2, **options)
    if "order" in options:  # each record twice, in an order that threads make
        ids = sorted(np.frombuffer(b"".join(part for part, _ in there), "u8"))
        assert ids == sorted(np.frombuffer(b"".join(part for part, _ in here), "u8"))
    else:
        assert there == here


def test_small_columns_beside_files_are_fetched_ahead_and_together(tmp_path: Path) -> None:
    """A block of files has its other columns at its end, and takes two requests besides those of its files:
    not one after another for each column, while a loader waits. Files are asked for before their batch is
    made."""
    names = [f"label{i}" for i in range(4)]
    fields = [apldata.Field("file", "u8", media="application/octet-stream")]
    fields += [apldata.Field(name, "u8", (), "target") for name in names]
    with apldata.Writer(str(tmp_path / "kept"), fields, block_records=10, keep_files=True) as w:
        w.begin("train")
        for i in range(400):
            w.append(file=bytes([i % 251]) * (2000 + i), **dict.fromkeys(names, i % 10))
    here: dict[bool, int] = {True: 0, False: 0}
    most, lock = dict(here), threading.Lock()

    def slow(handler: Handler, first: int, end: int) -> bool:
        small = end - first < 2000
        with lock:
            here[small] += 1
            most[small] = max(most[small], here[small])
        time.sleep(0.02)
        with lock:
            here[small] -= 1
        return False

    with serving(tmp_path) as server, Store(server.url + "/kept") as store:
        opened = len(server.log)
        server.fault = slow
        with Loader(store, "train", batch_size=100, seed=3, threads=1) as loader:
            assert sum(len(batch.ids) for batch in loader) == 400
        small = sum(end - first < 2000 for _, first, end in server.log[opened:])
    assert small <= 2 * 40
    assert most[True] >= 6 and most[False] >= 6, most
