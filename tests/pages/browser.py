"""A headless Chromium, driven over a pipe by the DevTools protocol, with Python's own library alone."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    " ": (32, " "),
}


def found() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page. What it complains about, scripts and policy, is in `complaints`; what it asked a network for,
    in `requests`.
    """

    def __init__(self) -> None:
        self.profile = tempfile.mkdtemp()
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        wanted = (to_browser, from_browser)

        def place() -> None:
            low = [os.dup(fd) for fd in wanted]  # neither may be 3 or 4 while they are moved there
            high = [os.dup(os.dup(os.dup(fd))) for fd in low]
            for number, fd in zip((3, 4), high, strict=True):
                os.dup2(fd, number)

        command = [found() or NAMES[0], "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        self.process = subprocess.Popen(
            [*command, "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.write)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0.0, deadline - time.monotonic()))
            some = os.read(self.read, 1 << 20) if ready else b""
            if not some:
                raise TimeoutError("the browser does not answer")
            self.buffer += some
        text, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self.note(message.get("method", ""), message.get("params", {}))
        return message

    def note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(
            ("file:", "data:", "about:")
        ):
            self.requests.append(params["request"]["url"])
        if method:
            self.events.append({"method": method})

    def call(self, method: str, /, **params: Any) -> Any:
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path: str | Path, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        deadline = time.monotonic() + 120
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.message(deadline)

    def run(self, expression: str) -> Any:
        """The value of an expression, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(
                answer["exceptionDetails"].get("exception", {}).get("description", "an exception")
            )
        return answer["result"].get("value")

    def key(self, name: str, shift: bool = False) -> None:
        code, text = KEYS[name]
        common = {
            "key": name,
            "code": "Space" if name == " " else name,
            "windowsVirtualKeyCode": code,
            "modifiers": 8 * shift,
        }
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self) -> bytes:
        """What is to be seen, as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def source(self) -> str:
        """The page as scripts have made it."""
        text: str = self.run("document.documentElement.outerHTML")
        return text

    def axe(self, source: str) -> list[str]:
        """What axe-core finds against the page, a line for each rule."""
        self.call("Runtime.evaluate", expression=source)
        found: list[str] = self.run(
            "axe.run(document).then(r => r.violations.map(v => `${v.id}: ${v.help}: `"
            " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' | ')))"
        )
        return found
