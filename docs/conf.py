"""How Sphinx makes the site of documents: `make docs`."""

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
# Docstrings of what is promised say where the code is that does it, which is read there and not promised.
nitpick_ignore_regex = [
    (r"py:.*", r"fairfold\.ecoc\.(learners|decoding|posterior)\..*"),
    (r"py:.*", r"fairfold\.forests\.(embedding|imputers|levels|shapes|sketched|trees)\b.*"),
    (r"py:.*", r"fairfold\.weak_labels\.(label_frequenc|mechanisms|tice).*"),
    (r"py:.*", r"fairfold\.evaluation\.thresholds\..*"),
    (r"py:obj", r"classes_"),  # as of any classifier
]

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Of numpydoc's checks those that find what misleads a reader: no docstring, no summary, a parameter that is not
# there or not said, no word of what is returned, a section of another name or order. Left out are punctuation, and
# what raises or yields nothing of note.
numpydoc_validation_checks = {
    *("GL01", "GL05", "GL06", "GL07", "GL08"),
    *("PR01", "PR02", "RT01", "SS01", "SS04"),
}
# What comes out of functions is never made by a user: its docstring has attributes in place of parameters. Fields of an
# entry of the catalog are those of its schema; a legend's methods take a name and give what it looks like; and what
# splitters have in common with scikit-learn's is said there.
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
    "min_reported_time": 3600,  # no word about times, which differ
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
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"top_of_page_buttons": []}
