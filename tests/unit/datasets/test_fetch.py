"""Downloads from a real HTTP server on this machine, without a network."""

import contextlib
import hashlib
import http.server
import os
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from fairfold.datasets import download as downloading
from fairfold.datasets import fetch as fetching
from fairfold.datasets.catalog import DataFile
from fairfold.datasets.fetch import default_cache, fetch
from fairfold.errors import DataError

CONTENT = bytes(range(256)) * 4
WRONG = CONTENT[::-1]
HALF = len(CONTENT) // 2
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WRONG_SHA256 = hashlib.sha256(WRONG).hexdigest()
GIT_BLOB = hashlib.sha1(b"blob 1024\0" + CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Server with a list of answers per path that repeats the last answer and records all requests."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {}
        self.asked = []
        self.over = threading.Event()

    def url(self, path, *answers):
        self.answers[path] = list(answers)
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request, client_address):
        """Ignore clients that hang up, which is part of these tests."""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answers = self.server.answers[self.path]
        self.server.asked.append(self.path)
        assert self.headers["Accept-Encoding"] == "identity"
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def start(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def log_message(self, *_):
        pass


def whole(content=CONTENT, pause=0.0, declare=True):
    """Return an answer that sends the content in two halves with a pause between them."""

    def answer(handler):
        handler.start(200, **({"Content_Length": len(content)} if declare else {}))
        handler.wfile.write(content[:HALF])
        time.sleep(pause)
        handler.wfile.write(content[HALF:])

    return answer


def status(code, **headers):
    return lambda handler: handler.start(code, Content_Length=0, **headers)


def truncated(handler):
    handler.start(200, Content_Length=len(CONTENT))
    handler.wfile.write(CONTENT[:HALF])


def truncated_undeclared(handler):
    handler.start(200)
    handler.wfile.write(CONTENT[:HALF])


def stalled(handler):
    truncated(handler)
    handler.server.over.wait(10)


def reset(handler):
    truncated(handler)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(handler.connection.detach())


@pytest.fixture
def server():
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.over.set()
        server.shutdown()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(downloading, "BACKOFF", 0.0)
    monkeypatch.setattr(downloading, "CHUNK_BYTES", 16)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def a_file(*urls, **known):
    return DataFile("flags.csv", urls, **(known or {"size": len(CONTENT), "sha256": SHA256}))


def get(file, cache, **options):
    return fetch("flags", file, cache=cache, progress=False, **options)


def put(folder, content=CONTENT, name="flags.csv"):
    (folder / "flags").mkdir(parents=True, exist_ok=True)
    path = folder / "flags" / name
    path.write_bytes(content)
    return path


def files_under(folder):
    """Return the names of all files except locks, which remain."""
    return sorted(path.name for path in folder.rglob("*") if not path.is_dir() and path.suffix != ".lock")


def fails(file, cache, **options):
    """Return the message of the DataError, which must have no chained exception."""
    with pytest.raises(DataError) as caught:
        get(file, cache, **options)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


# --- flaws ------------------------------------------------------------------------------------------------------------


def test_copies_that_agree_have_no_flaw(tmp_path):
    assert a_file(size=1024, sha256=SHA256.upper(), git_blob=GIT_BLOB).flaw_of(put(tmp_path)) is None


def test_git_blob_of_the_empty_file_is_gits_own(tmp_path):
    assert a_file(git_blob="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391").flaw_of(put(tmp_path, b"")) is None


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ("sha256", WRONG_SHA256),
        ("git_blob", hashlib.sha1(b"blob 1024\0" + WRONG).hexdigest()),
    ],
)
def test_flaws_name_both_digests(tmp_path, known, found):
    expected = {"sha256": SHA256, "git_blob": GIT_BLOB}[known]
    algorithm = {"sha256": "SHA-256", "git_blob": "git blob SHA-1"}[known]
    flaw = a_file(**{known: expected}).flaw_of(put(tmp_path, WRONG))
    assert flaw == f"its {algorithm} is {found}, expected {expected}"


def test_the_size_is_checked_first(tmp_path):
    assert a_file(size=7, sha256=SHA256).flaw_of(put(tmp_path, WRONG)) == "its size is 1024 bytes, expected 7"


def test_absent_copies_have_a_flaw(tmp_path):
    assert a_file().flaw_of(tmp_path / "nowhere.csv") == "there is no such file"


