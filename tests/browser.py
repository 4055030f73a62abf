"""Helpers that load report pages in a headless browser without a network."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><title>harness</title>
<iframe id="frame" style="width: %(width)dpx; height: 800px; border: 0"></iframe><pre id="seen"></pre>
<script>
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const frame = document.getElementById("frame");
const load = (page) => new Promise((resolve) => {
  frame.addEventListener("load", resolve, { once: true });
  frame.src = page;
});
%(look)s
look().catch((error) => ({ failed: String(error) })).then((seen) => {
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def find_browser():
    """Return the path of the browser, or skip the test if none is installed."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    return found


@contextmanager
def served(folder):
    """Serve a folder on the loopback interface and yield its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def see(folder, address, width, look, profile):
    """Return the result of ``look``, a JavaScript function that loads pages of the folder into the frame."""
    (folder / "harness.html").write_text(HARNESS % {"width": width, "look": look})
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    options += ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=1400,900"]
    options += ["--virtual-time-budget=60000", "--dump-dom", f"{address}/harness.html"]
    seen = re.search(r'<pre id="seen">(.+?)</pre>', run_patiently([find_browser(), *options]), re.DOTALL)
    assert seen, "the browser's page tells nothing"
    return json.loads(seen[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def run_patiently(command, attempts=3):
    """Return the output of a command. Restart a browser that hangs at startup, which happens on busy machines."""
    for _ in range(attempts):
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"{command[0]} did not finish within two minutes, {attempts} times")
