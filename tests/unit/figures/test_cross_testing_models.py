from functools import partial

import numpy as np
import pandas as pd

from fairfold.figures import cross_testing_models, save_figure
from fairfold.figures.cross_testing_models import PROCEDURES
from fairfold.forests import MODEL_NAMES
from fairfold.models.legend import legend_table

plot_cross_testing_models = partial(cross_testing_models.plot_cross_testing_models, legend=legend_table(MODEL_NAMES))

CANDIDATES = ["SLCForest", "FLAForest", "RF+ET"]
SHARES = [0.5, 0.3, 0.2]


def tables(datasets=("flags", "emotions"), n=4):
    rng = np.random.default_rng(0)
    runs, points = [], []
    for dataset in datasets:
        for place, procedure in enumerate(PROCEDURES):
            unit = {"dataset": dataset, "missing_rate": 50, "scoring": "average_precision", "procedure": procedure}
            own = pd.DataFrame({"score": 0.6 + 0.1 * rng.random(n), "observed_score": 0.3 + 0.1 * rng.random(n)})
            runs.append(own.assign(**unit, repetition=range(n), reason=None))
            for metric in own:
                mean = own[metric].mean()
                points.append({**unit, "metric": metric, "value": mean, "low": mean - 0.02, "high": mean + 0.02})
            share = 0.25 * place
            points.append({**unit, "metric": "significant_fraction", "value": share, "low": 0.0, "high": share + 0.1})
            points.append({**unit, "metric": "n_fits", "value": 30 - place})
            points += [
                {**unit, "metric": "chosen", "candidate": name, "value": value}
                for name, value in zip(CANDIDATES, SHARES, strict=True)
            ]
    return pd.DataFrame(points), pd.concat(runs, ignore_index=True)


def texts(labels):
    return [label.get_text() for label in labels]


def test_panels():
    points, runs = tables()
    axes = np.array(plot_cross_testing_models(points, runs).axes).reshape(2, 3)
    assert [row[0].get_title(loc="left")[:8] for row in axes] == ["flags, 5", "emotions"]
    assert texts(axes[0, 0].get_yticklabels()) == [
        "nested CV\n30 fits",
        "CV + cross-testing\n29 fits",
        "CV + testing\n28 fits",
    ]
    assert [panel.get_xlabel() for panel in axes[1]] == [
        "average precision",
        "proportion significant",
        "share of choices",
    ]
    assert axes[0, 0].yaxis_inverted()


def test_scores_are_drawn_with_a_dot_for_each_repetition():
    points, runs = tables(("flags",))
    # Rows may have any order: here the last procedure is first.
    panel = plot_cross_testing_models(points.iloc[::-1], runs.iloc[::-1]).axes[0]
    means = [line for line in panel.lines if line.get_markersize() == 5]
    for line, metric in zip(means, ("score", "observed_score"), strict=True):
        wanted = points[points["metric"] == metric].set_index("procedure")["value"].reindex(PROCEDURES)
        np.testing.assert_array_equal(line.get_xdata(), wanted)
    assert means[0].get_markerfacecolor() != means[1].get_markerfacecolor()
    dots = [line for line in panel.lines if line.get_markersize() == 2]
    shown = sorted(np.concatenate([line.get_xdata() for line in dots]))
    np.testing.assert_array_equal(shown, np.sort(runs[["score", "observed_score"]].to_numpy().ravel()))
    assert panel.get_xlim()[0] < min(shown) and panel.get_xlim()[1] > max(shown)
    intervals = np.concatenate([np.array(lines.get_segments()) for lines in panel.collections])
    np.testing.assert_allclose(np.ptp(intervals[:, :, 0], axis=1), 0.04)


def test_significance_and_choices():
    _, significant, chosen = plot_cross_testing_models(*tables(("flags",)), alpha=0.1).axes
    np.testing.assert_array_equal(significant.lines[0].get_xdata(), [0, 0.25, 0.5])
    assert significant.lines[1].get_xdata() == [0.1, 0.1]
    widths = np.array([bar.get_width() for bar in chosen.patches]).reshape(len(CANDIDATES), 3)
    np.testing.assert_allclose(widths, np.repeat(SHARES, 3).reshape(3, 3))
    starts = np.array([bar.get_x() for bar in chosen.patches]).reshape(len(CANDIDATES), 3)
    np.testing.assert_allclose(starts[:, 0], [0, 0.5, 0.8])


def test_candidates_are_distinguished():
    points, runs = tables(("flags",))
    names = [name for name in MODEL_NAMES if name not in CANDIDATES]
    extra = [{**points.iloc[0].to_dict(), "metric": "chosen", "candidate": name, "value": 0.01} for name in names]
    figure = plot_cross_testing_models(pd.concat([points, pd.DataFrame(extra)]), runs)
    (legend,) = figure.legends
    assert texts(legend.get_texts()) == ["complete labels", "observed labels", *CANDIDATES, *names]
    looks = {(handle.get_facecolor(), handle.get_hatch()) for handle in legend.get_patches()}
    assert len(looks) == len(CANDIDATES) + len(names)


def test_a_dataset_without_numbers_leaves_its_row_empty_and_none_at_all_states_so(tmp_path):
    points, runs = tables()
    numbers = ["value", "low", "high"]
    points.loc[points["dataset"] == "flags", numbers] = np.nan
    runs.loc[runs["dataset"] == "flags", ["score", "observed_score"]] = np.nan
    figure = plot_cross_testing_models(points, runs)
    save_figure(figure, [tmp_path / "figure.pdf", tmp_path / "figure.png"])
    assert texts(figure.axes[0].get_yticklabels()) == list(PROCEDURES.values())
    nothing = plot_cross_testing_models(points, runs.assign(score=np.nan, reason="too few rows"))
    assert texts(nothing.texts) == ["nothing to draw: no model has a score"]
