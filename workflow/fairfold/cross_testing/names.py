"""Names of the procedures, and the results of each that may be interpreted (Korjus, Hebart & Vicente 2016)."""

NESTED, TESTING, CROSS_TESTING = "nested_cv", "cv_testing", "cv_cross_testing"
INTERPRETABLE = {
    NESTED: ("performance",),
    CROSS_TESTING: ("performance", "parameters"),
    TESTING: ("performance", "parameters", "model"),
}
