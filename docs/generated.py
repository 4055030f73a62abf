"""Parts of the documentation site that are generated from code, settings, the catalog and measured tables.

A page includes a part with the directive ``{generated} <name> <arguments>``. Each part is a function in this module
that returns Markdown and is listed in ``PARTS``.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from html import escape
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from docutils import nodes
from docutils.statemachine import StringList
from pygments.lexers import PythonLexer, TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fairfold.metrics.corrections import NOT_CORRECTED
from fairfold.metrics.registry import FURTHER_METRICS, METRICS

ROOT = Path(__file__).resolve().parents[1]
MEASURED, PUBLISHED = ROOT / "resources/measured", ROOT / "resources/published"
REGENERATED = ROOT / "resources/regenerated"
DRAWN = ROOT / "docs/_drawn"  # figures that are drawn during the build
RATES = (0, 30, 50, 70)
MIB = 1 << 20


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table; vertical bars in cells are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


# --- configuration ------------------------------------------------------------------------------------------------


Keys = Iterator[tuple[str, Mapping[str, Any], bool]]

_OF_THEIR_OWN = {  # settings with a separate table -> their path in the configuration
    "own_dataset": ("data", "own", "<id>"),
    "variant": ("data", "variants", "<id>"),
    "own_model": ("models", "own", "<name>"),
}


def configuration(part: str) -> str:
    """List the keys of a section such as ``weak_labels``, or of ``own_dataset``, ``own_model`` or ``variant``."""
    from fairfold.core.violations import node_at

    schema = _schema()
    place = _OF_THEIR_OWN.get(part, (part,))
    node = node_at(schema, place)
    is_required = part in schema["required"]
    keys = keys_of(node, ".".join(place), schema) if "properties" in node else [(part, node, is_required)]
    return table(["key", "type", "default", "meaning"], [_cells(*key) for key in keys])


@functools.cache
def _schema() -> dict[str, Any]:
    from fairfold.settings import Study

    return Study.model_json_schema()


def keys_of(node: Mapping[str, Any], path: str, schema: Mapping[str, Any]) -> Keys:
    """Yield each key below a node of the schema: its path, its node, and whether it is required."""
    from fairfold.core.violations import resolved, values_of

    required = node.get("required", [])
    for name in dict.fromkeys([*required, *node["properties"]]):
        entry = resolved(node["properties"][name], schema)
        place = f"{path}.{name}"
        yield place, entry, name in required
        values = resolved(values_of(entry), schema)
        if "properties" in entry:
            yield from keys_of(entry, place, schema)
        elif "properties" in values and place not in _WITH_TABLES:
            yield from keys_of(values, f"{place}.<name>", schema)


_WITH_TABLES = {".".join(place[:2]) for place in _OF_THEIR_OWN.values()}


def _cells(path: str, entry: Mapping[str, Any], is_required: bool) -> list[str]:
    default = "required" if is_required else ""
    if "default" in entry and "properties" not in entry:
        default = _in_yaml(entry["default"])
    return [f"`{path}`", _allowed(entry), default, " ".join(entry.get("description", "").split())]


def _allowed(entry: Mapping[str, Any]) -> str:
    """Describe the type and allowed values of a key."""
    alternatives = entry.get("anyOf", ())
    if len(alternatives) > 1:
        return " or ".join(_allowed(each) for each in reversed(alternatives))  # null comes first
    if "names_of" in entry:
        page = "models" if entry["names_of"] == "models" else "names"
        return f"one of the [{entry['names_of']}](/reference/{page}.md)"
    if "enum" in entry or "const" in entry:
        return ", ".join(_in_yaml(value) for value in entry.get("enum", [entry.get("const")]))
    if entry.get("type") == "array":
        return f"list: {_allowed(entry['items'])}"
    words = {"object": "mapping", "string": "text", "boolean": "true or false"}
    kind = entry.get("type", "any")
    limits = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    bounds = [f"{word} {entry[limit]:g}" for limit, word in limits.items() if limit in entry]
    return ", ".join([words.get(kind, kind), *bounds])


def _in_yaml(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=9999).removesuffix("...\n").strip()
    return f"`{text}`"


# --- tables of names ----------------------------------------------------------------------------------------------


def models() -> str:
    """List every model with the summary of its module."""
    from fairfold.models.registry import _DECLARED, MODEL_NAMES

    modules: dict[str, list[str]] = {}
    for name in MODEL_NAMES:
        modules.setdefault(_DECLARED[name][1], []).append(name)
    rows = []
    for module, names in modules.items():
        settings = dict.fromkeys(key for name in names for key in _DECLARED[name][0].settings)
        rows.append([_code(names), _first_line(module), _code(settings)])
    return table(["names", "model", "settings from `weak_labels.forest`"], rows)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def deep_forests() -> str:
    """Compare the deep forests of Table 3 of the paper with ours."""
    from fairfold.models.description import describe_models
    from fairfold.models.registry import MODEL_NAMES

    parts = describe_models(MODEL_NAMES)
    parts = parts[parts["new_features"] != "none"].drop(columns=["variant", "parameters"])
    heads = [name.replace("_", " ") for name in parts.columns]
    return table(heads, [[f"`{name}`", *cells] for name, *cells in parts.to_numpy()])


def splitters() -> str:
    """List every splitter."""
    from fairfold.splitting.methods import _DECLARED

    rows = []
    for name, (spec, module) in _DECLARED.items():
        made = spec.make.split(":")[1] + "(" + ", ".join(f"{key}={value!r}" for key, value in spec.parameters.items())
        rows.append([f"`{name}`", f"`{made})`", _first_line(module)])
    return table(["name", "class", "method"], rows)


def metrics() -> str:
    """List every metric."""
    better = {1: "higher", -1: "lower"}
    requested = {name: f"{each.use}, on request" for name, each in FURTHER_METRICS.items()}
    rows = [
        [
            *(
                f"`{name}`",
                each.label,
                better[each.direction],
                requested.get(name, each.use),
            ),
            *(each.needs, each.scikit_learn, NOT_CORRECTED if each.correction is None else "corrected"),
        ]
        for name, each in METRICS.items()
    ]
    heads = ["name", "name in figures", "better", "use", "NaN without", "scikit-learn without it", "missing labels"]
    return table(heads, rows)


def datasets() -> str:
    """List the datasets of the catalog."""
    from fairfold.datasets import load_catalog

    rows = []
    for name, entry in load_catalog().items():
        size = [entry.expected.get(key, "") for key in ("n_samples", "n_features", "n_labels")]
        where = "generated" if entry.format == "generated" else "downloaded"
        rows.append([f"`{name}`", entry.title, entry.task, *size, where, ", ".join(entry.used_by), entry.license])
    heads = ["id", "content", "task", "samples", "features", "labels", "source", "used by", "license"]
    return table(heads, rows)


def _first_line(module: str) -> str:
    text = (import_module(module).__doc__ or "").strip().split("\n\n")[0]
    text = " ".join(text.split())
    return text.replace(":mod:", "").replace(":func:", "").replace("`~", "`")


def command_line(command: str) -> str:
    """Return the output of ``python -m fairfold <command> --help``."""
    from fairfold.__main__ import _parser

    os.environ["COLUMNS"] = "81"  # argparse uses two columns fewer
    with redirect_stdout(StringIO()) as printed, suppress(SystemExit):
        _parser().parse_args([command, "--help"])
    return f"```text\n{printed.getvalue()}```"


# --- measured results ---------------------------------------------------------------------------------------------

_LEADING = ["average_precision", "mcc"]
_RACE_HEADS = ["", *(head for name in _LEADING for head in (f"{METRICS[name].short}, 0", "30", "50", "70"))]


def race() -> str:
    """Average the scores over the eleven datasets of the race, by model and missing rate, best models first."""
    from fairfold.models import MODEL_NAMES

    scores = pd.read_csv(MEASURED / "race.csv")
    means = scores.groupby(["model", "missing_rate"])[_LEADING].mean().unstack("missing_rate")
    seconds = scores[scores["dataset"] == "yeast"].groupby("model")["fit_seconds"].mean()
    ranked = means["average_precision"].mean(axis=1).sort_values(ascending=False).index
    names = [name for name in ranked if name in MODEL_NAMES]
    rows = [[f"`{name}`", *(f"{mean:.3f}" for mean in means.loc[name]), f"{seconds[name]:.1f}"] for name in names]
    return table([*_RACE_HEADS, "seconds to fit yeast"], rows)


def race_baselines() -> str:
    """Show mean scores of each baseline, and of Stack+ on the same datasets, by missing rate."""
    names_of = {"average_precision": "AP", "f1_micro": "micro F1", "f1_macro": "macro F1"}
    scores = pd.read_csv(MEASURED / "race_baselines.csv").dropna(subset=[*names_of])
    of_model = {
        name: part.set_index(["missing_rate", "dataset"])[[*names_of]] for name, part in scores.groupby("model")
    }
    ours, rows = of_model.pop("Stack+"), []
    for name in (name for name in scores["model"].unique() if name in of_model):
        theirs, beside = (part.groupby("missing_rate") for part in of_model[name].align(ours, join="inner", axis=0))
        first = [f"`{name}`", ", ".join(str(theirs.size().get(rate, 0)) for rate in RATES)]
        for metric, short in names_of.items():
            pairs = zip(*(part[metric].mean().reindex(RATES) for part in (theirs, beside)), strict=True)
            rows.append([*first, short, *(f"{a:.3f} / {b:.3f}" for a, b in pairs)])
            first = ["", ""]
    return table(["", "datasets", "score", *(f"{rate} %" for rate in RATES)], rows)


def race_regret() -> str:
    """Show the regret of each strategy for choosing a model."""
    regret = pd.read_csv(MEASURED / "race_regret.csv")
    wide = regret.set_index(["strategy", "metric", "missing_rate"])["regret"].unstack(["metric", "missing_rate"])
    shown = ["recommendation", "observed labels", "other datasets"]
    shown += [f"always {name}" for name in _ALWAYS] + ["any model"]
    columns = [(metric, rate) for metric in _LEADING for rate in RATES]
    return table(_RACE_HEADS, [[name, *(f"{wide.loc[name, column]:.3f}" for column in columns)] for name in shown])


def mlc_comparison() -> str:
    """Average the ranks of Stack+ among published methods, also for datasets without influence on its decisions."""
    from fairfold.papers.mlc_comparison import summarize_ranks

    ranks = pd.read_csv(MEASURED / "mlc_comparison.csv", keep_default_na=False, na_values=[""])
    chosen_on = ranks["dataset"].isin(_CHOSEN_ON)
    whole, seen, new = (
        summarize_ranks(part).set_index("metric") for part in (ranks, ranks[chosen_on], ranks[~chosen_on])
    )
    names = [name for name in whole.index if not name.startswith(("precision", "recall"))]
    rows = [
        [
            *(METRICS[name].label, f"{whole.loc[name, 'mean_rank']:.1f}", f"{seen.loc[name, 'mean_rank']:.1f}"),
            *(f"{new.loc[name, 'mean_rank']:.1f}", f"{whole.loc[name, 'wins']} of {whole.loc[name, 'n_datasets']}"),
            whole.loc[name, "lost"] or "–",
        ]
        for name in names
    ]
    return table(["score", "mean rank", "nine datasets", "other datasets", "first on", "rank elsewhere"], rows)


_CHOSEN_ON = (
    *("flags", "VirusGO", "Virus_PseAAC", "foodtruck", "CHD_49"),
    *("emotions", "GpositiveGO", "GpositivePseAAC", "birds"),
)
_ALWAYS = ("Stack+", "gcForest+", "joint-GB+", "RandomForest", "LightGBM", "LightGBM+")


_MINUTES = {"one minute": 1, "ten minutes": 10, "one hour": 60}
_SIZES_OF_TABLES = ((20, 5), (60, 20), (100, 80))  # features and labels
_FARTHEST = 10  # times the largest measured number of samples


def limits() -> str:
    """Tabulate how many samples a model fits in a time, by power laws of the measured run times of dense data."""
    measured = pd.read_csv(MEASURED / "growth.csv").query("data == 'dense'")
    rows, worst = [], 1.0
    for name in ("Stack+", "LightGBM"):
        fits = measured[measured["model"] == name]
        (base, exponent, *others), factor = _power_law(fits)
        worst, (least, most) = max(worst, factor), fits["rows"].agg(["min", "max"])
        for sizes in _SIZES_OF_TABLES:
            logs = np.log([60 * minutes for minutes in _MINUTES.values()]) - base - np.log(sizes) @ others
            rows.append([f"`{name}`", *sizes, *(_rounded_samples(n, least, most) for n in np.exp(logs / exponent))])
    note = f"Laws are within a factor of {worst:.1f} of measured run times. \\* beyond the largest measured table"
    return f"{table(['model', 'features', 'labels', *_MINUTES], rows)}\n\n{note}"


def _power_law(fits: pd.DataFrame) -> tuple[np.ndarray, float]:
    """Fit the log of the seconds to those of the sizes, and return coefficients and the largest factor of the error."""
    sizes, seconds = np.log(fits[["rows", "features", "labels"]]), np.log(fits["seconds"])
    terms = np.column_stack([np.ones(len(fits)), sizes])
    law = np.linalg.lstsq(terms, seconds)[0]
    return law, float(np.exp(np.abs(terms @ law - seconds).max()))


def _rounded_samples(n: float, least: int, most: int) -> str:
    """Round to two digits, within the measured numbers of samples and a few times as many."""
    if n < least:
        return f"below {least:,}"
    if n > _FARTHEST * most:
        return f"above {_FARTHEST * most:,}"
    return f"{float(f'{n:.1e}'):,.0f}" + (" \\*" if n > most else "")


def weak_label_claims() -> str:
    """List the statements of Section 5 of the weak-label paper and the cases in which they hold in our results."""
    both = _computed().query("place == 'Section 5'")
    parts = both["what"].str.extract(r"^(.*), (\w+), (\d+) % hidden").set_axis(["claim", "metric", "rate"], axis=1)
    cases = parts["metric"].map(lambda name: METRICS[name].label.removeprefix("micro ")) + " " + parts["rate"]
    of_claim = [(claim, parts["claim"] == claim) for claim in parts["claim"].sort_values().unique()]
    rows = [
        [claim, *(", ".join(cases[here & (both["ours"] == value)]) for value in (1, 0))] for claim, here in of_claim
    ]
    return table(["statement, with metric and % hidden", "holds here", "does not hold here"], rows)


def splits() -> str:
    """Show the rLD of the folds of each method and its lower bound."""
    means = pd.read_csv(MEASURED / "splits.csv").query("measure == 'rLD'")
    wide = means.pivot_table(index="splitter", columns="dataset", values="mean", sort=False)
    least = means.groupby("dataset")["bound"].first()[wide.columns]
    rows = [[name, *(f"{value:.4f}" for value in wide.loc[name])] for name in wide.index]
    rows.append(["*least possible*", *(f"{value:.4f}" for value in least)])
    return table(["rLD", *wide.columns], rows)


def splits_beside_published() -> str:
    """Compare Table 2 of the paper on folds with our means on the same matrices."""
    both = _computed().query("paper.str.startswith('Tiittanen') and place == 'Table 2'")
    keys = both["what"].str.split(", ", expand=True).set_axis(["dataset", "splitter", "measure"], axis=1)
    both = both.assign(**keys)
    rows = []
    for (dataset, splitter), part in both.groupby(["dataset", "splitter"], sort=False):
        of = part.set_index("measure")
        values = of[["published", "ours"]].map(lambda value: f"{value:,.0f}" if value >= 100 else f"{value:.3g}")
        cells = (" / ".join(values.loc[m]) if m in of.index else "" for m in _MEASURES)
        is_stand_in = part["note"].str.startswith("a stand-in").all()
        rows.append([f"{dataset}, stand-in" if is_stand_in else dataset, splitter, *cells])
    return table(["matrix", "method", *(f"{measure}, printed / ours" for measure in _MEASURES)], rows)


_MEASURES = ("ED", "LD", "DCP", "rLD")


def _published_beside_ours() -> pd.DataFrame:
    return pd.read_csv(REGENERATED / "published.csv")


def _computed() -> pd.DataFrame:
    both = _published_beside_ours()
    return both[both["ours"].notna()]


# --- results of a run of config/paper.yaml ------------------------------------------------------------------------


def regenerated_run() -> str:
    """Describe the cost, versions and machine of the run."""
    run = pd.read_csv(REGENERATED / "run.csv").set_index("what")["value"]
    parts = pd.read_csv(REGENERATED / "parts.csv")
    longest = parts.sort_values("cpu_seconds", ascending=False).head(8)
    rows = [
        [f"`{row.step}`", f"{row.jobs:,}", f"{row.cpu_seconds / 3600:.2f}", f"{row.peak_memory_mib * MIB / 1e6:,.0f}"]
        for row in longest.itertuples()
    ]
    text = (
        f"The run had {parts['jobs'].sum():,} measured jobs, two at a time next to other work. They took "
        f"{parts['cpu_seconds'].sum() / 3600:.1f} processor hours and {parts['seconds'].sum() / 3600:.1f} hours of "
        f"wall time in total. The largest job needed {parts['peak_memory_mib'].max() * MIB / 1e9:.1f} GB. Settings: "
        f"seed {run['seed']}, commit {run['commit']}, Python {run['Python']}, NumPy {run['numpy']}, scikit-learn "
        f"{run['scikit-learn']}, {run['machine']}."
    )
    return f"{text}\n\n" + table(["longest steps", "jobs", "processor hours", "peak memory, MB"], rows)


def regenerated_failures() -> str:
    """List results that the run failed to compute or has not computed yet, with the reasons."""
    left_out = pd.read_csv(REGENERATED / "unavailable.csv")
    names = ", ".join(f"`{name}`" for name in left_out["dataset"].unique())
    failed = pd.read_csv(REGENERATED / "failures.csv", keep_default_na=False)
    both = _published_beside_ours()
    notes = both.loc[both["ours"].isna(), "note"].fillna("no reason is kept")
    of_left_out = notes.str.contains("which is left out", regex=False)
    text = [f"These datasets could not be downloaded: {names}. For them, {of_left_out.sum():,} numbers are missing."]
    if not of_left_out.all():
        counts = [(f"{number:,}", note) for note, number in notes[~of_left_out].value_counts().items()]
        text += ["Other numbers are missing, too:", table(["printed numbers", "reason"], counts)]
    if failed.empty:
        return "\n\n".join([*text, "No other result is missing."])
    rows = table([name.replace("_", " ") for name in failed], failed.to_numpy())
    return "\n\n".join([*text, "Other missing results:", rows])


def regenerated_sentences() -> str:
    """Summarize the comparison with the papers in sentences."""
    from fairfold.report.published import published_sentences

    return "\n".join(f"- {sentence}" for sentence in published_sentences(_published_beside_ours()))


def regenerated_numbers(paper: str) -> str:
    """List all printed numbers of a paper next to ours in a collapsed table, largest difference first."""
    both = _published_beside_ours().query("paper == @paper")
    heads = ("place", "number", "printed", "ours", "difference", "note", "file")
    rows = (
        (
            row.place,
            row.what,
            f"{row.published:g}",
            _number(row.ours),
            _distance(row),
            row.note,
            row.command.split()[3],
        )
        for row in both.fillna({"note": ""}).itertuples()
    )
    cells = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    head = "".join(f"<th>{name}</th>" for name in heads)
    summary = f"{len(both):,} numbers of {escape(paper)}, {both['ours'].notna().sum():,} of them computed"
    return _raw(
        f'<details class="numbers"><summary>{summary}</summary><div class="table-wrapper">'
        f'<table class="docutils"><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div></details>'
    )


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


def published_figure(paper: str) -> str:
    """Draw the distances between the numbers of a paper and ours."""
    from fairfold.figures import save_figure
    from fairfold.papers.figures.published import plot_published

    DRAWN.mkdir(exist_ok=True)
    name = f"published_{re.split(r'[^a-z]', paper.lower())[0]}.png"
    save_figure(plot_published(_published_beside_ours().query("paper == @paper")), [DRAWN / name])
    return f"```{{image}} /_drawn/{name}\n:alt: Distances between the numbers of {paper} and ours\n```"


def stand_in_figure() -> str:
    """Draw Figure 5 of the win-percentage paper for simulated data with the sizes of its endpoints."""
    from fairfold.figures import save_figure
    from fairfold.papers.figures.win_percentage import plot_win_percentages

    DRAWN.mkdir(exist_ok=True)
    wins = pd.read_csv(REGENERATED / "tables/win_percentage/stand_in_win_percentages.csv.gz")
    save_figure(plot_win_percentages(wins), [DRAWN / "stand_ins.png"])
    return "```{image} /_drawn/stand_ins.png\n:alt: Win percentages on simulated data by number of draws\n```"


def _number(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.5g}"


def _distance(row: Any) -> str:
    if pd.notna(row.difference_in_se):
        return f"{row.difference_in_se:+.1f} s.e."
    if pd.isna(row.difference_in_digits):
        return ""
    return (
        "same digits" if abs(row.difference_in_digits) <= 0.5 else f"{row.difference_in_digits:+.1f} of the last digit"
    )


def regenerated_figures(section: str) -> str:
    """Draw the figures of a report section whose tables are stored, each under its title."""
    from fairfold.figures import save_figure
    from fairfold.planning.check import check_study
    from fairfold.report.contents import figures_of, load_contents

    kept = {str(path.relative_to(REGENERATED)).removesuffix(".gz"): path for path in REGENERATED.rglob("*.csv*")}
    kept["tables/published.csv"] = kept.pop("published.csv")
    config = yaml.safe_load((ROOT / "config/paper.yaml").read_text("utf-8"))
    check_study(config)
    DRAWN.mkdir(exist_ok=True)
    shown, not_drawn = [], []
    for figure in figures_of(load_contents(), config, kept):
        if figure.section != section:
            continue
        if not all(read in kept for read in figure.reads):
            not_drawn.append(figure.label)
            continue
        name = f"{Path(figure.path).name}.png"
        save_figure(
            figure.spec.draw(*(pd.read_csv(kept[read]) for read in figure.reads), **figure.options), [DRAWN / name]
        )
        shown.append(f"**{figure.label}**\n\n```{{image}} /_drawn/{name}\n:alt: {figure.label}\n```")
    if not_drawn:
        shown.append(f"{_NOT_DRAWN}: {'; '.join(not_drawn)}.")
    return "\n\n".join(shown)


_NOT_DRAWN = "These figures are not drawn here, because a table that they read is not stored"

PARTS: Mapping[str, Callable[..., str]] = {
    each.__name__: each
    for each in (
        *(configuration, models, deep_forests, splitters, metrics, datasets, command_line),
        *(race, race_baselines, race_regret, mlc_comparison, limits, splits),
        *(weak_label_claims, splits_beside_published, published_figure, stand_in_figure),
        *(regenerated_run, regenerated_failures, regenerated_sentences, regenerated_numbers, regenerated_figures),
    )
}


def scrape_figure(block: tuple, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the figure that a block of code assigns to ``figure``, for Sphinx-Gallery."""
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    figure = block_vars["example_globals"].pop("figure", None)
    if not isinstance(figure, Figure):
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=150)
    return figure_rst([path], gallery_conf["src_dir"])


