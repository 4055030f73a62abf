"""Sphinx configuration of the documentation site (`make docs`)."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str((HERE.parent / "workflow").resolve())]

project, author = "fairfold", "The fairfold authors"
version = release = version_of("fairfold")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "generated",
]
exclude_patterns = ["_build", "gallery", "auto_gallery/*.py.md5", "example"]
templates_path = ["_templates"]
nitpicky = True
# Public docstrings link to internal modules, which have no page in the reference.
nitpick_ignore_regex = [
    (r"py:.*", r"fairfold\.ecoc\.(learners|decoding|posterior)\..*"),
    (r"py:.*", r"fairfold\.forests\.(embedding|imputers|levels|shapes|sketched|trees)\b.*"),
    (r"py:.*", r"fairfold\.weak_labels\.(label_frequenc|mechanisms|tice).*"),
    (r"py:.*", r"fairfold\.evaluation\.thresholds\..*"),
    (r"py:obj", r"classes_"),  # defined by every classifier
]

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings contain more detail
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# These numpydoc checks find docstrings that mislead a reader: missing docstrings or summaries, missing or unknown
# parameters, a missing Returns section, and unknown or misordered sections. Checks of punctuation and of Raises and
# Yields sections are disabled.
numpydoc_validation_checks = {
    *("GL01", "GL05", "GL06", "GL07", "GL08"),
    *("PR01", "PR02", "RT01", "SS01", "SS04"),
}
# Users never construct result classes, so their docstrings list attributes instead of parameters. The catalog schema
# documents the fields of an entry, and scikit-learn documents the common methods of splitters. The methods of a legend
# are self-explanatory.
numpydoc_validation_exclude = {
    r"\.__init__$",
    r"\.(FinalModel|Outcome|Predictions)$",
    r"\.(Entry\b|Legend\.)",
    r"\.(get_params|set_params|get_n_splits)$",
}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "image_scrapers": ("generated.scrape_figure",),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,  # hide run times, which vary
    "write_computation_times": False,
    "matplotlib_animations": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "copyfile_regex": "",
}

html_theme = "furo"
html_title = "fairfold"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_static/scorer.js")  # guides come before entries of the library
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}
