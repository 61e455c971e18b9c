# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that a test talks to through a pipe (the DevTools protocol), without any package.

  with Chromium() as browser:
      page = browser.open("/tmp/report.html", width=1280)
      page.run("document.title")       # the value of an expression
      page.errors, page.requests       # what the console said, and what was asked for
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path


def found():
    """The browser's program, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page:
    def __init__(self, browser, width, height, dark=False, mobile=False):
        self.browser, self.errors, self.requests = browser, [], []
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")
        self.size(width, height, mobile)
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def call(self, method, parameters=None, patience=60):
        return self.browser.call(method, parameters, self.session, patience)

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})

    def go(self, url):
        self.loaded = False
        self.call("Page.navigate", {"url": url})
        self.browser.wait(lambda: self.loaded, "the page to load")

    def run(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        done = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in done:
            details = done["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description") or details["text"])
        return done["result"].get("value")

    def settle(self):
        """Waits until the page has drawn itself twice."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": key}
            if key == "Enter":
                event.update(text="\r" if kind == "keyDown" else "", windowsVirtualKeyCode=13)
            if key == "Tab":
                event.update(windowsVirtualKeyCode=9)
            self.call("Input.dispatchKeyEvent", event)

    def picture(self, path, whole=False):
        """A PNG of what is seen, or of the whole page."""
        done = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        Path(path).write_bytes(base64.b64decode(done["data"]))

    def print(self, path):
        """A PDF, as printed."""
        done = self.call("Page.printToPDF", {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69})
        Path(path).write_bytes(base64.b64decode(done["data"]))


class Chromium:
    def __enter__(self):
        self.pages, self.answers, self.number, self.rest = {}, {}, 0, b""
        self.folder = tempfile.TemporaryDirectory(prefix="benanza_chromium_", ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]

        def places():  # Chromium reads from 3 and writes to 4
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [found(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--disable-background-networking", "--disable-component-update", "--no-first-run", "--hide-scrollbars",
                   "--force-color-profile=srgb", f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=places, pass_fds=(3, 4))
        for end in (theirs_in, theirs_out, *high):
            os.close(end)
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", patience=10)
            self.process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def open(self, path, width=1280, height=900, dark=False, mobile=False, fragment=""):
        page = Page(self, width, height, dark, mobile)
        page.go(Path(path).resolve().as_uri() + fragment)
        page.settle()
        return page

    def call(self, method, parameters=None, session=None, patience=60):
        self.number += 1
        number, message = self.number, {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.out, text):]
        self.wait(lambda: number in self.answers, method, patience)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, is_there, what, patience=60):
        end = time.monotonic() + patience
        while not is_there():
            if time.monotonic() > end:
                raise AssertionError(f"Chromium does not answer: {what}")
            if select.select([self.into], [], [], 1)[0]:
                new = os.read(self.into, 1 << 20)
                if not new:
                    raise AssertionError(f"Chromium ended: {what}")
                *whole, self.rest = (self.rest + new).split(b"\0")
                for text in whole:
                    self.take(json.loads(text))

    def take(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
            return
        page, said = self.pages.get(message.get("sessionId")), message.get("params", {})
        if page is None:
            return
        kind = message["method"]
        if kind == "Page.loadEventFired":
            page.loaded = True
        elif kind == "Network.requestWillBeSent":
            page.requests.append(said["request"]["url"])
        elif kind == "Runtime.consoleAPICalled":
            page.errors.append(f"{said['type']}: " + " ".join(str(a.get("value", a.get("description"))) for a in said["args"]))
        elif kind == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            page.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif kind == "Log.entryAdded":
            page.errors.append(f"{said['entry']['level']}: {said['entry']['text']}")
