"""Run CBPE of NannyML in its own environment; called by elsewhere.py.

Usage: python _cbpe_peer.py ARRAYS.npz ESTIMATES.npz

The cells of all labels form one binary problem, and each new table is a chunk.
"""

import sys

import numpy as np
import pandas as pd
from nannyml import CBPE


def estimated(y, p, new):
    columns = {"y_pred_proba": "p", "y_pred": "decision", "y_true": "y"}
    reference = pd.DataFrame({"p": p, "decision": (p > 0.5).astype(int), "y": y})
    cells = pd.DataFrame({"p": new.ravel(), "decision": (new.ravel() > 0.5).astype(int)})
    how = {"problem_type": "classification_binary", "chunk_size": new.shape[1]}
    estimator = CBPE(**columns, metrics=["average_precision"], **how).fit(reference)
    found = estimator.estimate(cells).filter(period="analysis").to_df()
    return found["average_precision", "value"].to_numpy(float)


def main():
    source, target = sys.argv[1:]
    arrays = np.load(source)
    numbers = [name.removeprefix("new") for name in arrays if name.startswith("new")]
    np.savez(target, **{f"new{n}": estimated(arrays[f"y{n}"], arrays[f"p{n}"], arrays[f"new{n}"]) for n in numbers})


if __name__ == "__main__":
    main()
