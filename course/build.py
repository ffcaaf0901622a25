"""Builds every notebook from the MyST sources in course/: `python course/build.py [--check|--texts] [--only NAME ...]`.

    course/lessons/NN_name.md            -> notebooks/NN_name.ipynb          executed, outputs stored
    course/pages/name.md                 -> notebooks/name.ipynb             text alone, or an appendix
    course/exercises/ID/exercise.md      -> solutions/ID/ID.ipynb            with the solution, executed
                                         -> exercises/ID/ID.ipynb            released: stubs in its place, no outputs

Pictures (*.svg, in course/pictures those of lessons) and, in an exercise's folder, programs to start from (*.cu)
are copied beside the notebooks.

`read` turns a source into a notebook with minimal, stable metadata; `execute` runs it on virtual devices and keeps
what is the same on every machine; `release` applies the preprocessors that nbgrader's configuration names too.
With --check nothing is written: the exit code is 1 and the names are printed where a built file differs.
With --texts nothing is run: a notebook whose code is as it was gets the new text, and keeps its outputs.
course/README.md explains the marks in the sources.
"""

from __future__ import annotations

import argparse
import difflib
import multiprocessing
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat

COURSE = Path(__file__).resolve().parent
ROOT = COURSE.parent
PROCESSES = 2
CELL_SECONDS = 300
ANSI = re.compile(r"\x1b\[[0-9;]*m")
DEVICE_ADDRESS = re.compile(r"0x[0-9a-f]{12}\b")
"""Device addresses differ from one process to the next; nbval makes the same replacement
(tests/course/nbval_sanitize.cfg)."""
ASSETS = (".svg", ".cu")
"""Files beside an exercise that are copied to its notebooks."""
WIDGET = "application/vnd.jupyter.widget-view+json"
PICTURES = re.compile(r'("image/png": )"[^"]*"')


class SourceError(Exception):
    """A MyST source that breaks the course's rules."""


def source_text(source: Path) -> str:
    """A source's text. Raises SourceError for what is not UTF-8; a mark at the beginning is left out."""
    data = source.read_bytes()
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        where = source.relative_to(ROOT) if source.is_relative_to(ROOT) else source
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{where}: line {line} is not text in UTF-8; save the file in it") from None


@dataclass(frozen=True)
class Job:
    """One source and what is built from it (paths relative to the clone)."""

    name: str
    source: Path
    executed: Path
    released: Path | None

    @property
    def is_page(self) -> bool:
        """Text without code: nothing is executed. An appendix has cells, and is built like a lesson."""
        return self.source.parent.name == "pages" and "```{code-cell}" not in source_text(self.source)

    @property
    def assets(self) -> list[Path]:
        """Files beside an exercise's source that its notebooks need beside them."""
        if self.released is None:
            return []
        return sorted(path for path in self.source.parent.iterdir() if path.suffix in ASSETS)


def jobs(only: list[str] | None = None) -> list[Job]:
    """All sources, or those named: "02_simt", "02", "saxpy-guard"."""
    found = [
        Job(path.stem, path, Path("notebooks", f"{path.stem}.ipynb"), None)
        for path in sorted((COURSE / "lessons").glob("[0-9][0-9]_*.md"))
    ]
    for path in sorted((COURSE / "pages").glob("*.md")):
        found.append(Job(path.stem, path, Path("notebooks", f"{path.stem}.ipynb"), None))
    for path in sorted((COURSE / "exercises").glob("*/exercise.md")):
        id = path.parent.name
        found.append(Job(id, path, Path("solutions", id, f"{id}.ipynb"), Path("exercises", id, f"{id}.ipynb")))
    if not only:
        return found
    chosen = [job for job in found if job.name in only or job.name.split("_")[0] in only]
    unknown = [name for name in only if not any(name in (job.name, job.name.split("_")[0]) for job in found)]
    if unknown:
        raise SourceError(
            f"no source named {', '.join(unknown)}; there are: {', '.join(job.name for job in found)} "
            "(course/lessons/NN_name.md, course/pages/name.md, course/exercises/ID/exercise.md)"
        )
    return chosen


