"""The table of benchmarks: what is kept, what is told to be worse, and where a benchmark writes what it found."""

import sys

import pandas as pd
import pytest


@pytest.fixture
def watch(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import watch

    yield watch
    for name in ("watch", "_record"):
        sys.modules.pop(name, None)


def table(watch, **values):
    rows = [("b", case, kind, value) for case, (kind, value) in values.items()]
    return pd.DataFrame(rows, columns=[*watch.KEYS, "value"])


def test_ratios_that_fall_and_exponents_that_rise_are_worse(watch):
    kept = table(watch, fell=("ratio", 10), held=("ratio", 10), steeper=("exponent", 1.0), flat=("exponent", 1.0))
    found = table(
        watch,
        **{"fell": ("ratio", 7.9), "held": ("ratio", 8.1), "steeper": ("exponent", 1.21), "flat": ("exponent", 1.19)},
        new=("ratio", 1),
    )
    beside = watch.beside(found, kept).set_index("case")
    assert beside["worse"].to_dict() == {"fell": True, "held": False, "steeper": True, "flat": False, "new": False}
    assert beside["change"].round(2).to_dict() == pytest.approx(
        {"fell": 0.79, "held": 0.81, "steeper": 0.21, "flat": 0.19, "new": float("nan")}, nan_ok=True
    )
    lines = watch.lines_of(watch.beside(found, kept), coloured=True)
    assert [watch.RED in line for line in lines] == [False, True, False, True, False, False]
    assert watch.lines_of(watch.beside(found, kept), coloured=False)[1].endswith("x 0.79 worse")


def test_the_better_of_two_runs_counts(watch):
    first = table(watch, a=("ratio", 5), b=("exponent", 1.5))
    again = table(watch, a=("ratio", 7), b=("exponent", 1.7))
    assert watch.better(first, again)["value"].tolist() == [7, 1.5]


def test_the_table_keeps_what_was_not_measured_anew(watch, tmp_path):
    path = tmp_path / "benchmarks.csv"
    kept = pd.concat([table(watch, old=("ratio", 3)), table(watch, other=("ratio", 4)).assign(benchmark="c")])
    watch.keep(table(watch, new=("ratio", 5)), kept, path)
    assert pd.read_csv(path).set_index(["benchmark", "case"])["value"].to_dict() == {("b", "new"): 5, ("c", "other"): 4}


def test_what_is_recorded_is_measured(watch, tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text(
        "from _record import EXPONENT, record\nrecord('a', 2)\nrecord('b', 1.5, EXPONENT)\nrecord('a', 3)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(watch.HERE))
    monkeypatch.setattr(watch, "HERE", tmp_path)
    monkeypatch.setitem(watch.BENCHMARKS, "one", ["one.py"])
    found = watch.measure("one")
    assert found.to_dict("list") == {
        "benchmark": ["one", "one"],
        "case": ["b", "a"],
        "kind": ["exponent", "ratio"],
        "value": [1.5, 3],
    }


def test_every_benchmark_is_there(watch):
    assert all((watch.HERE / script).is_file() for script, *_ in watch.BENCHMARKS.values())
