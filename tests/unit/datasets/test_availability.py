"""Availability is found without a download: in mirrors, in the cache or by a request to an address."""

import http.server
import threading

import pytest

from fairfold.datasets.availability import unavailable
from fairfold.datasets.catalog import DataFile, Entry


@pytest.fixture
def address():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/there.csv" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def entry(name, *urls, **fields):
    files = (DataFile(f"{name}.csv", urls),)
    return Entry(id=name, title=name, task="multilabel", format="csv", **{"files": files, **fields})


def test_what_is_in_a_mirror_or_in_the_cache_is_not_asked_for(tmp_path):
    for folder, name in (("mirror", "one"), ("cache", "two"), ("cache", "shared")):
        (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / name / f"{name}.csv").write_text("whatever: checksums are checked when it is read")
    (tmp_path / "cache" / "shared" / "three.csv").write_text("")
    entries = [entry("one"), entry("two"), entry("three", folder="shared"), entry("made", files=())]
    places = {"mirrors": [tmp_path / "mirror"], "cache": tmp_path / "cache"}
    assert unavailable([*entries, entry("own", path=tmp_path / "own.csv")], **places) == {}
    assert unavailable([entry("four")], **places) == {
        "four": "four.csv is in no mirror and not in the cache, and has no known address"
    }


def test_addresses_are_asked(address, tmp_path):
    gone, there, deaf = f"{address}/gone.csv", f"{address}/there.csv", "http://127.0.0.1:9/none.csv"
    found = unavailable([entry("a", gone, there), entry("b", gone), entry("c", deaf)], cache=tmp_path)
    assert list(found) == ["b", "c"]
    assert found["b"] == f"b.csv is in no mirror and not in the cache, and {gone}: HTTP 404"
    assert "refused" in found["c"]
    assert "offline" in unavailable([entry("a", there)], cache=tmp_path, offline=True)["a"]
