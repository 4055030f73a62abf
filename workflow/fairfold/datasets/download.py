"""Download a file with repeated attempts and a size limit."""

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
READ_TIMEOUT = 30.0  # seconds between bytes
ATTEMPTS = 5  # per URL
BACKOFF = 0.5  # seconds before the second attempt, doubled for each further one, plus a random 0 to 0.5
MAX_BYTES = 2 * 1024**3  # limit for files of unknown size
CHUNK_BYTES = 64 * 1024

_log = logging.getLogger(__name__)


class DownloadError(Exception):
    """Failure to download a file from an address."""


class _TransientError(DownloadError):
    """Failure that another attempt may resolve."""


def retrying(attempts: int, **options: Any) -> tenacity.Retrying:
    """Return a caller that repeats a request if the connection fails.

    Parameters
    ----------
    attempts : int
        Maximum number of attempts.
    **options : Any
        Further arguments of ``tenacity.Retrying``.

    Returns
    -------
    tenacity.Retrying
        Callable with a function and its arguments.

    Examples
    --------
    >>> retrying(3)(len, "abc")
    3
    """
    passing = requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError, _TransientError
    retry, stop = tenacity.retry_if_exception_type(passing), tenacity.stop_after_attempt(attempts)
    return tenacity.Retrying(retry=retry, stop=stop, reraise=True, **options)


def download(url: str, file: DataFile, path: Path, progress: bool) -> None:
    """Download a file from one address.

    Parameters
    ----------
    url : str
        HTTP or HTTPS address.
    file : DataFile
        Expected name, size and checksum.
    path : Path
        Path to write to.
    progress : bool
        Whether to show a progress bar on standard error.

    Raises
    ------
    DownloadError
        If the address does not provide the file.
    OSError
        If the path cannot be written.
    """
    attempts = retrying(
        ATTEMPTS,
        wait=tenacity.wait_exponential(BACKOFF) + tenacity.wait_random(0, BACKOFF),
        before_sleep=lambda state: _log.warning("%s: %s. Retry.", file.name, reason_of(state.outcome.exception())),
    )
    try:
        attempts(_attempt, url, file, path, progress)
    except (requests.RequestException, ValueError) as error:  # ValueError: malformed address
        raise DownloadError(reason_of(error)) from None


def _attempt(url: str, file: DataFile, path: Path, progress: bool) -> None:
    # The identity encoding makes the transferred size equal to the file size.
    headers, hooks = {"Accept-Encoding": "identity"}, {"response": _stay_encrypted}
    timeout = (CONNECT_TIMEOUT, READ_TIMEOUT)
    with (
        requests.get(url, stream=True, timeout=timeout, headers=headers, hooks=hooks) as response,
        path.open("wb") as stream,
    ):
        _check_answer(response, file)
        _receive(response, file, stream, progress)
    if flaw := file.flaw_of(path):
        raise DownloadError(flaw)


def _receive(response: requests.Response, file: DataFile, stream: IO[bytes], progress: bool) -> None:
    """Write the response body, but not beyond the expected size."""
    offered = response.headers.get("Content-Length", "*")
    total = int(offered) if offered.isdecimal() else file.size
    limit, received = MAX_BYTES if file.size is None else file.size, 0
    with tqdm(desc=file.name, total=total, unit="B", unit_scale=True, mininterval=0.5, disable=not progress) as bar:
        for chunk in response.iter_content(CHUNK_BYTES):
            received += len(chunk)
            if received > limit:
                raise DownloadError(f"it continues after the {limit} expected bytes")
            stream.write(chunk)
            bar.update(len(chunk))
    if total is not None and received < total:
        raise _TransientError(f"it stopped after {received} of {total} bytes")
    if received == 0 and file.is_unknown:
        raise _TransientError("it sent nothing")


def _check_answer(response: requests.Response, file: DataFile) -> None:
    status, headers = response.status_code, response.headers
    if status in (408, 429) or status >= 500:
        raise _TransientError(f"HTTP {status}")
    if status != 200:
        raise DownloadError(f"HTTP {status}")
    if headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadError(f"it sends the file with the encoding {headers['Content-Encoding']}")
    has_end = "Content-Length" in headers or headers.get("Transfer-Encoding", "").lower() == "chunked"
    if file.is_unknown and not has_end:
        raise DownloadError("it does not send the length of the file, and no checksum is known")


def _stay_encrypted(response: requests.Response, **_: Any) -> None:
    """Refuse a redirect from HTTPS to HTTP. The requests package itself refuses other schemes."""
    target = urljoin(response.url, response.headers.get("Location", ""))
    if response.is_redirect and response.url.startswith("https://") and not target.lower().startswith("https://"):
        raise DownloadError(f"it redirects from https to {target}")


def reason_of(error: BaseException) -> str:
    """Return the message of the root cause, without the exceptions that requests and urllib3 wrap around it.

    Parameters
    ----------
    error : BaseException
        The exception.

    Returns
    -------
    str
        Message of the root cause, or its type if it has no message.

    Examples
    --------
    >>> reason_of(TimeoutError())
    'TimeoutError'
    """
    while isinstance(error.__context__, (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError)):
        error = error.__context__
    return str(error) or type(error).__name__
