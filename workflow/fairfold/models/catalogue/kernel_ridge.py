"""Kernel ridge regression on all labels at once (:mod:`fairfold.models.kernel_ridge`).

What a support vector machine with a Gaussian kernel can do for features on which forests see only steps, in one
decomposition for all labels, with kernel and penalty chosen by exact leave-one-out errors.
"""

from fairfold.models.spec import ModelSpec, with_correction

SPECS = with_correction(ModelSpec("kernel-ridge", make="fairfold.models.kernel_ridge:KernelRidgeClassifier"))
