"""The procedures by name, and what each lets a reader interpret (Korjus, Hebart & Vicente 2016)."""

NESTED, TESTING, CROSS_TESTING = "nested_cv", "cv_testing", "cv_cross_testing"
INTERPRETABLE = {
    NESTED: ("performance",),
    CROSS_TESTING: ("performance", "parameters"),
    TESTING: ("performance", "parameters", "model"),
}
