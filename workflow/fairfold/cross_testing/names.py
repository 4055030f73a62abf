"""Names of the procedures, and the results that each one allows to interpret (Korjus, Hebart & Vicente 2016)."""

NESTED, TESTING, CROSS_TESTING = "nested_cv", "cv_testing", "cv_cross_testing"
INTERPRETABLE = {
    NESTED: ("performance",),
    CROSS_TESTING: ("performance", "parameters"),
    TESTING: ("performance", "parameters", "model"),
}
