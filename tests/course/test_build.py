"""The pipeline: sources to notebooks, releases, and that committed notebooks are what their sources make."""

import json
import re
import subprocess
import sys
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import build
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
JOBS = build.jobs()
RELEASED = [job for job in JOBS if job.released is not None]

SOURCE = """# Title

```{code-cell}
:tags: [parameters]

arch = "gfx942"
```

```{code-cell}
import gpulab

device = gpulab.use(arch)
```

```{code-cell}
:tags: [solution]

%%hip
__global__ void k(int* out) {
    // BEGIN SOLUTION
    out[0] = 4711;
    // END SOLUTION
}
```

```{code-cell}
:tags: [solution]

# BEGIN SOLUTION
grid = 4711
# END SOLUTION
```

+++ {"tags": ["solution-only"]}

It is 4711.

```{code-cell}
:tags: [grade]
:points: 3

assert True
```
"""


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    source = tmp_path / "exercise.md"
    source.write_text(SOURCE)
    return build.Job("try-me", source, Path("solutions/try-me/try-me.ipynb"), Path("exercises/try-me/try-me.ipynb"))


def test_pictures_and_programs_are_copied_beside_both_notebooks(job):
    (job.source.parent / "try-me.svg").write_text("<svg/>")
    (job.source.parent / "start.cu").write_text("int main() {}")
    built = build.build(job, run=False)
    for folder in ("exercises", "solutions"):
        assert built[Path(folder, "try-me", "try-me.svg")] == "<svg/>"
        assert built[Path(folder, "try-me", "start.cu")] == "int main() {}"
    for path, contents in built.items():
        build.write(path, contents, check=False)
    assert build.strays([job]) == []
    (job.source.parent / "start.cu").unlink()
    assert build.strays([job]) == [Path("exercises/try-me/start.cu"), Path("solutions/try-me/start.cu")]


def test_a_page_is_text_and_one_with_cells_is_built_like_a_lesson(job):
    page = job.source.parent / "pages" / "words.md"
    page.parent.mkdir()
    page.write_text("# Words\n\n[wave](02_simt.ipynb)\n")
    made = build.Job("words", page, Path("notebooks/words.ipynb"), None)
    (contents,) = build.build(made).values()
    assert nbformat.reads(contents, 4).cells[0].source == "# Words\n\n[wave](02_simt.ipynb)"
    page.write_text("# Words\n\n```{code-cell}\n1\n```\n")
    with pytest.raises(build.SourceError, match="the first code cell must be tagged parameters"):
        build.build(made)


def test_reading_gives_stable_ids_and_nbgrader_metadata(job):
    notebook = build.read(job)
    assert build.text_of(notebook) == build.text_of(build.read(job))
    assert [cell.id for cell in notebook.cells][3:] == [
        "try-me-answer-1", "try-me-answer-2", "try-me-05", "try-me-check-3",
    ]  # fmt: skip
    answer, check = notebook.cells[3].metadata.nbgrader, notebook.cells[6].metadata.nbgrader
    assert (answer.solution, answer.grade, answer.locked, "points" in answer) == (True, False, False, False)
    assert (check.solution, check.grade, check.locked, check.points) == (False, True, True, 3)
    assert notebook.metadata.language_info == {"name": "python"}


