"""
Which classes are confused?
===========================

Error-correcting output codes classify ten digits with one support vector machine for each of the 45 pairs. Each sample
is predicted by the model of the fold that leaves it out. Rows are true classes.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from fairfold.ecoc import ECOCClassifier, PartitionedECOC
from fairfold.papers.figures.ecoc import plot_confusion

X, y = load_digits(return_X_y=True)
model = PartitionedECOC(ECOCClassifier("svm"), n_splits=5, random_state=0).fit(X, y.astype(str))
found = model.kfold_predict()
figure = plot_confusion(pd.DataFrame({"class": y.astype(str), "predicted": np.asarray(found.labels)}))

# %%
print(f"{100 * model.kfold_loss():.1f} % of the digits are taken for another.")
