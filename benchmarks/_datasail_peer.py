"""Divide fingerprints into folds by DataSAIL in its own environment; called by elsewhere.py.

Usage: python _datasail_peer.py ARRAYS.npz FOLDS.npy N_SPLITS OPTIONS

OPTIONS is a JSON object of arguments of DataSAIL. With "stratified", DataSAIL balances the labels. The last line of the
output contains the processor seconds.
"""

import json
import sys
import time

import numpy as np
from datasail.sail import datasail
from rdkit.DataStructs import ExplicitBitVect


def fingerprint(bits):
    found = ExplicitBitVect(len(bits))
    found.SetBitsFromList(np.flatnonzero(bits).tolist())
    return found


def main():
    source, target, n_splits, options = *sys.argv[1:3], int(sys.argv[3]), json.loads(sys.argv[4])
    arrays, names = np.load(source), [str(fold) for fold in range(n_splits)]
    data = {str(row): fingerprint(bits) for row, bits in enumerate(arrays["X"])}
    if options.pop("stratified", False):
        options["e_strat"] = {str(row): labels for row, labels in enumerate(arrays["Y"].tolist())}
    start, how = time.process_time(), {"splits": [1 / n_splits] * n_splits, "names": names}
    of_rows = datasail(["C1e"], e_type="O", e_data=data, e_sim="tanimoto", **how, **options)[0]["C1e"][0]
    np.save(target, [names.index(of_rows[row]) for row in data])
    print(time.process_time() - start)


if __name__ == "__main__":
    main()
