"""Test the benchmark table: stored values, reported regressions and the output file of each benchmark."""

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
    heading, *lines = watch.lines_of(watch.beside(found, kept), colored=True)
    red = {line.split()[1] for line in lines if line.startswith(watch.RED)}
    assert "kept" in heading and red == {"fell", "steeper"}
    assert sum(line.endswith("x 0.79 worse") for line in watch.lines_of(watch.beside(found, kept), colored=False)) == 1


def test_what_is_not_found_any_more_is_lost(watch):
    kept = table(watch, gone=("ratio", 10), held=("ratio", 10))
    beside = watch.beside(table(watch, held=("ratio", 10)), kept)
    assert dict(zip(beside["case"], watch.is_lost(beside), strict=True)) == {"gone": True, "held": False}
    (line,) = [line for line in watch.lines_of(beside, colored=False) if "gone" in line]
    assert line.endswith("not found")


@pytest.fixture
def bench(watch, tmp_path, monkeypatch):
    """Return a function that runs benchmarks, given as a dict of name to code, and returns the exit code."""
    monkeypatch.setenv("PYTHONPATH", str(watch.HERE))
    for name, path in {"HERE": tmp_path, "KEPT": tmp_path / "kept.csv", "LAST": tmp_path / "cache/last.csv"}.items():
        monkeypatch.setattr(watch, name, path)

    def bench(benchmarks, *options):
        for name, code in benchmarks.items():
            (tmp_path / f"{name}.py").write_text(f"from _record import record\n{code}\n")
        monkeypatch.setattr(watch, "BENCHMARKS", {name: [f"{name}.py"] for name in benchmarks})
        monkeypatch.setattr(sys, "argv", ["watch.py", *options])
        return watch.main()

    return bench


def test_the_table_is_always_written_and_what_is_lost_is_reported_by_the_exit_code(watch, bench, capsys):
    assert bench({"one": "record('a', 2); record('b', 1)", "two": "record('c', 1)"}, "--keep") == 0
    assert pd.read_csv(watch.KEPT)["case"].tolist() == ["a", "b", "c"]
    assert bench({"one": "record('a', 3)", "two": "raise SystemExit(3)"}) == 1
    messages = capsys.readouterr()
    assert "two failed, with exit code 3." in messages.err
    assert messages.out.count("not found") == 2 and f"The table is {watch.LAST}" in messages.out
    assert pd.read_csv(watch.LAST)[["case", "value"]].values.tolist() == [["a", 3], ["c", 1]]
    assert bench({"one": "record('a', 3); record('b', 1)"}) == 0
    assert bench({"one": "record('a', 1); record('b', 1)"}) == 1
    assert pd.read_csv(watch.KEPT)["value"].tolist() == [2, 1, 1]


def test_splitters_need_an_interpreter_of_their_peers(bench, capsys):
    code = "import sys; record(' '.join(sys.argv[1:]), 1)"
    assert bench({"splitters": code, "one": "record('a', 1)"}) == 0
    assert "splitters are left out" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        bench({"splitters": code})
    assert "nothing is left to measure" in capsys.readouterr().err
    assert bench({"splitters": code, "one": "record('a', 1)"}, "--peers", "python0") == 0
    assert "--peers python0" in capsys.readouterr().out


def test_the_better_of_two_runs_counts(watch):
    first = table(watch, a=("ratio", 5), b=("exponent", 1.5))
    again = table(watch, a=("ratio", 7), b=("exponent", 1.7))
    assert watch.better(first, again)["value"].tolist() == [7, 1.5]


def test_the_table_keeps_what_was_not_measured_anew(watch, tmp_path):
    path = tmp_path / "benchmarks.csv"
    kept = pd.concat([table(watch, old=("ratio", 3)), table(watch, other=("ratio", 4)).assign(benchmark="c")])
    watch.write(table(watch, new=("ratio", 5)), kept, path)
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