def test_release_uses_a_stub_of_the_cells_own_language_and_gives_nothing_away(job):
    released = build.release(build.read(job))
    cpp, python = released.cells[3].source, released.cells[4].source
    assert cpp == "%%hip\n__global__ void k(int* out) {\n    // YOUR CODE HERE\n}"
    assert python == "# YOUR CODE HERE\nraise NotImplementedError()"
    assert not any("4711" in cell.source for cell in released.cells)
    assert [cell.metadata.nbgrader.checksum for cell in released.cells if "nbgrader" in cell.metadata]
    assert released.cells[-1].metadata.editable is False
    assert all(not cell.get("outputs") for cell in released.cells)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (":tags: [parameters]", ":tags: [other]", "tagged parameters"),
        ("import gpulab\n", "import numpy\n", "import gpulab"),
        ("# Title", "Title", "title"),
        ("    // END SOLUTION\n", "", "END SOLUTION"),
        (":tags: [solution]\n\n# BEGIN", ":tags: [other]\n\n# BEGIN", "would be released"),
        (":tags: [grade]", ":tags: [other]", "tagged grade"),
        (":tags: [solution]", ":tags: [other]", "an exercise needs a cell tagged solution and a cell tagged grade"),
        (":tags: [grade]\n:points: 3", ":tags: [other]", "an exercise needs a cell tagged solution and a cell tagged"),
        ("    // BEGIN SOLUTION\n", "", "a solution cell needs // BEGIN SOLUTION"),
        ('arch = "gfx942"', 'device = "gfx942"', "tagged parameters and set arch"),
        ("gpulab.use(arch)", "gpulab.use()", "the second code cell must start with"),
        (":tags: [grade]", ":tags: [grade, raises-exception]", "papermill"),
        (":points: 3", "points: 3", "write `:points: 3`, not `points: 3`"),
        (":tags: [parameters]\n\n", ":tags: [parameters]\n\ntags: [other]\n", r"write `:tags: \[other\]`"),
        (":points: 3", ":points: three", "a whole number above 0, not 'three'"),
        (":tags: [grade]", ":tags: grade", r"an option of a cell .*'grade' is not of type"),
        (":tags: [grade]", ":tags: [grade", "an option of a cell cannot be read"),
        (":points: 3", ":points: 0", "a whole number above 0, not 0"),
        (":points: 3", ":points: 1.5", "a whole number above 0, not 1.5"),
        ("```{code-cell}\nimport", "```{code-cell}\n:points: 2\n\nimport", "only a cell tagged grade has points"),
    ],
)
def test_a_source_that_breaks_a_rule_is_refused(job, old, new, complaint):
    assert old in SOURCE
    job.source.write_text(SOURCE.replace(old, new))
    with pytest.raises(build.SourceError, match=complaint):
        build.read(job)


def test_a_source_in_another_encoding_is_named_with_its_line(job):
    job.source.write_bytes("# Über\n\nzwölf\n".encode("latin-1"))
    with pytest.raises(build.SourceError, match=r"\.md: line 1 is not text in UTF-8"):
        build.read(job)


def test_a_mark_and_line_ends_of_windows_change_nothing(job):
    job.source.write_text(SOURCE, newline="\n")
    plain = build.read(job)
    job.source.write_bytes(SOURCE.replace("\n", "\r\n").encode("utf-8-sig"))
    assert build.read(job) == plain


def test_two_cells_of_code_are_enough(job):
    """The parameters, and the import."""
    text = SOURCE[: SOURCE.index("```{code-cell}", SOURCE.index("import gpulab"))]
    job.source.write_text(text)
    lesson = build.Job(job.name, job.source, job.executed, None)
    assert [cell.cell_type for cell in build.read(lesson).cells].count("code") == 2


def test_unknown_names_are_refused():
    with pytest.raises(build.SourceError, match="no source named nonsense; there are: 00_welcome"):
        build.jobs(["nonsense"])
    assert [job.name for job in build.jobs(["02"])] == ["02_simt"]


def test_without_a_source_nothing_is_built(monkeypatch, capsys):
    """The exit code is 2, as of wrong options; 1 stands for files that differ."""
    assert build.main(["--only", "nonsense"]) == 2
    assert "no source named nonsense" in capsys.readouterr().out
    monkeypatch.setattr(build, "jobs", lambda only: [])
    assert build.main([]) == 2
    assert capsys.readouterr().out == f"no sources found below {build.COURSE}\n"


def test_difference_shows_what_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (tmp_path / "a").write_text("one\ntwo\n")
    assert build.difference(Path("a"), "one\ntwo\n") == ""
    assert "-two\n+three" in build.difference(Path("a"), "one\nthree\n")
    assert "+one" in build.difference(Path("missing"), "one\n")


def test_a_long_difference_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (tmp_path / "x.ipynb").write_text("a" * 500 + "\n" + "b\n" * 50)
    lines = build.difference(Path("x.ipynb"), "c" * 500 + "\n" + "d\n" * 50).split("\n")
    assert len(lines) == 20
    assert lines[3] == "-" + "a" * 199


