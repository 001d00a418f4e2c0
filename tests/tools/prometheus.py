"""prometheus.py APLDATA DB DIR: a Prometheus scrapes `apldata top --listen` of a reader at work, and is asked
what it has seen.

The reader stands still, since nobody takes what it writes: what it counts is the same all along.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
CONFIG = """
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs: [{job_name: apl, static_configs: [{targets: ["%s"]}]}]
"""
SAMPLE = re.compile(r"(\w+)(\{[^\n]*\}) ([^ \n]+)")


def awaited(what: str, ask: Any, seconds: float = 60) -> Any:
    """What `ask` answers as soon as it is neither empty nor an OSError."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if answer := ask():
                return answer
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit(f"{what}: not in {seconds:.0f} s")


def asked(url: str, **question: str) -> Any:
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(question)}", timeout=10) as answer:
        return json.load(answer)["data"]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def at_work(apldata: str, folder: str) -> bool:
    told = subprocess.run([apldata, "top", "--json", folder], stdout=subprocess.PIPE, check=True).stdout
    return any(reader["stats"]["records"] for reader in json.loads(told)["readers"])


def served(address: str) -> str:
    """The metrics as OpenMetrics, by the type that it has there."""
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Accept": OPEN})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Type"] == OPEN, answer.headers["Content-Type"]
        text = answer.read().decode()
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1, text[-80:]
    return text


def same(address: str, api: str, store: str) -> None:
    """Prometheus has each sample that is served, with its labels, and each metric's type and help."""
    text = served(address)
    samples = SAMPLE.findall(text)
    assert len(samples) > 20
    for name, labels, value in samples:
        (series,) = asked(f"{api}/query", query=f"{name}{labels}")["result"]
        assert series["metric"]["store"] == store, series
        if name in ("apl_loader_records_total", "apl_loader_batches_total", "apl_loader_threads"):
            assert float(series["value"][1]) == float(value) > 0, (name, value, series)
    known = {one["metric"]: one for one in asked(f"{api}/targets/metadata")}
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)", text, re.MULTILINE):
        assert known[name]["type"] == kind and known[name]["help"], (name, kind, known[name])


def main(apldata: str, db: str, folder: str) -> None:
    began: list[subprocess.Popen[bytes]] = []

    def begin(*command: str, **environment: str) -> subprocess.Popen[bytes]:
        with open(f"{folder}/log", "ab") as log:
            where = {**os.environ, **environment}
            began.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=where))
        return began[-1]

    try:
        begin(apldata, "stream", "--epochs", "0", db, APL_MONITOR=folder)
        awaited("a reader", lambda: at_work(apldata, folder))
        line = begin(apldata, "top", "--listen", "0", folder).stdout.readline().decode()
        address = line.removeprefix("serving metrics at http://").removesuffix("/metrics\n")
        Path(folder, "prometheus.yml").write_text(CONFIG % address)
        at = f"127.0.0.1:{free_port()}"
        api = f"http://{at}/api/v1"
        begin(
            "prometheus", "--log.level=debug", f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/series", f"--web.listen-address={at}",
        )  # fmt: skip
        awaited("a scrape", lambda: asked(f"{api}/query", query='up{job="apl"} == 1')["result"])
        (target,) = asked(f"{api}/targets")["activeTargets"]
        assert target["health"] == "up" and not target["lastError"], target
        same(address, api, db)
    except BaseException:
        sys.stderr.write(Path(folder, "log").read_text(errors="replace")[-2000:])
        raise
    finally:
        for process in reversed(began):
            process.terminate()
            process.wait()


main(*sys.argv[1:])
