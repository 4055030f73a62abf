"""Options of a table on the command line."""

from __future__ import annotations

import argparse
import random
import re
import shlex
from pathlib import Path

import pytest
import yaml

from fairfold.__main__ import main
from fairfold.console.options import stanza_of

CASES = Path(__file__).parents[2] / "cases"


def audit(capsys, *words):
    status = main(["audit", *map(str, words)])
    captured = capsys.readouterr()
    return status, " ".join((captured.out + captured.err).split())


def test_the_audit_reads_several_prefixes_and_counts(tmp_path, capsys):
    assert audit(capsys, CASES / "two-prefixes.csv", "--labels", "NR-", "SR-")[0] == 0
    path = tmp_path / "counts.csv"
    path.write_text("x,y_a,y_b,y_c\n" + "".join(f"{(7 * i) % 31},{i % 4},{i % 3},{i // 39}\n" for i in range(40)))
    assert "add --presence" in audit(capsys, path, "--labels", "y_")[1]
    status, text = audit(capsys, path, "--labels", "y_", "--presence")
    assert status == 0 and "drop it with --min-positives 5" in text
    assert "fewer than the 5 folds" not in audit(capsys, path, "--labels", "y_", "--presence", "--min-positives", 5)[1]
    text = audit(capsys, path, "--labels", "y_", "--presence", "--min-positives", 35)[1]
    assert "leaves no label" in text and "Lower --min-positives." in text
    text = audit(capsys, path, "--labels", "away_")[1]
    assert text.endswith("counts.csv: no column name starts with 'away_'. Correct --labels.")


def test_a_label_with_fewer_negatives_than_folds_is_warned_of(capsys):
    text = audit(capsys, CASES / "almostall.csv", "--labels", "label_")[1]
    assert "warning: label 'label_z' has 1 negative, fewer than the 5 folds" in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--models", "foo"], "--models: unknown value 'foo'"),
        (["--score", "foo"], "--score: unknown value 'foo'"),
        (["--missing-rates", "140"], "--missing-rates: found 140"),
        (["--folds", "1"], "--folds: found 1"),
        (["--categorical", "mass", "--text", "mass"], "column 'mass' cannot be both text and category. Choose one."),
        (["--ignore", "a", "a"], "--ignore: found a value twice"),
        (["--dates", "a", "--repeats", "3"], "--repeats: found 3, but --dates gives a single split"),
        (["--seed", "-1"], "--seed: found -1"),
        (["--labels", "x", "x"], "--labels: found a value twice"),
        (["--propagate"], "--propagate needs a hierarchy of the labels. Give its file with --hierarchy."),
        (["--labels-are", "complete", "--missing-rate", "0.3"], "--missing-rate with --labels-are complete. Leave out"),
        (["--day-first"], "no column contains dates. Leave out --day-first, or declare dates (--dates-as-features)."),
    ],
)
def test_messages_of_a_study_name_options(options, sentence, tmp_path, capsys):
    assert main(["study", str(CASES / "train.csv"), "-d", str(tmp_path / "s"), "--labels", "label_", *options]) == 1
    error = capsys.readouterr().err
    assert sentence in error and "config." not in error


@pytest.mark.parametrize("pattern", ["label_*", "label[_]"])
def test_a_pattern_of_labels_is_no_prefix(pattern):
    assert stanza_of(argparse.Namespace(labels=[pattern]), "my.csv")["labels"] == {"names": [pattern]}


def test_options_of_dates_and_hierarchies_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr("fairfold.commands.study.run_study", lambda *_, **__: None)
    monkeypatch.setattr("fairfold.commands.study._look_at_columns", lambda options, folder: None)
    (tmp_path / "above.csv").write_text("child,parent\nlabel_T2,label_T1\n")
    options = ["--hierarchy", tmp_path / "above.csv", "--propagate", "--min-positives", 3, "--presence"]
    options += ["--labels", "label_", "--dates", "height", "--day-first"]
    assert main(["study", str(CASES / "train.csv"), "-d", str(tmp_path / "s"), *map(str, options)]) == 0
    (dataset,) = yaml.safe_load((tmp_path / "s" / "study.yaml").read_text())["data"]["own"].values()
    assert dataset["labels"] == {"prefix": "label_", "hierarchy": "../above.csv", "propagate": True, "presence": True}
    assert (dataset["day_first"], dataset["label_filter"]) == (True, {"min_positives": 3})


