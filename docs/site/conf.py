"""What Sphinx makes of the pages that build.py gathers: a site that needs no network, and no server."""

project = "APL"
author = "the APL contributors"
html_title = "APL"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_links_external_new_tab = False
myst_enable_extensions = ["html_image"]
exclude_patterns = ["requirements.txt"]
highlight_language = "text"
html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "default"
pygments_dark_style = "github-dark"
# Levels of headings that a page leaves out, and code that highlighting does not know in full, are no errors.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]


def let_code_be_focused(app, pagename, templatename, context, doctree):
    """Wide code scrolls: without a mouse, only what has the focus does."""
    code = '<div class="highlight"><pre'
    if context.get("body"):
        context["body"] = context["body"].replace(f"{code}>", f'{code} tabindex="0">')


def setup(app):
    app.connect("html-page-context", let_code_be_focused)