def test_a_built_file_is_written_or_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    path = Path("folder", "x.ipynb")

    def wrote(text, check):
        count = build.write(path, text, check)
        return count, capsys.readouterr().out, build.contents_of(path)

    count, out, there = wrote("one\n", check=True)
    assert (count, there) == (1, "")
    assert "differs from what its source makes" in out
    assert out.endswith(f"+one\n{path}: differs\n")
    assert wrote("one\n", check=False) == (0, f"{path}: built\n", "one\n")
    assert wrote("one\n", check=False) == (0, f"{path}: unchanged\n", "one\n")
    assert wrote("one\n", check=True) == (0, f"{path}: unchanged\n", "one\n")
    assert wrote("two\n", check=False) == (0, f"{path}: built\n", "two\n")
    count, out, there = wrote("one\n", check=True)
    assert (count, there) == (1, "two\n")


def test_difference_compares_that_there_is_a_picture_not_its_bytes(tmp_path, monkeypatch):
    """They depend on library versions and rounding; `make notebooks` still writes a new picture."""
    monkeypatch.setattr(build, "ROOT", tmp_path)
    one, other = '{\n "image/png": "iVBORw0KGgo=",\n "a": 1\n}', '{\n "image/png": "iVBORw1\\n",\n "a": 1\n}'
    (tmp_path / "a").write_text(one)
    assert build.difference(Path("a"), other) == ""
    assert build.contents_of(Path("a")) != other
    assert '-"image/png"' in build.difference(Path("a"), '{\n "a": 1\n}').replace(" ", "")
    assert '-"a":1' in build.difference(Path("a"), other.replace("1\n}", "2\n}")).replace(" ", "")


def test_check_rebuilds_and_finds_no_difference():
    command = [sys.executable, str(ROOT / "course" / "build.py"), "--check", "--only"]
    done = subprocess.run([*command, "first-fill"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "solutions/first-fill/first-fill.ipynb: unchanged" in done.stdout
    assert subprocess.run([*command, "no-such"], capture_output=True, check=False).returncode == 2


def test_check_fails_where_a_built_file_differs(job, monkeypatch, capsys):
    """The parent's part of it: what comes from the workers is compared, and nothing is written."""

    class Pool:
        def __init__(self, count):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def submit(self, work, job, texts):
            result = Future()
            result.set_result({job.executed: "new\n"})
            return result

    monkeypatch.setattr(build, "workers", Pool)
    monkeypatch.setattr(build, "jobs", lambda only: [job])
    (build.ROOT / job.executed).parent.mkdir(parents=True)
    (build.ROOT / job.executed).write_text("old\n")
    assert build.main(["--check"]) == 1
    assert "-old\n+new" in capsys.readouterr().out
    assert (build.ROOT / job.executed).read_text() == "old\n"
    (build.ROOT / "notebooks").mkdir()
    (build.ROOT / "notebooks" / "stray.ipynb").write_text("")
    assert build.main([]) == 1
    assert (build.ROOT / job.executed).read_text() == "new\n"
    assert "stray.ipynb: no source makes it" in capsys.readouterr().out


@pytest.fixture
def built(monkeypatch, tmp_path):
    """Three sources of a course with a picture: the second breaks a rule, the third ends in another error. What is
    asked of workers is kept: how many, then each source and whether texts alone are built."""
    asked = []
    names = ("02_simt", "03_more", "saxpy-guard")
    todo = [build.Job(name, tmp_path / f"{name}.md", Path(f"notebooks/{name}.ipynb"), None) for name in names]
    results = (
        {Path("notebooks/02_simt.ipynb"): "one\n"},
        build.SourceError("it breaks a rule"),
        ValueError("no number"),
    )

    @contextmanager
    def workers(count):
        asked.append(count)
        yield SimpleNamespace(submit=submit)

    def submit(work, job, texts):
        assert work is build.build
        asked.append((job.name, texts))
        done, result = Future(), results[names.index(job.name)]
        done.set_exception(result) if isinstance(result, Exception) else done.set_result(result)
        return done

    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "workers", workers)
    monkeypatch.setattr(build, "as_completed", list)
    monkeypatch.setattr(build, "pictures", lambda: {Path("notebooks/wave.svg"): "<svg/>\n"})
    monkeypatch.setattr(build, "strays", lambda found: [Path("notebooks/old.ipynb")] if found == todo else None)
    monkeypatch.setattr(build, "jobs", lambda only: [job for job in todo if not only or job.name in only])
    return asked


def printed(capsys):
    return re.sub(r"in \d+ s", "in 0 s", capsys.readouterr().out).splitlines()


def test_what_a_build_prints(built, capsys):
    assert build.main([]) == 1
    assert built == [2, ("02_simt", False), ("03_more", False), ("saxpy-guard", False)]
    assert printed(capsys) == [
        "notebooks/old.ipynb: no source makes it; remove it", "notebooks/wave.svg: built",
        "notebooks/02_simt.ipynb: built", "03_more: it breaks a rule", "saxpy-guard: ValueError: no number",
        "3 sources in 0 s, 3 problems",
    ]  # fmt: skip
    texts = [build.contents_of(Path("notebooks", name)) for name in ("02_simt.ipynb", "wave.svg")]
    assert texts == ["one\n", "<svg/>\n"]
    built.clear()
    assert build.main(["--texts", "--only", "02_simt"]) == 0
    assert built == [1, ("02_simt", True)]
    assert printed(capsys) == ["notebooks/02_simt.ipynb: unchanged", "1 sources in 0 s, 0 problems"]


def test_what_a_comparison_prints(built, capsys, tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "wave.svg").write_text("<svg/>\n")
    assert build.main(["--check"]) == 1
    assert printed(capsys) == [
        "notebooks/old.ipynb: no source makes it; remove it", "notebooks/wave.svg: unchanged",
        "notebooks/02_simt.ipynb: differs from what its source makes; run `make notebooks`",
        "--- committed", "+++ built", "@@ -0,0 +1 @@", "+one", "notebooks/02_simt.ipynb: differs",
        "03_more: it breaks a rule", "saxpy-guard: ValueError: no number", "3 sources in 0 s, 4 problems",
    ]  # fmt: skip
    with pytest.raises(SystemExit):
        build.main(["--check", "--texts"])
    assert "not allowed with argument" in capsys.readouterr().err


def test_workers_are_processes_that_start_afresh():
    with build.workers(3) as pool:
        assert (pool._max_workers, pool._mp_context.get_start_method()) == (3, "spawn")


def test_how_long_and_in_how_many_processes_a_build_runs():
    assert (build.PROCESSES, build.CELL_SECONDS) == (2, 300)


def test_texts_change_and_outputs_stay_where_the_code_is_as_it_was(job):
    with pytest.raises(build.SourceError, match="with outputs; build it without --texts"):
        build.build(job, texts=True)
    executed = build.read(job)
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, 1):
        cell.outputs, cell.execution_count = [nbformat.v4.new_output("stream", text=f"{number}\n")], number
    build.write(job.executed, build.text_of(executed), check=False)
    job.source.write_text(SOURCE.replace("It is 4711.", "It is that number.\n\n+++\n\nA further text."))
    built = nbformat.reads(build.build(job, texts=True)[job.executed], 4)
    assert "It is that number." in [cell.source for cell in built.cells]
    found = [(cell.outputs[0].text, cell.execution_count) for cell in built.cells if cell.cell_type == "code"]
    assert found == [(f"{number}\n", number) for number in range(1, len(code) + 1)]
    job.source.write_text(SOURCE.replace("grid = 4711", "grid = 4712"))
    with pytest.raises(build.SourceError, match="its code has changed; build it without --texts"):
        build.build(job, texts=True)


