"""What two processes tell each other: plain values as JSON and matrices as raw numbers; nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix

_PARTS = ("data", "indices", "indptr", "shape")


def send(connection: Connection, head: Mapping[str, Any], **matrices: Matrix) -> None:
    """Send plain values, and dense or sparse matrices by name."""
    arrays = {}
    for name, matrix in matrices.items():
        if sparse.issparse(matrix):
            rows = sparse.csr_array(matrix)
            arrays |= {f"{name}.{part}": getattr(rows, part) for part in _PARTS}
        else:
            arrays[name] = np.asarray(matrix)
    stream = BytesIO()
    np.savez(stream, **arrays)
    connection.send_bytes(json.dumps(head, default=int).encode())  # NumPy's whole numbers
    connection.send_bytes(stream.getbuffer())


def receive(connection: Connection) -> tuple[dict[str, Any], dict[str, Matrix]]:
    """What the other side sent by :func:`send`; sparse matrices are CSR arrays.

    Raises
    ------
    EOFError, OSError
        When the other side is gone.
    """
    head = json.loads(connection.recv_bytes())
    with np.load(BytesIO(connection.recv_bytes()), allow_pickle=False) as file:
        arrays = dict(file)
    names = dict.fromkeys(name.partition(".")[0] for name in arrays)
    return head, {name: arrays[name] if name in arrays else _sparse(name, arrays) for name in names}


def _sparse(name: str, arrays: Mapping[str, np.ndarray]) -> sparse.csr_array:
    *content, shape = (arrays[f"{name}.{part}"] for part in _PARTS)
    return sparse.csr_array(tuple(content), shape=tuple(shape))
