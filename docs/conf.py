"""The documentation site: built by `tox -e docs` into build/docs, from the pages as they are."""

project = "aacbench"
copyright = "the aacbench authors"  # noqa: A001
extensions = ["myst_parser"]
exclude_patterns = ["README.md"]  # the same list for a code host; index.md is its page here
myst_heading_anchors = 4
html_theme = "furo"
html_title = "aacbench"
html_favicon = "figures/icon.svg"
html_use_index = False
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
nitpicky = True
