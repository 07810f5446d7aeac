"""A headless Chromium for tests, driven through the pipe of its DevTools protocol, with real clicks and keys."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from contextlib import contextmanager

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"),
)
SECONDS = 60  # until a browser that says nothing counts as broken
KEYS = {"Tab": 9, "Enter": 13, " ": 32}


class Browser:
    """The process, and what it said: a reply by number, or an event of a tab."""

    def __init__(self, profile):
        ours, theirs = os.pipe(), os.pipe()

        def connect():  # the protocol wants the descriptors 3 and 4
            reading, writing = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (ours[0], theirs[1]))
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [BROWSER, *FLAGS, f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4), **quiet)
        os.close(ours[0])
        os.close(theirs[1])
        self.writing, self.reading = ours[1], theirs[0]
        self.sent, self.buffer, self.events = 0, b"", []

    def call(self, method, session=None, **params):
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        reply = self.wait(lambda said: said.get("id") == self.sent)
        assert "error" not in reply, (method, reply["error"])
        return reply["result"]

    def wait(self, wanted):
        """Read until a message is `wanted`; events that pass by are kept."""
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" in self.buffer:
                line, self.buffer = self.buffer.split(b"\0", 1)
                said = json.loads(line)
                assert said.get("method") != "Page.javascriptDialogOpening", "the page ran a script of a name"
                if "method" in said:
                    self.events.append(said)
                if wanted(said):
                    return said
            assert select.select([self.reading], [], [], max(0, deadline - time.monotonic()))[0], "the browser hangs"
            data = os.read(self.reading, 1 << 20)
            assert data, "the browser ended"
            self.buffer += data

    @contextmanager
    def tab(self, path, width=1280, height=900, scheme="light", scripts=True):
        """Open a file in a tab of this size and wait until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session)
        for domain in ("Page", "Network", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        tab.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        tab.call("Page.navigate", url=path.absolute().as_uri())
        if not tab.said("Page.loadEventFired"):
            self.wait(lambda said: said.get("method") == "Page.loadEventFired" and said.get("sessionId") == session)
        yield tab
        self.call("Target.closeTarget", targetId=target)

    def close(self):
        os.write(self.writing, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        self.process.wait(SECONDS)
        os.close(self.writing)
        os.close(self.reading)


class Tab:
    """A page in the browser."""

    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def said(self, method):
        events = self.browser.events
        return [each["params"] for each in events if each["method"] == method and each.get("sessionId") == self.session]

    def value(self, expression):
        """The value of a JavaScript expression; evaluated also where the page's own scripts are off."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def requests(self):
        return [event["request"]["url"] for event in self.said("Network.requestWillBeSent")]

    def complaints(self):
        """Errors, warnings and dialogs of the page: there should be none."""
        kinds = (
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )
        return [event for kind in kinds for event in self.said(kind)]

    def click(self, element):
        """Press the mouse in the middle of what this expression finds."""
        x, y = self.value(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center', inline: 'center'}});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        text = {"text": "\r"} if key == "Enter" else {"text": key} if key == " " else {}
        for kind in ("keyDown", "keyUp"):
            code = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
            self.call("Input.dispatchKeyEvent", type=kind, **code, **(text if kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, file):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))
