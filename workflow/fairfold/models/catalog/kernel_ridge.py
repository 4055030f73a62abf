"""Kernel ridge regression on all labels at once (:mod:`fairfold.models.kernel_ridge`).

It resembles a support vector machine with a Gaussian kernel and captures smooth effects that forests approximate by
steps. One decomposition serves all labels. Exact leave-one-out errors select the kernel and the penalty.
"""

from fairfold.models.spec import SINGLE, ModelSpec, with_correction

SPECS = with_correction(
    ModelSpec(
        "kernel-ridge",
        make="fairfold.models.kernel_ridge:KernelRidgeClassifier",
        phrase="kernel ridge regression of all labels with a linear or Gaussian kernel on features of unit variance "
        "[@fairfold]",
        traits=("kernel", "kernel ridge", "filled gaps", SINGLE),
    )
)
