"""A file from a web address, continued where an earlier attempt ended, and never longer than it may be."""

from __future__ import annotations

import http.client
import logging
import os
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urljoin

import requests
import tenacity
import urllib3
from tqdm import tqdm

from fairfold.datasets.data_file import DataFile, flaw_of

CONNECT_TIMEOUT = 10.0  # seconds
READ_TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 5  # at each URL
BACKOFF = 0.5  # seconds before the second attempt, doubled for each further one, plus 0 to 0.5 at random
MAX_BYTES = 2 * 1024**3  # for a file whose size is not known
CHUNK_BYTES = 64 * 1024

_log = logging.getLogger(__name__)


class _RefusedError(Exception):
    """This URL will not give the file."""


class _TransientError(Exception):
    """Another attempt at this URL may work."""


def download(url: str, file: DataFile, partial: BinaryIO, progress: bool) -> str | None:
    """Make ``partial`` the file that ``url`` has, by some attempts.

    Parameters
    ----------
    url : http or https address.
    file : what is expected.
    partial : open for appending; what it holds is taken for the beginning of the file where a digest will tell.
    progress : show a bar on standard error.

    Returns
    -------
    str or None
        None when it is there, otherwise what went wrong.

    Raises
    ------
    OSError
        When it cannot be written.
    """
    attempts = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_exponential(BACKOFF) + tenacity.wait_random(0, BACKOFF),
        retry=tenacity.retry_if_exception_type(
            (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError, _TransientError)
        ),
        before_sleep=lambda state: _log.warning(
            "%s: %s; trying again", file.name, reason_of(state.outcome.exception())
        ),
        reraise=True,
    )
    try:
        attempts(_attempt, url, file, partial, progress)
    # ValueError: what urllib says of a malformed address, and requests passes on
    except (requests.RequestException, ValueError, _RefusedError, _TransientError) as error:
        return reason_of(error)
    return None


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
    flaw = flaw_of(Path(partial.name), file)
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
