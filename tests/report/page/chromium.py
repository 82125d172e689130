"""A real browser for the tests: Debian's Chromium, spoken to through a pair of pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of a browser, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A headless browser with one page; use it in a ``with``."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        self._number = 0
        self._rest = b""

    def __enter__(self) -> Chromium:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read, child_write = os.pipe()
        child_read, write = os.pipe()
        self._read, self._write = read, write
        options = "--headless=new --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run"
        command = [self.program, *options.split(), f"--user-data-dir={self._profile.name}"]
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        shell = f'exec 3<&{child_read} 4>&{child_write}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command, "about:blank"],
            pass_fds=(child_read, child_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(child_read)
        os.close(child_write)
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._write)  # the browser ends when nobody can speak to it
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the browser's answer to one command; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._read, 1 << 16)
            assert piece, "the browser has ended"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        """Show a file in a window of this width, and wait until it is there."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        end = time.monotonic() + 60
        while self.run("document.readyState") != "complete":
            assert time.monotonic() < end, "the page does not finish loading"
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """Return the value of a piece of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and let go of one key, e.g. ``Tab`` or ``ArrowRight``."""
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39}
        code = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Move the mouse, or press (``mousePressed``) and release its left button."""
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def requests(self) -> list[str]:
        """Return the addresses of all that was asked for since the page was opened."""
        self.run("0")
        asked = [e["params"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [entry["request"]["url"] for entry in asked]

    def complaints(self) -> list[str]:
        """Return what the browser complained of: errors of scripts, violations, warnings."""
        self.run("0")
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [json.dumps(e["params"]) for e in self.events if e.get("method") in kinds]

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
