"""Check whether the files of datasets are in a mirror, in the cache, or at an address that answers.

A study with ``data.unavailable: skip`` uses this before it is planned, and runs without unavailable datasets. Checksums
are not checked here, because a wrong checksum is always an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
import tenacity

from fairfold.datasets.catalog import DataFile, Entry
from fairfold.datasets.download import reason_of, retrying
from fairfold.datasets.fetch import default_cache

ATTEMPTS = 2  # per address
TIMEOUT = (5.0, 10.0)  # seconds: to connect, and between bytes
_AT_ONCE = 8  # addresses checked in parallel


def unavailable(
    entries: Iterable[Entry],
    *,
    mirrors: Sequence[str | os.PathLike[str]] = (),
    cache: str | os.PathLike[str] | None = None,
    offline: bool = False,
) -> dict[str, str]:
    """Find the datasets whose files cannot be obtained.

    Parameters
    ----------
    entries : iterable of Entry
        Datasets to check. Generated datasets and the user's own files are always available.
    mirrors : sequence of (str or path-like), default=()
        Folders to search, as in :func:`fairfold.datasets.fetch.fetch`.
    cache : str, path-like or None, default=None
        Cache folder, as in :func:`fairfold.datasets.fetch.fetch`.
    offline : bool, default=False
        Whether to send no requests.

    Returns
    -------
    dict of str to str
        Reason by dataset id, in the order of the entries. Available datasets are absent.

    Examples
    --------
    >>> from fairfold.datasets import load_catalog
    >>> unavailable([load_catalog()["iris"]], offline=True)  # generated, without files
    {}
    """
    cache = default_cache() if cache is None else Path(cache).expanduser()
    folders = [*(Path(mirror).expanduser() for mirror in mirrors), cache]
    missing: dict[str, list[DataFile]] = {}
    for entry in entries:
        if entry.path is None:
            places = [folder / (entry.folder or entry.id) for folder in folders]
            missing[entry.id] = [
                file for file in entry.files if not any((place / file.name).is_file() for place in places)
            ]
    urls = dict.fromkeys(url for files in missing.values() for file in files for url in file.urls)
    if offline:
        flaws = dict.fromkeys(urls, "not tried, offline")
    else:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            flaws = dict(zip(urls, pool.map(_flaw, urls), strict=True))
    reasons = {dataset: [_reason(file, flaws) for file in files] for dataset, files in missing.items()}
    return {dataset: "; ".join(filter(None, found)) for dataset, found in reasons.items() if any(found)}


def _reason(file: DataFile, flaws: Mapping[str, str]) -> str:
    """Return why a file cannot be obtained, or an empty text if one of its addresses answers."""
    failures = {url: flaws[url] for url in file.urls}
    if failures and not all(failures.values()):
        return ""
    sources = "; ".join(f"{url}: {flaw}" for url, flaw in failures.items()) or "has no known address"
    return f"{file.name} is in no mirror and not in the cache, and {sources}"


def _flaw(url: str) -> str:
    """Return why an address does not answer, or an empty text if it does."""
    try:
        return retrying(ATTEMPTS, wait=tenacity.wait_fixed(0.5))(_status, url)
    # Malformed addresses raise a ValueError in urllib, which requests does not wrap.
    except (requests.RequestException, ValueError) as error:
        return reason_of(error)


def _status(url: str) -> str:
    with requests.get(url, stream=True, timeout=TIMEOUT) as response:  # Some servers refuse HEAD.
        return "" if response.ok else f"HTTP {response.status_code}"
