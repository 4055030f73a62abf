"""
Which classes are taken for each other?
=======================================

Ten classes by error-correcting output codes: one support vector machine for each of the 45 pairs of digits, and each
sample's prediction by the fold that did not see it. Rows are true classes.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from fairfold.ecoc import ECOCClassifier, PartitionedECOC
from fairfold.figures.ecoc import plot_confusion

X, y = load_digits(return_X_y=True)
model = PartitionedECOC(ECOCClassifier("svm"), n_splits=5, random_state=0).fit(X, y.astype(str))
found = model.kfold_predict()
figure = plot_confusion(pd.DataFrame({"class": y.astype(str), "predicted": np.asarray(found.labels)}))

# %%
print(f"{100 * model.kfold_loss():.1f} % of the digits are taken for another.")