def test_dates_that_are_features_are_read_with_the_day_first(tmp_path, capsys):
    table = write_plots(tmp_path / "plots.csv")
    table.write_text(re.sub(r"2020-(\d\d)-\d(\d)", r"\1/0\2/2020", table.read_text()).replace("/00/", "/10/"))
    status, text = audit(capsys, table, "--labels", "label_")
    assert status == 0 and "month first; add --day-first if this is wrong" in text
    status, text = audit(capsys, table, "--labels", "label_", "--day-first")
    assert status == 0 and "(as in 31/12/2021)" in text


def write_plots(path):
    """Write a table with ids, groups, dates, texts and weights that nobody declared."""
    words = ["wet dry shady", "steep and open slope", "old trees near the stream"]
    lines = ["plot,region,visit,surveyed,notes,survey_weight,ph,label_a,label_b"]
    draw = random.Random(0)
    for row in range(60):
        region, date = f"R{draw.randrange(7)}", f"2020-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
        numbers = ",".join(str(draw.randrange(*limits)) for limits in ((1, 4), (31,), (2,), (2,)))
        lines.append(f"P{row:03d},{region},{row % 30},{date},{words[row % 3]} {row % 9},{numbers}")
    path.write_text("\n".join(lines))
    return path


def test_roles_that_nobody_declared_are_asked_for_at_once(tmp_path, capsys, monkeypatch):
    """The command is ready to copy, so the table allows its options. The study prints the same before it starts."""
    table = write_plots(tmp_path / "my plots.csv")
    assert main(["audit", str(table), "--labels", "label_"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Some columns may have a role that is not declared:")
    asked = lines[start + 1 :]
    assert [line.split(": ")[0].strip() for line in asked[:-3]] == [
        "--id plot",
        "--groups region",
        "--weights survey_weight",
        "--dates surveyed",
    ]
    assert asked[3].endswith("(not together with the options above)")
    assert asked[1].split(": ")[1].startswith("the column puts")
    words = shlex.split(asked[-1])
    expected = ["--id", "plot", "--groups", "region", "--weights", "survey_weight"]
    assert words == ["fairfold", "study", str(table), "--labels", "label_", *expected]
    monkeypatch.setattr("fairfold.commands.study.run_study", lambda *_, **__: None)
    more = ["--models", "kNN", "--seed", "3", "-d", str(tmp_path / "s"), "--no-final"]
    assert main(["study", str(table), "--labels", "label_", *more]) == 0
    printed = capsys.readouterr().err.splitlines()[: len(asked) + 1]
    assert printed == [*lines[start:-1], f"{lines[-1]} {shlex.join(more)}"]
    assert main([*words[1:], "-d", str(tmp_path / "t")]) == 0
    assert "a role that is not declared" not in capsys.readouterr().err


def test_a_study_names_all_wrong_cells_before_it_starts(tmp_path, capsys):
    table = write_plots(tmp_path / "plots.csv")
    rows = [line.split(",") for line in table.read_text().splitlines()]
    rows[5][2], rows[8][6] = "x", "low"
    table.write_text("\n".join(map(",".join, rows)))
    assert main(["study", str(table), "-d", str(tmp_path / "s"), "--labels", "label_"]) == 1
    error = capsys.readouterr().err
    assert "column 'visit': found 'x', which is not a number" in error and "column 'ph' ('low')" in error
    assert not (tmp_path / "s" / "study.yaml").exists()


def test_the_audit_takes_the_options_of_a_study(tmp_path, capsys):
    table = write_plots(tmp_path / "plots.csv")
    options = ["--id", "plot", "--dates", "surveyed", "--weights", "survey_weight", "--labels-are", "complete"]
    status, text = audit(capsys, table, "--labels", "label_", *options, "--folds", 3)
    assert status == 0 and "role of their own" not in text  # Dates and regions do not go together.
    assert "--missing-rate" in audit(capsys, table, "--labels", "label_", "--missing-rate", "7")[1]
    assert "--propagate needs a hierarchy" in audit(capsys, table, "--labels", "label_", "--propagate")[1]
