#!/usr/bin/env python3
"""`make site`: the course as a website, in build/site/html, from the stored notebooks and the pages of docs/.

`gather` copies the pages to build/site/source: lessons with their stored outputs, exercises as learners get them, each
with the pictures that stand before its answer cell. Nothing is run. `render` makes HTML with Sphinx and MyST-NB; a
warning of theirs is an error. `broken` reads the finished pages: each link inside the site leads to a file and a
heading that are there, and no page loads anything from elsewhere. Links to other sites are not followed.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "build" / "site"
TEXTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "course/README.md", "tests/README.md")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "embed": "src", "object": "data"}
"""Elements that a browser fetches by itself, and the attribute that says from where."""

STYLE = """\
.cell_output img { max-width: 100%; background: white; }
.cell_output table, .cell_output p { font-size: 90%; }
.cell_output pre { overflow-x: auto; }
"""


def title_of(path: Path) -> str:
    """The first heading of a notebook or of a markdown page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = nbformat.reads(text, as_version=4).cells[0].source
    found = re.search(r"^# (.+)$", text, re.M)
    assert found is not None, f"{path} has no title"
    return found[1]


def exercises() -> dict[str, list[str]]:
    """Lesson -> ids of its exercises, as learners meet them."""
    from gpulab.grading import exercise_ids, load

    found: dict[str, list[str]] = {}
    for id in exercise_ids():
        found.setdefault(load(id).lesson, []).append(id)
    return found