def read(job: Job) -> nbformat.NotebookNode:
    """The notebook of a source: cells with derived ids, nbgrader metadata where tags ask for it."""
    import jupytext
    from jupytext.myst import MystMetadataParsingError

    text = source_text(job.source)
    try:
        raw = jupytext.reads(text, fmt="md:myst")
    except (MystMetadataParsingError, nbformat.ValidationError) as error:  # of options, which are YAML
        first = str(error).strip().splitlines()[0].rstrip(".")
        raise SourceError(
            f"{job.source.relative_to(ROOT)}: an option of a cell cannot be read: {first}; write `:tags: [solution]`, "
            "for example"
        ) from None
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = {
        "gpulab": {"source": job.source.relative_to(ROOT).as_posix(), "built_by": "course/build.py"},
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    graded = 0
    for number, cell in enumerate(raw.cells):
        tags = list(cell.metadata.get("tags", ()))
        new = (nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell)(cell.source)
        new.id = f"{re.sub('[^a-zA-Z0-9_-]', '-', job.name)[:56]}-{number:02d}"
        new.metadata = {"tags": tags} if tags else {}
        if "points" in cell.metadata and "grade" not in tags:
            raise SourceError(f"{job.source.relative_to(ROOT)}: only a cell tagged grade has points")
        if {"solution", "grade"} & set(tags):
            if job.released is None:
                raise SourceError(f"{job.source.name}: a lesson has no solution or grade cells")
            graded += 1
            kind = "answer" if "solution" in tags else "check"
            new.id = f"{job.name[:56]}-{kind}-{graded}"
            new.metadata["nbgrader"] = nbgrader_metadata(new.id, kind, points_of(job, cell))
        notebook.cells.append(new)
    check_source(job, notebook)
    return notebook


def points_of(job: Job, cell: nbformat.NotebookNode) -> int:
    """What a graded cell is worth, 1 if it does not say. Raises SourceError for anything but a whole number above 0."""
    points = cell.metadata.get("points", 1)
    if not isinstance(points, int) or isinstance(points, bool) or points < 1:
        raise SourceError(f"{job.source.relative_to(ROOT)}: points are a whole number above 0, not {points!r}")
    return points


def nbgrader_metadata(grade_id: str, kind: str, points: int) -> dict:
    """What nbgrader keeps in a cell: an "answer" is written by learners, a "check" is locked and gives points."""
    metadata = {
        "cell_type": "code",
        "grade": kind == "check",
        "grade_id": grade_id,
        "locked": kind == "check",
        "schema_version": 3,
        "solution": kind == "answer",
        "task": False,
    }
    return metadata | ({"points": points} if kind == "check" else {})


def check_source(job: Job, notebook: nbformat.NotebookNode) -> None:
    """The rules that hold for every notebook of the course. Raises SourceError."""

    def refuse(reason: str) -> None:
        raise SourceError(f"{job.source.relative_to(ROOT)}: {reason}")

    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        option = re.match(r"(points|tags):(.*)", cell.source)
        if option:  # Python would take it for the declaration of a variable, and do nothing
            refuse(f"an option of a cell begins with a colon: write `:{option[1]}:{option[2]}`, not `{option[0]}`")
    if not notebook.cells[0].source.startswith("# "):
        refuse("the first cell must be a title")
    if job.is_page:
        return
    tags = [set(cell.metadata.get("tags", ())) for cell in code]
    if len(code) < 2 or "parameters" not in tags[0] or not re.search(r"^arch = ", code[0].source, re.M):
        refuse("the first code cell must be tagged parameters and set arch")
    if not code[1].source.startswith("import gpulab") or "gpulab.use(arch)" not in code[1].source:
        refuse("the second code cell must start with `import gpulab` and call gpulab.use(arch)")
    if any("raises-exception" in each for each in tags):
        refuse("papermill refuses cells tagged raises-exception: catch the error in the cell and print it")
    if job.released is not None:
        if not any("solution" in each for each in tags) or not any("grade" in each for each in tags):
            refuse("an exercise needs a cell tagged solution and a cell tagged grade")
        for cell, each in zip(code, tags, strict=True):
            if "solution" in each and not ("BEGIN SOLUTION" in cell.source and "END SOLUTION" in cell.source):
                refuse("a solution cell needs // BEGIN SOLUTION and // END SOLUTION")
            if "BEGIN SOLUTION" in cell.source and "solution" not in each:
                refuse("BEGIN SOLUTION outside of a cell tagged solution would be released")


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Runs all cells in a fresh kernel, with `folder` as working directory, and makes the outputs portable.

    Raises nbclient.exceptions.CellExecutionError for a failing cell that is not tagged raises-exception.
    """
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory(prefix="gpulab-build-") as scratch:
        environment = {
            **os.environ,
            "GPULAB_PROGRESS": str(Path(scratch, "progress.json")),
            "GPULAB_LIBRARY": "virtual",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "IPYTHONDIR": str(Path(scratch, "ipython")),
        }
        environment.pop("JPY_SESSION_NAME", None)  # as of a kernel that this is run from
        folder.mkdir(parents=True, exist_ok=True)
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
            coalesce_streams=True,
            store_widget_state=False,
        )
        client.execute(env=environment)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            for part, key in texts_of(output):
                part[key] = DEVICE_ADDRESS.sub("0x7f0000010000", part[key])
            # An instrument's model lives as long as its kernel. Opened before it is run, JupyterLab would show an
            # error instead of it; without this entry it shows the picture, as GitHub and nbconvert do.
            output.get("data", {}).pop(WIDGET, None)
            if output.output_type == "error":
                output.traceback = [ANSI.sub("", f"{output.ename}: {output.evalue}")]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def texts_of(output: nbformat.NotebookNode) -> list[tuple[dict, str]]:
    """Where an output has text, as (mapping, key)."""
    found = [(output, key) for key in ("text", "evalue") if isinstance(output.get(key), str)]
    data = output.get("data", {})
    return found + [(data, key) for key in data if key.startswith("text/") and isinstance(data[key], str)]


def release(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The learner's version of an exercise, made as nbgrader's generate_assignment makes it."""
    from gpulab.classroom.assignments import PREPROCESSORS

    resources: dict = {}
    for preprocessor in PREPROCESSORS:
        notebook, resources = preprocessor().preprocess(notebook, resources)
    for cell in notebook.cells:
        if "SOLUTION" in cell.source:
            raise SourceError(f"a solution mark is left in the released cell {cell.id}")
    return notebook


def text_of(notebook: nbformat.NotebookNode) -> str:
    """The file's contents: the same notebook is always the same bytes."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4, indent=1, sort_keys=True, ensure_ascii=False).rstrip("\n") + "\n"


def with_outputs(job: Job, notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with the outputs of the one that was built before. Raises SourceError if its code has changed."""
    where = job.source.relative_to(ROOT)
    if not (ROOT / job.executed).is_file():
        raise SourceError(f"{where}: there is no {job.executed.as_posix()} with outputs; build it without --texts")
    before = nbformat.read(ROOT / job.executed, as_version=4)
    old, new = ([cell for cell in each.cells if cell.cell_type == "code"] for each in (before, notebook))
    if [cell.source for cell in old] != [cell.source for cell in new]:
        raise SourceError(f"{where}: its code has changed; build it without --texts")
    for cell, executed in zip(new, old, strict=True):
        cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
    return notebook


def build(job: Job, run: bool = True, texts: bool = False) -> dict[Path, str]:
    """Path (relative to the clone) -> contents of all that is built from one source. `texts`: nothing is run.

    Raises SourceError: `texts`, and there are no outputs of the same code.
    """
    notebook = read(job)
    built = {}
    if job.released is not None:
        built[job.released] = text_of(release(nbformat.from_dict(notebook)))
        for path in job.assets:
            for folder in (job.released.parent, job.executed.parent):
                built[folder / path.name] = path.read_text(encoding="utf-8")
    if texts and not job.is_page:
        notebook = with_outputs(job, notebook)
    elif run and not job.is_page:
        notebook = execute(nbformat.from_dict(read(job)), ROOT / job.executed.parent)
    built[job.executed] = text_of(notebook)
    return built


def strays(found: list[Job]) -> list[Path]:
    """Files in the built folders that no source makes."""
    expected = {path for job in found for path in (job.executed, job.released) if path is not None}
    for job in found:
        if job.released is not None:
            folders = (job.executed.parent, job.released.parent)
            expected |= {folder / asset.name for folder in folders for asset in job.assets}
    expected |= set(pictures())
    there = {
        path.relative_to(ROOT)
        for folder in ("notebooks", "solutions", "exercises")
        for suffix in (".ipynb", *ASSETS)
        for path in (ROOT / folder).rglob(f"*{suffix}")
        if ".ipynb_checkpoints" not in path.parts
    }
    return sorted(there - expected)


def pictures() -> dict[Path, str]:
    """Pictures of lessons and pages: path (relative to the clone) -> contents."""
    found = sorted((COURSE / "pictures").glob("*.svg"))
    return {Path("notebooks", path.name): path.read_text(encoding="utf-8") for path in found}


def contents_of(path: Path) -> str:
    """What a built file has now; "" if there is none."""
    return (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""


def difference(path: Path, contents: str) -> str:
    """ "" if the file has these contents, else the first differing lines.

    That a picture is there is compared, not its bytes: they depend on the versions of compression and font libraries
    and on the processor's rounding. What it shows stands as numbers in the output below it, which are compared.
    """
    there = contents_of(path)
    there, contents = (PICTURES.sub(r'\1"..."', text) for text in (there, contents))
    if there == contents:
        return ""
    lines = difflib.unified_diff(there.splitlines(), contents.splitlines(), "committed", "built", n=1, lineterm="")
    return "\n".join(line[:200] for line in list(lines)[:20])


def write(path: Path, contents: str, check: bool) -> int:
    """Writes one built file, or with `check` only compares it. Says what it did; returns the number of problems."""
    changed = difference(path, contents) if check else contents_of(path) != contents
    if changed and check:
        print(f"{path}: differs from what its source makes; run `make notebooks`\n{changed}")
    elif changed:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(contents, encoding="utf-8", newline="\n")
    print(f"{path}: {'differs' if changed and check else 'built' if changed else 'unchanged'}", flush=True)
    return bool(changed and check)


def workers(count: int) -> ProcessPoolExecutor:
    """So many processes for work that takes long. They start afresh: a process that has run kernels has threads, which
    a copy of it would lack."""
    return ProcessPoolExecutor(max_workers=count, mp_context=multiprocessing.get_context("spawn"))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build notebooks/, solutions/ and exercises/ from course/.")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="write nothing; fail where a built file differs")
    how.add_argument("--texts", action="store_true", help="run nothing: new text around code that is as it was")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="lessons (02_simt or 02) or exercises (saxpy-guard)")
    chosen = parser.parse_args(arguments)
    try:
        todo = jobs(chosen.only)
    except SourceError as error:
        print(error)
        return 2
    if not todo:
        print(f"no sources found below {COURSE}")
        return 2
    wrong = 0
    if not chosen.only:
        for path in strays(todo):
            wrong += 1
            print(f"{path}: no source makes it; remove it")
        for path, contents in pictures().items():
            wrong += write(path, contents, chosen.check)
    began = time.perf_counter()
    with workers(min(PROCESSES, len(todo))) as pool:
        results = {pool.submit(build, job, texts=chosen.texts): job for job in todo}
        for result in as_completed(results):
            job = results[result]
            try:
                built = result.result()
            except Exception as error:
                wrong += 1
                print(f"{job.name}: {'' if isinstance(error, SourceError) else f'{type(error).__name__}: '}{error}")
                continue
            for path, contents in built.items():
                wrong += write(path, contents, chosen.check)
    print(f"{len(todo)} sources in {time.perf_counter() - began:.0f} s, {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
