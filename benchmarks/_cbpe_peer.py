"""Run CBPE of NannyML in its own environment; called by elsewhere.py.

Usage: python _cbpe_peer.py ARRAYS.npz ESTIMATES.npy

The cells of all labels form one binary problem, and each new table is a chunk.
"""

import sys

import numpy as np
import pandas as pd
from nannyml import CBPE


def main():
    source, target = sys.argv[1:]
    arrays = np.load(source)
    columns = {"y_pred_proba": "p", "y_pred": "decision", "y_true": "y"}
    reference = pd.DataFrame({"p": arrays["p"], "decision": (arrays["p"] > 0.5).astype(int), "y": arrays["y"]})
    new = pd.DataFrame({"p": arrays["new"].ravel(), "decision": (arrays["new"].ravel() > 0.5).astype(int)})
    how = {"problem_type": "classification_binary", "chunk_size": arrays["new"].shape[1]}
    estimator = CBPE(**columns, metrics=["average_precision"], **how).fit(reference)
    found = estimator.estimate(new).filter(period="analysis").to_df()
    np.save(target, found["average_precision", "value"].to_numpy(float))


if __name__ == "__main__":
    main()