# --- mirrors and cache ------------------------------------------------------------------------------------------------


def test_first_mirror_that_has_it_wins(server, tmp_path, cache):
    put(cache)
    mirrors = [tmp_path / name for name in ("absent", "first", "second")]
    expected = put(mirrors[1])
    put(mirrors[2])
    assert get(a_file(server.url("/f", whole())), cache, mirrors=mirrors) == expected
    assert server.asked == []


def test_a_wrong_copy_in_a_mirror_is_an_error_and_stays(server, tmp_path, cache):
    copy = put(tmp_path / "mirror", WRONG)
    message = fails(a_file(server.url("/f", whole())), cache, mirrors=[tmp_path / "mirror"])
    assert str(copy) in message and SHA256 in message and WRONG_SHA256 in message
    assert copy.read_bytes() == WRONG
    assert server.asked == [] and not cache.exists()


def test_the_cache_saves_the_download(server, cache):
    url = server.url("/f", whole())
    assert get(a_file(url), cache) == get(a_file(url), cache) == cache / "flags" / "flags.csv"
    assert len(server.asked) == 1


def test_the_cache_is_the_users_unless_reported_otherwise(server, cache, monkeypatch):
    assert "fairfold" in default_cache().parts
    monkeypatch.setattr(fetching, "default_cache", lambda: cache)
    assert get(a_file(server.url("/f", whole())), None) == cache / "flags" / "flags.csv"


@pytest.mark.parametrize("damaged", [CONTENT[:HALF], WRONG])
def test_a_damaged_cached_copy_is_replaced_with_a_warning(server, cache, caplog, damaged):
    path = put(cache, damaged)
    assert get(a_file(server.url("/f", whole())), cache) == path
    assert path.read_bytes() == CONTENT
    assert "damaged" in caplog.text


def test_a_damaged_cached_copy_is_of_no_use_when_no_other_can_be_had(server, cache):
    put(cache, WRONG)
    assert WRONG_SHA256 in fails(a_file(server.url("/f", status(404))), cache)


def test_a_cache_that_cannot_be_a_folder(server, cache):
    cache.write_bytes(b"")
    assert "hoose another cache" in fails(a_file(server.url("/f", whole())), cache)


# --- downloads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [{"sha256": SHA256}, {"git_blob": GIT_BLOB}, {"size": 1024}])
@pytest.mark.parametrize("declare", [True, False])
def test_download(server, cache, known, declare):
    path = get(a_file(server.url("/f", whole(declare=declare)), **known), cache)
    assert path.read_bytes() == CONTENT
    assert files_under(cache) == ["flags.csv"]


def test_the_progress_bar_goes_to_standard_error_and_can_be_left_out(server, cache, tmp_path, capsys):
    file = a_file(server.url("/f", whole()))
    fetch("flags", file, cache=cache, progress=False)
    assert capsys.readouterr() == ("", "")
    fetch("flags", file, cache=tmp_path / "other")
    out, err = capsys.readouterr()
    assert out == "" and "flags.csv: 100%" in err


@pytest.mark.parametrize(
    ("known", "expected", "found"),
    [
        ({"sha256": SHA256}, SHA256, WRONG_SHA256),
        ({"git_blob": GIT_BLOB}, GIT_BLOB, hashlib.sha1(b"blob 1024\0" + WRONG).hexdigest()),
    ],
)
def test_a_wrong_digest_names_both_and_leaves_nothing(server, cache, known, expected, found):
    url = server.url("/f", whole(WRONG))
    message = fails(a_file(url, **known), cache)
    assert url in message and expected in message and found in message
    assert files_under(cache) == []
    assert len(server.asked) == 1  # a second request would not help


def test_after_a_wrong_digest_the_next_url_is_asked(server, cache):
    file = a_file(server.url("/wrong", whole(WRONG)), server.url("/right", whole()))
    assert get(file, cache).read_bytes() == CONTENT


@pytest.mark.parametrize("breaks", [truncated, truncated_undeclared, reset])
def test_a_body_that_breaks_off_is_asked_for_again(server, cache, breaks):
    assert get(a_file(server.url("/f", breaks, whole())), cache).read_bytes() == CONTENT
    assert server.asked == ["/f", "/f"] and files_under(cache) == ["flags.csv"]


@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_a_busy_server_is_asked_again(server, cache, code):
    assert get(a_file(server.url("/f", status(code), status(code), whole())), cache).read_bytes() == CONTENT
    assert len(server.asked) == 3


