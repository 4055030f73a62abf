import json
from multiprocessing import Pipe

import numpy as np
import pytest
from scipy import sparse

from fairfold.models.messages import receive, send

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8, bool])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix])
def test_matrices_arrive_as_they_were(form, kind):
    here, there = Pipe()
    matrix = form(X.astype(kind))
    send(here, {"seed": np.int64(3), "nothing": None, "inf": float("inf")}, X=matrix, Y=X[:2])
    head, found = receive(there)
    assert head == {"seed": 3, "nothing": None, "inf": float("inf")}
    assert found["X"].dtype == kind and sparse.issparse(found["X"]) == sparse.issparse(matrix)
    dense = found["X"].toarray() if sparse.issparse(matrix) else found["X"]
    np.testing.assert_array_equal(dense, X.astype(kind))
    np.testing.assert_array_equal(found["Y"], X[:2])


def test_objects_do_not():
    here, there = Pipe()
    send(here, {}, X=np.array([{"any": "object"}]))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        receive(there)


def test_the_other_side_is_gone():
    here, there = Pipe()
    here.send_bytes(json.dumps({}).encode())
    here.close()
    with pytest.raises(EOFError):
        receive(there)
