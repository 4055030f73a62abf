"""Download a file from a web address, with repeated attempts and a limit on its size."""

from __future__ import annotations

import http.client
import logging
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin

import requests
import tenacity
import urllib3
from tqdm import tqdm

from fairfold.datasets.catalog import DataFile

CONNECT_TIMEOUT = 10.0  # seconds
READ_TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 5  # at each URL
BACKOFF = 0.5  # seconds before the second attempt, doubled for each further one, plus 0 to 0.5 at random
MAX_BYTES = 2 * 1024**3  # for a file whose size is not known
CHUNK_BYTES = 64 * 1024

_log = logging.getLogger(__name__)


class DownloadError(Exception):
    """An address does not give the file."""


class _TransientError(DownloadError):
    """Another attempt at this address may work."""


def retrying(attempts: int, **options: Any) -> tenacity.Retrying:
    """Return a caller that repeats a request whose connection fails."""
    passing = requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError, _TransientError
    retry, stop = tenacity.retry_if_exception_type(passing), tenacity.stop_after_attempt(attempts)
    return tenacity.Retrying(retry=retry, stop=stop, reraise=True, **options)


def download(url: str, file: DataFile, path: Path, progress: bool) -> None:
    """Write the file that ``url`` has.

    Parameters
    ----------
    url : http or https address.
    file : what is expected.
    path : to write to.
    progress : show a bar on standard error.

    Raises
    ------
    DownloadError
        If the address does not give the file.
    OSError
        If it cannot be written.
    """
    attempts = retrying(
        ATTEMPTS,
        wait=tenacity.wait_exponential(BACKOFF) + tenacity.wait_random(0, BACKOFF),
        before_sleep=lambda state: _log.warning(
            "%s: %s; trying again", file.name, reason_of(state.outcome.exception())
        ),
    )
    try:
        attempts(_attempt, url, file, path, progress)
    except (requests.RequestException, ValueError) as error:  # ValueError: of a malformed address
        raise DownloadError(reason_of(error)) from None


def _attempt(url: str, file: DataFile, path: Path, progress: bool) -> None:
    # identity: so that sizes are those of the file
    options = {"headers": {"Accept-Encoding": "identity"}, "hooks": {"response": _stay_encrypted}}
    timeout = (CONNECT_TIMEOUT, READ_TIMEOUT)
    with requests.get(url, stream=True, timeout=timeout, **options) as response, path.open("wb") as stream:
        _check_answer(response, file)
        _receive(response, file, stream, progress)
    if flaw := file.flaw_of(path):
        raise DownloadError(flaw)


def _receive(response: requests.Response, file: DataFile, stream: IO[bytes], progress: bool) -> None:
    """Write the body, never beyond the expected size."""
    offered = response.headers.get("Content-Length", "*")
    total = int(offered) if offered.isdecimal() else file.size
    limit, received = MAX_BYTES if file.size is None else file.size, 0
    with tqdm(desc=file.name, total=total, unit="B", unit_scale=True, mininterval=0.5, disable=not progress) as bar:
        for chunk in response.iter_content(CHUNK_BYTES):
            received += len(chunk)
            if received > limit:
                raise DownloadError(f"it goes on after the {limit} bytes expected")
            stream.write(chunk)
            bar.update(len(chunk))
    if total is not None and received < total:
        raise _TransientError(f"it broke off after {received} of {total} bytes")
    if received == 0 and file.needs_record:
        raise _TransientError("it sent nothing")


def _check_answer(response: requests.Response, file: DataFile) -> None:
    status, headers = response.status_code, response.headers
    if status in (408, 429) or status >= 500:
        raise _TransientError(f"HTTP {status}")
    if status != 200:
        raise DownloadError(f"HTTP {status}")
    if headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError(f"it sends the file encoded as {headers['Content-Encoding']} though not asked to")
    has_end = "Content-Length" in headers or headers.get("Transfer-Encoding", "").lower() == "chunked"
    if file.needs_record and not has_end:  # its checksum would be taken for that of the file
        raise DownloadError("it does not say how long the file is, and no checksum is known that would tell")


def _stay_encrypted(response: requests.Response, **_: Any) -> None:
    """Refuse a redirect from https to http; other schemes are refused by requests itself."""
    target = urljoin(response.url, response.headers.get("Location", ""))
    if response.is_redirect and response.url.startswith("https://") and not target.lower().startswith("https://"):
        raise DownloadError(f"it redirects from https to {target}")


def reason_of(error: BaseException) -> str:
    """The root cause, without the chain that requests and urllib3 wrap around it."""
    while isinstance(error.__context__, (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError)):
        error = error.__context__
    return str(error) or type(error).__name__