def test_the_attempts_at_a_url_have_an_end(server, cache):
    message = fails(a_file(server.url("/f", status(503))), cache)
    assert "HTTP 503" in message
    assert len(server.asked) == downloading.ATTEMPTS
    assert files_under(cache) == []


def test_the_waits_between_attempts_double_and_are_spread(server, cache, monkeypatch):
    waits = []
    monkeypatch.setattr(downloading, "BACKOFF", 1.0)
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    fails(a_file(server.url("/f", status(503))), cache)
    assert [int(wait) for wait in waits] == [1, 2, 4, 8]
    assert waits != [1, 2, 4, 8]


def test_a_stalled_server_is_left_and_asked_again(server, cache, monkeypatch):
    monkeypatch.setattr(downloading, "READ_TIMEOUT", 0.5)
    begun = time.monotonic()
    assert get(a_file(server.url("/f", stalled, whole())), cache).read_bytes() == CONTENT
    assert time.monotonic() - begun < 10  # the stalled connection would time out only then
    assert server.asked == ["/f", "/f"]


@pytest.mark.parametrize("declare", [True, False])
@pytest.mark.parametrize("known", [{"size": 600, "sha256": SHA256}, {"sha256": SHA256}])
def test_an_oversized_body_is_refused_and_keeps_nothing(server, cache, monkeypatch, declare, known):
    monkeypatch.setattr(downloading, "MAX_BYTES", 600)
    message = fails(a_file(server.url("/f", whole(declare=declare)), **known), cache)
    assert "600" in message
    assert files_under(cache) == []
    assert len(server.asked) == 1


def test_a_file_declared_too_short_is_refused_at_once(server, cache):
    message = fails(a_file(server.url("/f", whole(CONTENT[:HALF]))), cache)
    assert "size is 512 bytes, expected 1024" in message
    assert len(server.asked) == 1 and files_under(cache) == []


def test_a_body_sent_encoded_is_refused(server, cache):
    def zipped(handler):
        handler.start(200, Content_Encoding="gzip", Content_Length=0)

    assert "with the encoding gzip" in fails(a_file(server.url("/f", zipped)), cache)


def test_an_empty_file(server, cache):
    file = a_file(server.url("/f", whole(b"")), size=0, git_blob="e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    assert get(file, cache).read_bytes() == b""
    assert files_under(cache) == ["flags.csv"]


@pytest.mark.parametrize("code", [403, 404, 410])
def test_an_absent_file_sends_us_to_the_next_url_at_once(server, cache, code):
    file = a_file(server.url("/absent", status(code)), server.url("/f", whole()))
    assert get(file, cache).read_bytes() == CONTENT
    assert server.asked == ["/absent", "/f"]


def test_two_that_want_the_same_file_download_it_once(server, cache):
    file = a_file(server.url("/f", whole(pause=0.3)))
    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(lambda _: get(file, cache), range(2)))
    assert paths == [cache / "flags" / "flags.csv"] * 2
    assert paths[0].read_bytes() == CONTENT
    assert len(server.asked) == 1 and files_under(cache) == ["flags.csv"]


def test_the_second_tries_for_itself_when_the_first_fails(server, cache):
    file = a_file(server.url("/f", whole(WRONG, pause=0.3), whole()))

    def outcome(_):
        with contextlib.suppress(DataError):
            return get(file, cache).read_bytes()

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(outcome, range(2)))
    assert sorted(outcomes, key=bool) == [None, CONTENT]
    assert files_under(cache) == ["flags.csv"]


# --- nothing to be had ------------------------------------------------------------------------------------------------


def test_offline_states_what_is_missing_where_it_is_and_how_to_set_a_mirror(server, tmp_path, cache):
    file = a_file(server.url("/one", whole()), server.url("/two", whole()))
    message = fails(file, cache, mirrors=[tmp_path / "mirror"], offline=True)
    for part in (
        "flags/flags.csv is missing",
        *file.urls,
        str(tmp_path / "mirror"),
        str(cache),
        "data.mirrors",
        "FAIRFOLD_MIRROR",
    ):
        assert part in message
    assert server.asked == [] and not cache.exists()


def test_offline_keeps_a_damaged_cached_copy_and_states_so(cache):
    path = put(cache, WRONG)
    assert WRONG_SHA256 in fails(a_file("http://127.0.0.1/f"), cache, offline=True)
    assert path.read_bytes() == WRONG


