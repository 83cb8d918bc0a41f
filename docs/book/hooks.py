"""What MkDocs does beyond its settings: documents at the root of the repository become pages too, and links and pictures between them
and docs/ lead to pages and files. A link to a file that is in the repository but not in the book becomes plain text; a link to
a file that is nowhere stays as it is, so that `mkdocs build --strict` refuses it."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
AT_ROOT = ("ARCHITECTURE.md", "BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SCALING.md")
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]\n]+)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
FENCE = re.compile(r"^( *)(```+)(\S*).*$", re.MULTILINE)


def on_files(files, config):
    for name in AT_ROOT:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    # Who searches for a word wants to use it: guides and the glossary come before tables of measurements.
    boost = 0.2 if page.file.src_uri in AT_ROOT else 2 if page.file.src_uri == "how.md" else 1
    page.meta.setdefault("search", {"boost": boost})
    folder = "" if page.file.src_uri in AT_ROOT else "docs"

    def lead(link):
        path = posixpath.normpath(posixpath.join(folder, link["path"]))
        anchor = link["anchor"] or ""
        if path == "README.md":
            return f"[{link['text']}](index.md)"
        in_book = path.removeprefix("docs/")
        if files.get_file_from_path(in_book):
            return f"{link['image']}[{link['text']}]({in_book}{anchor})"
        return link["text"] if (ROOT / path).exists() else link[0]

    # ```sh run is for the check of commands; a page shows it as ```sh.
    markdown = FENCE.sub(r"\1\2\3", markdown)
    return LINK.sub(lead, markdown)
