"""Pages as a browser without a network shows them: a harness looks at them in a frame of some width."""

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
    """Its path; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    return found


@contextmanager
def served(folder):
    """Address of a folder on the loopback interface."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def see(folder, address, width, look, profile):
    """What ``look``, a function in JavaScript that loads pages of the folder into the frame, returns."""
    (folder / "harness.html").write_text(HARNESS % {"width": width, "look": look})
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    options += ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=1400,900"]
    options += ["--virtual-time-budget=60000", "--dump-dom", f"{address}/harness.html"]
    seen = re.search(r'<pre id="seen">(.+?)</pre>', run_patiently([find_browser(), *options]), re.DOTALL)
    assert seen, "the browser's page tells nothing"
    return json.loads(seen[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def run_patiently(command, attempts=3):
    """What a command prints; a browser that hangs at its start, as happens on busy machines, is started anew."""
    for _ in range(attempts):
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"{command[0]} did not finish within two minutes, {attempts} times")
