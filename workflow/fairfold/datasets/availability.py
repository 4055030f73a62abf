"""Which datasets can be had: their files lie in a mirror or in the cache, or an address answers.

Asked before a study is planned, where it is to be made without those that cannot be had (``data.unavailable: skip``).
Whether a file is the right one is not asked here: a wrong checksum is an error, whatever is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import requests
import tenacity

from fairfold.core.files import atomic_open
from fairfold.datasets.catalog import DataFile, Entry
from fairfold.datasets.download import reason_of, retrying
from fairfold.datasets.fetch import default_cache
from fairfold.errors import DataError

ATTEMPTS = 2  # at each address
TIMEOUT = (5.0, 10.0)  # seconds to connect, and without a byte
_AT_ONCE = 8  # addresses


def unavailable(
    entries: Iterable[Entry],
    *,
    mirrors: Sequence[str | os.PathLike[str]] = (),
    cache: str | os.PathLike[str] | None = None,
    offline: bool = False,
) -> dict[str, str]:
    """Datasets that cannot be had, and why.

    Parameters
    ----------
    entries : of the datasets; those that are generated, or the user's own files, can be had.
    mirrors, cache, offline : as for :func:`fairfold.datasets.fetch.fetch`.

    Returns
    -------
    dict of id -> reason, in the order of the entries
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
    return {dataset: "; ".join(filter(None, told)) for dataset, told in reasons.items() if any(told)}


def unavailable_table(rows: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Table of what a study was made without.

    Parameters
    ----------
    rows : with ``part``, the key of the configuration, ``dataset`` and ``reason``.
    """
    return pd.DataFrame(rows, columns=["part", "dataset", "reason"])


def remember(path: str | os.PathLike[str], reasons: Mapping[str, str]) -> None:
    """Write down what was found, for the processes of the same run."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(Path(path), "w", encoding="utf-8") as stream:
        json.dump(dict(reasons), stream, indent=1, ensure_ascii=False)


def remembered(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What :func:`remember` wrote.

    Raises
    ------
    DataError
        When it cannot be read.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}); start the study anew.") from None


def _reason(file: DataFile, flaws: Mapping[str, str]) -> str:
    """Why a file cannot be had; empty where one of its addresses answers."""
    told = {url: flaws[url] for url in file.urls}
    if told and not all(told.values()):
        return ""
    return f"{file.name} is in no mirror and not in the cache, and " + (
        "; ".join(f"{url}: {flaw}" for url, flaw in told.items()) or "has no known address"
    )


def _flaw(url: str) -> str:
    """Why an address gives nothing; empty where it answers."""
    try:
        return retrying(ATTEMPTS, wait=tenacity.wait_fixed(0.5))(_status, url)
    # ValueError: what urllib says of a malformed address, and requests passes on
    except (requests.RequestException, ValueError) as error:
        return reason_of(error)


def _status(url: str) -> str:
    with requests.get(url, stream=True, timeout=TIMEOUT) as response:  # some servers refuse HEAD
        return "" if response.ok else f"HTTP {response.status_code}"