class Generated(SphinxDirective):
    """Directive ``{generated} name argument ...``: insert the Markdown that the named function returns."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Insert the Markdown, and note the files that it depends on."""
        name, *arguments = shlex.split(self.arguments[0])
        for path in (__file__, *map(str, sorted([*MEASURED.glob("*.csv"), *REGENERATED.rglob("*.csv*")]))):
            self.env.note_dependency(path)
        container = nodes.Element()
        text = PARTS[name](*arguments)
        self.state.nested_parse(StringList(text.splitlines(), name), 0, container)
        return container.children


def definitions() -> dict[str, str]:
    """Return the anchor of the section of ``reference/models.md`` that defines each model."""
    from fairfold.models import MODEL_NAMES

    sections = re.split(r"^## ", (ROOT / "docs/reference/models.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    anchors = {}
    for section in reversed(sections):  # the first section that names a model defines it
        anchor = re.sub(r"[^\w\- ]", "", section.partition("\n")[0].lower()).strip().replace(" ", "-")
        anchors |= dict.fromkeys(set(re.findall(r"`([^`]+)`", section)) & {*MODEL_NAMES}, anchor)
    return anchors


def link_models(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link each model name that is set as code to its definition."""
    if page == "reference/models":
        return
    anchors = definitions()
    for literal in [*doctree.findall(nodes.literal)]:
        anchor = anchors.get(literal.astext())
        if anchor and not isinstance(literal.parent, nodes.reference | nodes.title):
            uri = f"{app.builder.get_relative_uri(page, 'reference/models')}#{anchor}"
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=uri))


def shorten_navigation(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """List two levels in the navigation, because the third one, the names of the library, would fill each page."""
    toctree = context["toctree"]
    context["toctree"] = lambda **options: toctree(**options | {"maxdepth": 2})


def skip_fields(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Skip fields of named tuples, which the docstring of the class documents."""
    return True if type(member).__name__ == "_tuplegetter" else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    app.add_directive("generated", Generated)
    app.add_lexer("csv", TextLexer)
    app.add_lexer("snakemake", PythonLexer)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("doctree-resolved", link_models)
    app.connect("html-page-context", shorten_navigation, priority=400)  # before the theme, which draws the navigation
    return {"parallel_read_safe": True, "parallel_write_safe": True}