def test_outputs_are_portable(tmp_path):
    """A run keeps no traceback paths, no times and no colours."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("print(1)\nprint(2)"),
            nbformat.v4.new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]}),
        ]
    )
    executed = build.execute(notebook, tmp_path)
    assert executed.cells[0].outputs[0].text == "1\n2\n"
    assert executed.cells[0].execution_count == 1
    assert executed.cells[1].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert "execution" not in executed.cells[0].metadata
    assert executed.metadata.language_info == {"name": "python"}


def test_no_notebook_without_a_source():
    assert build.strays(JOBS) == []


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_committed_notebooks_have_the_text_of_their_sources(job):
    """Cells and metadata; that the outputs are right is what nbval tests."""
    built = build.build(job, run=False)
    if job.released is not None:
        assert build.difference(job.released, built[job.released]) == ""
    committed = nbformat.read(ROOT / job.executed, as_version=4)
    assert job.is_page or any(cell.get("outputs") for cell in committed.cells), "it was not executed"
    for cell in committed.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    assert build.text_of(committed) == built[job.executed]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_committed_outputs_tell_nothing_of_the_machine_they_came_from(job):
    text = (ROOT / job.executed).read_text()
    assert str(Path.home()) + "/" not in text
    assert str(ROOT) not in text
    for cell in json.loads(text)["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr", "nbgrader gives no points to a cell that writes to stderr"