def lesson_page(path: Path) -> nbformat.NotebookNode:
    """A stored notebook, with cells of C++ coloured as such."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "gpulab"}
    return notebook


def to_pages(notebook: nbformat.NotebookNode) -> None:
    """Links in outputs (a report's "read") lead to the site's pages."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if "text/html" in output.get("data", {}):
            output.data["text/html"] = re.sub(
                r'(href="(?!\w+:)[^"#]*)\.ipynb', r"\1.html", "".join(output.data["text/html"])
            )


def exercise_page(released: Path, solved: Path) -> nbformat.NotebookNode:
    """What learners get, with the outputs that the solved notebook has before its first answer cell."""
    notebook = lesson_page(released)
    outputs = {}
    for cell in nbformat.read(solved, as_version=4).cells:
        if "solution" in cell.metadata.get("tags", ()):
            break
        outputs[cell.id] = cell
    for cell in notebook.cells:
        same = outputs.get(cell.id)
        if cell.cell_type == "code" and same is not None and same.source == cell.source:
            cell.outputs, cell.execution_count = same.outputs, same.execution_count
    return notebook


def toctree(caption: str, pages: list[str]) -> str:
    lines = "\n".join(pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


def home(source: Path) -> str:
    """The first page: what there is, in the order in which it is read."""
    lessons = sorted(path.stem for path in (source / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    others = sorted(path.stem for path in (source / "notebooks").glob("[a-z]*.ipynb"))
    plans = [name for name in others if name.startswith("syllabus_")]
    appendices = [name for name in others if name not in plans]
    docs = sorted(path.stem for path in (source / "docs").glob("*.md"))
    tasks = exercises()

    def link(folder: str, name: str) -> str:
        (path,) = (source / folder).glob(f"{name}.*[bm]*")
        return f"[{title_of(path)}]({folder}/{path.name})"

    text = [
        "# gpulab\n",
        "Learn GPU programming for AMD's ROCm/HIP in JupyterLab, on any machine. These pages are the course\n"
        "for reading: lessons with what they print, and exercises without answers.\n"
        "[How to start](README.md) says how to run them.\n",
        "## Lessons and their exercises\n",
    ]
    for name in lessons:
        text.append(f"- {link('notebooks', name)}")
        text += [f"    - {link(f'exercises/{id}', id)}" for id in tasks.get(name, [])]
    text.append("\n## Plans and appendices\n")
    text += [f"- {link('notebooks', name)}" for name in [*plans, *appendices]]
    text.append("\n")
    text.append(toctree("Lessons", [f"notebooks/{name}" for name in lessons]))
    text.append(toctree("Plans and appendices", [f"notebooks/{name}" for name in [*plans, *appendices]]))
    text.append(toctree("Exercises", [f"exercises/{id}/{id}" for name in lessons for id in tasks.get(name, [])]))
    text.append(toctree("gpulab", [name.removesuffix(".md") for name in TEXTS] + [f"docs/{name}" for name in docs]))
    return "\n".join(text)


def gather(source: Path) -> None:
    """Writes Sphinx's sources. A link to a file of the clone that is no page of the site becomes its plain words."""
    shutil.rmtree(source, ignore_errors=True)
    pages = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        pages[f"notebooks/{path.name}"] = lesson_page(path)
    for path in sorted((ROOT / "exercises").glob("*/*.ipynb")):
        solved = ROOT / "solutions" / path.parent.name / path.name
        pages[path.relative_to(ROOT).as_posix()] = exercise_page(path, solved)
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in TEXTS}
    for path in sorted((ROOT / "docs").glob("*.md")):
        texts[f"docs/{path.name}"] = path.read_text(encoding="utf-8")
    texts["docs/README.md"] = f"# Documentation\n\n{texts['docs/README.md']}"
    known = {(source / name).resolve() for name in (*pages, *texts)}

    def plain(text: str, name: str) -> str:
        folder = (source / name).parent

        def kept(found: re.Match[str]) -> str:
            return found[0] if (folder / unquote(found[2])).resolve() in known else found[1]

        parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)
        return "".join(part if part.startswith("```") else LINK.sub(kept, part) for part in parts)

    for name, page in pages.items():
        for cell in page.cells:
            if cell.cell_type == "markdown":
                cell.source = plain(cell.source, name)
        to_pages(page)
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(page, source / name)
    for name, text in texts.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(plain(text, name), encoding="utf-8")
    for folder in ("notebooks", "exercises", "docs"):
        for suffix in (".svg", ".gif", ".png"):
            for path in sorted((ROOT / folder).rglob(f"*{suffix}")):
                target = source / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    (source / "index.md").write_text(home(source), encoding="utf-8")
    (source / "_static").mkdir()
    (source / "_static" / "gpulab.css").write_text(STYLE, encoding="utf-8")


def slug(title: str) -> str:
    """The anchor that JupyterLab gives to a heading, so that the notebooks' own links fit."""
    return title.strip().replace(" ", "-")


def lexer() -> type:
    """Colours for cells: C++ behind `%%hip`, `%%cuda` and `%%hipcc`, Python elsewhere."""
    from pygments.lexers import CppLexer, PythonLexer  # type: ignore[attr-defined]
    from pygments.token import Comment

    class CellLexer(PythonLexer):
        name, aliases = "gpulab", ["gpulab"]

        def get_tokens_unprocessed(self, text: str, *rest: Any) -> Iterator[Any]:
            if not re.match(r"%%(hip|cuda|hipcc)\b", text):
                yield from super().get_tokens_unprocessed(text, *rest)
                return
            first, mark, code = text.partition("\n")
            yield 0, Comment.Preproc, first + mark
            for index, kind, value in CppLexer().get_tokens_unprocessed(code):
                yield index + len(first + mark), kind, value

    return CellLexer


def render(source: Path, target: Path) -> int:
    """Sphinx's exit code; its warnings are printed, and count as errors."""
    from sphinx.application import Sphinx

    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    settings = {
        "project": "gpulab",
        "html_title": f"gpulab {version}",
        "extensions": ["myst_nb"],
        "html_theme": "furo",
        "html_static_path": ["_static"],
        "html_css_files": ["gpulab.css"],
        "html_copy_source": False,
        "html_show_sphinx": False,
        "nb_execution_mode": "off",
        "nb_ipywidgets_js": {},
        "myst_enable_extensions": ["tasklist"],
        "myst_heading_anchors": 4,
        "myst_heading_slug_func": slug,
        "suppress_warnings": [
            "misc.highlighting_failure",
            "config.cache",
        ],  # code cut short on purpose; slug is a function
    }
    shutil.rmtree(target, ignore_errors=True)
    app = Sphinx(
        str(source),
        None,
        str(target),
        str(target.parent / "doctrees"),
        "html",
        confoverrides=settings,
        status=None,
        warningiserror=True,
        freshenv=True,
    )
    app.add_lexer("gpulab", lexer())
    app.build()
    return app.statuscode


class Page(HTMLParser):
    """What a page links to, loads, and can be linked to by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get(LOADED.get(tag, "")):
            self.loads.append(given[LOADED[tag]])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "shortcut icon"):
            self.loads.append(given.get("href", ""))


def broken(site: Path) -> list[str]:
    """What is wrong with the links of finished pages, a line for each."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site).as_posix()
        for link in dict.fromkeys([*page.links, *page.loads]):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{where}: it loads {link} from elsewhere")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{where}: {link} leads to no file")
            elif anchor and target in pages and not {anchor, parts.fragment} & pages[target].anchors:
                found.append(f"{where}: {link} leads to no heading")
    return found


def main() -> int:
    began = time.perf_counter()
    gather(BUILT / "source")
    if render(BUILT / "source", BUILT / "html"):
        return 1
    found = broken(BUILT / "html")
    for line in found:
        print(line)
    count = len(list((BUILT / "html").rglob("*.html")))
    print(
        f"{count} pages in {time.perf_counter() - began:.0f} s, {len(found)} broken links: "
        f"{BUILT / 'html' / 'index.html'}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