def test_a_file_without_an_address(cache):
    assert "no known address" in fails(a_file(), cache)
    assert not cache.exists()


def test_every_url_is_listed_with_its_reason(server, cache):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/f"
    reasons = {
        server.url("/wrong", whole(WRONG)): WRONG_SHA256,
        server.url("/absent", status(404)): "HTTP 404",
        closed: "Connection refused",
        "ftp://127.0.0.1/f": "No connection adapters",
    }
    lines = fails(a_file(*reasons), cache).splitlines()
    for url, reason in reasons.items():
        assert any(line.startswith(f"  {url}: ") and reason in line for line in lines)
    assert "FAIRFOLD_MIRROR" in lines[-1]
    assert not any(clutter in "".join(lines) for clutter in ("Traceback", "HTTPConnectionPool", "object at 0x"))


# --- safety -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\\b", ".hidden", "x\n", "a\0b", "~", "-rf"]
)
def test_names_with_tricks_are_refused_before_the_disk_is_touched(tmp_path, cache, name):
    for dataset, file_name in ((name, "flags.csv"), ("flags", name)):
        with pytest.raises(DataError, match="is no valid name of a dataset"):
            fetch(dataset, DataFile(file_name, ("http://127.0.0.1/f",)), cache=cache, mirrors=[tmp_path])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/f", "/etc/hostname", "http://[", ""])
def test_only_http_addresses_are_opened(cache, url):
    assert "is missing" in fails(a_file(url, sha256=None), cache)
    assert files_under(cache) == []


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/f", "http://[", "/f"])
def test_redirects_stay_within_http(server, cache, target):
    redirecting = server.url("/redirect", status(302, Location=target))
    server.url("/f", whole())
    if target == "/f":
        assert get(a_file(redirecting), cache).read_bytes() == CONTENT
    else:
        fails(a_file(redirecting), cache)
        assert files_under(cache) == []
        assert server.asked == ["/redirect"]


@pytest.mark.parametrize(
    ("target", "refused"), [("http://host/f", True), ("HTTPS://host/f", False), ("//host/f", False), ("/f", False)]
)
def test_redirects_never_leave_https(target, refused):
    response = requests.Response()
    response.status_code, response.url, response.headers["Location"] = 302, "https://host/redirect", target
    with pytest.raises(Exception, match="redirects from https") if refused else contextlib.nullcontext():
        downloading._stay_encrypted(response)


def test_links_in_the_cache_lead_no_download_outside(server, tmp_path, cache):
    outside = put(tmp_path / "outside", b"precious")
    file = a_file(server.url("/f", whole()))
    cache.mkdir()
    (cache / "flags").symlink_to(outside.parent)
    assert "leads out of the cache" in fails(file, cache)
    assert outside.read_bytes() == b"precious" and files_under(outside.parent) == ["flags.csv"]


def test_a_link_in_the_place_of_the_target_is_replaced_itself(server, tmp_path, cache):
    outside = put(tmp_path / "outside", b"precious")
    put(cache).unlink()
    (cache / "flags" / "flags.csv").symlink_to(outside)
    path = get(a_file(server.url("/f", whole())), cache)
    assert path.read_bytes() == CONTENT and not path.is_symlink()
    assert outside.read_bytes() == b"precious"


def test_a_file_of_unknown_size_and_checksum_must_come_whole(server, cache):
    for answer, reason in (
        (truncated_undeclared, "the length of the file"),
        (whole(declare=False), "the length of the file"),
        (whole(b""), "nothing"),
    ):
        assert reason in fails(a_file(server.url("/f", answer), sha256=None), cache)
        assert files_under(cache) == []
    assert "is missing" in fails(a_file(server.url("/f", truncated), sha256=None), cache)
    assert files_under(cache) == []
    assert get(a_file(server.url("/f", whole()), sha256=None), cache).read_bytes() == CONTENT


def test_chunks_state_where_they_end(server, cache):
    def chunked(handler):
        handler.protocol_version = "HTTP/1.1"
        handler.start(200, Transfer_Encoding="chunked", Connection="close")
        handler.wfile.write(b"400\r\n" + CONTENT + b"\r\n0\r\n\r\n")

    assert get(a_file(server.url("/f", chunked)), cache).read_bytes() == CONTENT
