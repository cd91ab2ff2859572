"""How the site is built: ``make docs``. Nothing in it is asked from the network, neither to build nor to read it."""

import os
import sys
from pathlib import Path

from sphinx_gallery.sorting import FileNameSortKey

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_build_tools"))

# Examples learn the same whatever the machine has: two processes of a build must not get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "budgetsvm"
copyright = "the budgetsvm developers"
author = "the budgetsvm developers"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "gallery_links",
    "mathml",
    "sklearn_links",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "package-index.md",
    "_build_tools",
    "benchmarks/results.md",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
]
templates_path = ["_templates"]

# -- Markdown --------------------------------------------------------------------------------------
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # the sorting key of the gallery is a class

# -- Docstrings ------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False

# -- Gallery ---------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_.*\.py",
    "within_subsection_order": FileNameSortKey,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
    "backreferences_dir": "gallery/mentions",
    "doc_module": ("budgetsvm",),
    "reference_url": {"budgetsvm": None},
    "reset_modules": ("matplotlib", "gallery_style.reset"),
}

# -- HTML ------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "budgetsvm"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("quiet.js", {"priority": 1})]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which browsers refuse to do from files
html_sidebars = {"installation": [], "tour": [], "recipe": [], "faq": [], "changelog": []}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_as_you_type": False,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
