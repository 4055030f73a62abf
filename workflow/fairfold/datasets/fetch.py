"""Data files: from a mirror folder, else the shared cache, else the web; never used before size and digest agree.

It stands on ``requests``, ``tenacity``, ``tqdm`` and ``platformdirs`` rather than on ``pooch``, which neither resumes a
download, nor caps its size, nor knows the digests of git blobs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import http.client
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urljoin

import platformdirs
import requests
import tenacity
import urllib3
from tqdm import tqdm

from fairfold.errors import DataError
from fairfold.files import atomic_open

CONNECT_TIMEOUT = 10.0  # seconds
READ_TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 5  # at each URL
BACKOFF = 0.5  # seconds before the second attempt, doubled for each further one, plus 0 to 0.5 at random
MAX_BYTES = 2 * 1024**3  # for a file whose size is not known
CHUNK_BYTES = 64 * 1024

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]*")
_GIT_BLOB = "git blob SHA-1"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_log = logging.getLogger(__name__)


class _RefusedError(Exception):
    """This URL will not give the file."""


class _TransientError(Exception):
    """Another attempt at this URL may work."""


@dataclasses.dataclass(frozen=True)
class DataFile:
    """One file of a dataset: where it can be had and how to know that it is the right one.

    Attributes
    ----------
    name : plain file name, without folders.
    urls : http or https addresses, in order of preference.
    size : length in bytes.
    sha256 : SHA-256 of the content, in hexadecimal as all digests.
    git_blob : SHA-1 that git gives the file, ``sha1(b"blob <size>\\0" + content)``.
    lfs_sha256 : digest in a git-LFS pointer, the plain SHA-256 of the content.
    record_sha256 : when no digest is published, record the SHA-256 of the first copy in the cache beside it, in
        ``<name>.sha256`` as ``sha256sum`` writes, and hold all later copies to it.
    """

    name: str
    urls: tuple[str, ...] = ()
    size: int | None = None
    sha256: str | None = None
    git_blob: str | None = None
    lfs_sha256: str | None = None
    record_sha256: bool = False

    def digests(self) -> dict[str, str]:
        """The digests that are given, by the name of their algorithm."""
        all_of_them = {"SHA-256": self.sha256, _GIT_BLOB: self.git_blob, "git-LFS SHA-256": self.lfs_sha256}
        return {algorithm: digest for algorithm, digest in all_of_them.items() if digest is not None}


def default_cache() -> Path:
    """Folder where this platform keeps caches; all studies of a user share it."""
    return platformdirs.user_cache_path("fairfold")


def verify(path: str | os.PathLike[str], file: DataFile) -> None:
    """Check that ``path`` holds ``file``: first its size, then every digest that is given.

    Raises
    ------
    DataError
        When it cannot be read, or a size or digest differs; names the algorithm, what was found and what is expected.
    """
    try:
        flaw = _flaw(Path(path), file)
    except OSError as error:
        flaw = f"it cannot be read ({error.strerror})"
    if flaw:
        raise DataError(f"{path} is not the file that its entry describes: {flaw}. Replace it by the right one.")


def fetch(
    dataset: str,
    file: DataFile,
    *,
    mirrors: Sequence[str | os.PathLike[str]] = (),
    cache: str | os.PathLike[str] | None = None,
    offline: bool = False,
    progress: bool = True,
) -> Path:
    """Path of a verified copy of ``file``; downloaded into the cache when neither a mirror nor the cache has it.

    A mirror is only ever read. In the cache, a copy that no longer agrees is replaced, an interrupted download is
    continued, and processes that want the same file wait for the first. A copy that differs from the checksum that was
    recorded for it is left for its owner to judge.

    Parameters
    ----------
    dataset : id of the dataset, or the folder that its entry names: what holds the file in mirrors and cache.
    file : the file.
    mirrors : folders laid out as ``<dataset id>/<file name>``, in order of preference.
    cache : folder of the same layout that downloads go to; :func:`default_cache` when None.
    offline : never touch the network.
    progress : show a bar on standard error while downloading.

    Raises
    ------
    DataError
        When a name is not plain, a copy in a mirror or one with a recorded checksum does not agree, the cache cannot be
        used, or the file cannot be had.
    """
    for name in (dataset, file.name):
        if not _PLAIN_NAME.fullmatch(name):
            raise DataError(
                f"{name!r} cannot name a dataset or its file: allowed are letters, digits, spaces and '._+-', "
                "with a letter or digit first."
            )
    cache = default_cache() if cache is None else Path(cache).expanduser()
    target = cache / dataset / file.name
    try:
        for copy in (Path(mirror).expanduser() / dataset / file.name for mirror in mirrors):
            if copy.is_file():
                verify(copy, _with_record(copy, file))
                return copy
        file = _with_record(target, file)
        flaw = _flaw(target, file)
        if flaw is None:
            _keep_record(target, file, target)
            return target
        _check_unchanged(target, file, flaw)
        failures = dict.fromkeys(file.urls, "not tried, offline")
        if file.urls and not offline:
            failures = _download(cache, target, file, progress)
            if not failures:
                return target
    except OSError as error:
        raise DataError(f"{dataset}/{file.name}: {error}. Make it accessible, or choose another cache.") from None
    positions = "; ".join([*(f"not in mirror {mirror}" for mirror in mirrors), f"{target}: {flaw}"])
    raise DataError(f"{dataset}/{file.name} is missing ({positions}). {_how_to_get(dataset, file, failures, target)}")


def _how_to_get(dataset: str, file: DataFile, failures: Mapping[str, str], target: Path) -> str:
    sources = "".join(f"\n  {url}: {reason}" for url, reason in failures.items()) or " no known address."
    version = f"To accept a new version, delete {_record_of(target)}, where the checksum of the first is recorded.\n"
    return (
        f"It can be had from:{sources}\n{version * _is_recorded(file)}"
        f"Put it into a folder as {dataset}/{file.name} and name that folder under data.mirrors in the configuration "
        "or in the environment variable FAIRFOLD_MIRROR."
    )


def _record_of(copy: Path) -> Path:
    return copy.with_name(f"{copy.name}.sha256")


def _with_record(copy: Path, file: DataFile) -> DataFile:
    """``file`` with the digest recorded beside ``copy``, if one is."""
    record = _record_of(copy)
    if not file.record_sha256 or not record.is_file():
        return file
    digest = record.read_text(encoding="utf-8", errors="replace").partition(" ")[0].strip()
    if not _SHA256.fullmatch(digest):
        raise DataError(f"{record} holds no SHA-256, found {digest[:80]!r}; delete it to have it recorded anew.")
    return dataclasses.replace(file, sha256=digest)


def _is_recorded(file: DataFile) -> bool:
    return file.record_sha256 and file.sha256 is not None


def _check_unchanged(target: Path, file: DataFile, flaw: str) -> None:
    """Raise when a copy is not what was recorded: nobody else can say which of the two is right."""
    if _is_recorded(file) and target.is_file():
        raise DataError(
            f"{target} has changed since its checksum was recorded: {flaw}. Delete it to have it fetched anew, or "
            f"delete {_record_of(target).name} beside it to accept it as it is."
        )


def _keep_record(target: Path, file: DataFile, content: Path) -> None:
    """Record the SHA-256 of ``content`` beside ``target``, unless a digest is known or none is to be recorded."""
    if file.record_sha256 and not file.digests():
        with content.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        with atomic_open(_record_of(target), "w", encoding="utf-8") as stream:
            stream.write(f"{digest}  {target.name}\n")


def _flaw(path: Path, file: DataFile) -> str | None:
    """What tells the content of ``path`` from ``file``; None when nothing does."""
    if not path.is_file():
        return "there is no such file"
    size = path.stat().st_size
    if file.size is not None and size != file.size:
        return f"its size is {size} bytes, expected {file.size}"
    for algorithm, expected in file.digests().items():
        git_header = b"blob %d\0" % size
        digest = hashlib.sha1(git_header, usedforsecurity=False) if algorithm == _GIT_BLOB else hashlib.sha256()
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda digest=digest: digest)
        if digest.hexdigest() != expected.lower():
            return f"its {algorithm} is {digest.hexdigest()}, expected {expected}"
    return None


def _download(cache: Path, target: Path, file: DataFile, progress: bool) -> dict[str, str]:
    """Bring ``file`` into the cache; empty when it is there, otherwise what went wrong at each URL."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(cache.resolve()):
        raise DataError(f"{target.parent} leads out of the cache: remove this link, or choose another cache.")
    attempts = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_exponential(BACKOFF) + tenacity.wait_random(0, BACKOFF),
        retry=tenacity.retry_if_exception_type(
            (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError, _TransientError)
        ),
        before_sleep=lambda state: _log.warning(
            "%s: %s; trying again", target.name, reason_of(state.outcome.exception())
        ),
        reraise=True,
    )
    failures = {}
    with _locked(target.with_name(f".{file.name}.part")) as partial:
        flaw = _flaw(target, file)
        if flaw is None:  # another process was faster
            return {}
        if target.is_file():
            _log.warning("%s is damaged and fetched again: %s", target, flaw)
            target.unlink()
        for url in file.urls:
            try:
                attempts(_attempt, url, file, partial, progress)
            # ValueError: what urllib says of a malformed address, and requests passes on
            except (requests.RequestException, ValueError, _RefusedError, _TransientError) as error:
                failures[url] = reason_of(error)
            else:
                os.fsync(partial.fileno())
                _keep_record(target, file, Path(partial.name))  # first: a copy in the cache is never without it
                Path(partial.name).replace(target)
                return {}
    return failures


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The partial file, open for appending and locked against other processes; removed at the end if it is empty."""
    while True:
        # a link in the place of the partial file must not make us write elsewhere
        with open(path, "ab", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o666)) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if not _is_open_at(path, stream):  # its holder renamed or removed it while we waited
                continue
            try:
                yield stream
            finally:
                if stream.seek(0, os.SEEK_END) == 0:
                    path.unlink(missing_ok=True)
            return


def _is_open_at(path: Path, stream: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def _attempt(url: str, file: DataFile, partial: BinaryIO, progress: bool) -> None:
    """Continue ``partial`` with what ``url`` sends until it is ``file``; emptied when it turns out to be another."""
    begun = partial.seek(0, os.SEEK_END)
    if begun >= _limit(file) or not file.digests():  # without a digest, nothing would tell a wrong beginning
        begun = partial.truncate(0)
    # identity: so that sizes and ranges are those of the file; requests leaves out a header that is None
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={begun}-" if begun else None}
    hooks = {"response": _stay_encrypted}
    timeout = (CONNECT_TIMEOUT, READ_TIMEOUT)
    with requests.get(url, headers=headers, stream=True, timeout=timeout, hooks=hooks) as response:
        _check_answer(response)
        if response.status_code == 200:
            begun = partial.truncate(0)
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {begun}-"):
            partial.truncate(0)
            raise _TransientError(f"HTTP {response.status_code}, which does not continue at byte {begun}")
        _receive(response, begun, file, partial, progress)
        if file.record_sha256 and not file.digests():
            _check_whole(response, partial)
    partial.flush()
    flaw = _flaw(Path(partial.name), file)
    if flaw:
        partial.truncate(0)
        raise (_TransientError if begun else _RefusedError)(flaw)  # a beginning of another day may be at fault


def _receive(response: requests.Response, begun: int, file: DataFile, partial: BinaryIO, progress: bool) -> None:
    """Append the body to ``partial``, never beyond the size that is expected."""
    offered = response.headers.get("Content-Range", response.headers.get("Content-Length", "*")).rpartition("/")[2]
    total = int(offered) if offered.isdecimal() else file.size
    received = begun
    with tqdm(
        desc=file.name, initial=begun, total=total, unit="B", unit_scale=True, mininterval=0.5, disable=not progress
    ) as bar:
        for chunk in response.iter_content(CHUNK_BYTES):
            received += len(chunk)
            if received > _limit(file):
                partial.truncate(0)
                raise _RefusedError(f"it goes on after the {_limit(file)} bytes expected")
            partial.write(chunk)
            bar.update(len(chunk))
    if total is not None and received < total:
        raise _TransientError(f"it broke off after {received} of {total} bytes")


def _check_whole(response: requests.Response, partial: BinaryIO) -> None:
    """Refuse what may be cut off, before its checksum is taken for that of the file."""
    if partial.seek(0, os.SEEK_END) == 0:
        raise _TransientError("it sent nothing")
    if "Content-Length" not in response.headers and response.headers.get("Transfer-Encoding", "").lower() != "chunked":
        partial.truncate(0)
        raise _RefusedError("it does not say how long the file is, and no checksum is known that would tell")


def _limit(file: DataFile) -> int:
    return MAX_BYTES if file.size is None else file.size


def _check_answer(response: requests.Response) -> None:
    status = response.status_code
    if status in (408, 429) or status >= 500:
        raise _TransientError(f"HTTP {status}")
    if status not in (200, 206, 416):  # 416: what we have is no beginning of what it has
        raise _RefusedError(f"HTTP {status}")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise _RefusedError(f"it sends the file encoded as {response.headers['Content-Encoding']} though not asked to")


def _stay_encrypted(response: requests.Response, **_: Any) -> None:
    """Refuse a redirect from https to http; other schemes are refused by requests itself."""
    target = urljoin(response.url, response.headers.get("Location", ""))
    if response.is_redirect and response.url.startswith("https://") and not target.lower().startswith("https://"):
        raise _RefusedError(f"it redirects from https to {target}")


def reason_of(error: BaseException) -> str:
    """The root cause, without the chain that requests and urllib3 wrap around it."""
    while isinstance(error.__context__, (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError)):
        error = error.__context__
    return str(error) or type(error).__name__
