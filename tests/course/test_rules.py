"""Parts of course/check.py and course/build.py, each alone: numbers at their limits, texts that have mistakes."""

import dataclasses
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import build
import check as course
import nbformat
import pytest

from gpulab.errors import CheckError
from gpulab.grading.answers import WrongAnswer
from gpulab.grading.case import combinations
from gpulab.grading.exercise import Cause, Requirement, multiple_of
from gpulab.grading.library import load
from gpulab.grading.verdict import Verdict, VerdictRow
from tests.grading.test_judge import tiny


def said(complaints):
    return [(each.where, each.what) for each in complaints]


# ------------------------------------------------------------------------------------------------------------- texts


def test_a_complaint_in_words():
    assert str(course.Complaint("a.md", "it lacks b", "write b")) == "a.md: it lacks b; write b"
    assert str(course.Complaint("a.md", "it lacks b.", "write b")) == "a.md: it lacks b; write b"


def test_anchors_and_passages():
    text = "# One two\n\na\n\n```\n# no heading\n```\n\n## Three\nb\n####### none\n\n## What you have learned\n\nc\n"
    assert course.anchors(text) == {"One-two", "Three", "What-you-have-learned"}
    found = [" ".join(each.split()) for each in course.passages(text)]
    assert [each for each in found if each] == ["# One two a", "## Three b ####### none"]
    cells = 'a\n```{code-cell}\n1\n```\nb\n+++ {"tags": []}\nc\n~~~\nd\n~~~\n'
    assert [" ".join(each.split()) for each in course.passages(cells)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("run.gpu_map()", ["run.gpu_map"]), ("gpulab.trace(k)", ["gpulab.trace"]), ("other.trace(k)", []),
        ("gpulab.checked()", ["gpulab.checked"]), ("gpulab.check('x', k)", []), ("trace(k)", []),
        ("if x:\n    run.gpu_map()", []), ("try:\n    gpulab.trace(k)\nexcept E:\n    pass", []),
        ("for x in y:\n    run.gpu_map()\n    gpulab.trace(k)", ["run.gpu_map", "gpulab.trace"]),
        ("a(run.gpu_map().show())", ["run.gpu_map"]),
    ],
)  # fmt: skip
def test_what_a_real_gpu_cannot_do(code, found):
    assert list(course.virtual_only(code)) == found


def test_terms_of_the_glossary():
    rows = (
        "| word, words; term (of HIP) | A sentence. | [05](a.ipynb) |\n| SM | CU: WGP | – | x | [07](b.ipynb) |\n"
        "| word | again | [03](c.ipynb) |\n| `code` | x | [01](d.ipynb) |\n| – | x | [01](d.ipynb) |\nno row\n"
    )
    assert course.terms(rows) == {"word": "03", "words": "05", "term": "05", "CU": "07", "WGP": "07"}


def test_where_a_word_stands():
    found = course.of_wording("a.md", "x" * 60 + " " + "y " * 30 + "The lane wants it. " + "z " * 30)
    ((where, what),) = said(found)
    assert where == "a.md"
    before, after = "y " * 18 + "The ", " it. " + "z " * 8
    assert what == f"it says 'lane wants': {(before + 'lane wants' + after).strip()!r}"
    assert not list(course.of_wording("a.md", "`the lane wants it`"))


HINTS = ("Use `x = y + 1;`.", "Look at `run.source()`.", "Then `if (a) b();` and nothing else.")
RIGHT = {"usual": "void k()\n{ x = y  + 1; /* z = 1; */ if (a) { b(); } }"}


@pytest.mark.parametrize(
    ("hint", "complaint"),
    [
        (HINTS[0], ""), (HINTS[1], ""), (HINTS[2], ""),
        ("Use `z = 1;`.", "no right answer has the code of a hint: z = 1;"),
        ("Use `x = y`.", ""), ("Use `= y + 11;`.", "no right answer has the code of a hint: = y + 11;"),
        ("Look at `run.sauce()`.", "no right answer has the code of a hint: run.sauce()"),
        ("Use a[i].", "a hint has code that is not between backticks: a["),
        ("Use a && b.", "a hint has code that is not between backticks: &&"),
        ("A plain sentence.", ""),
    ],
)  # fmt: skip
def test_hints(hint, complaint):
    assert said(course.of_hints("x", [hint], RIGHT)) == ([("x", complaint)] if complaint else [])


def test_pictures_before_the_solution():
    solution = "\n:tags: [solution]\n"
    for before, after, found in (
        ('gpulab.exercise("a")', "", True), ('gpulab.exercise("b")', "", False), ("", 'gpulab.exercise("a")', False),
        ("![words](x.svg)", "", True), ("![](x.svg)", "", False), ("[words](x.svg)", "", False),
    ):  # fmt: skip
        assert course.picture(before + solution + after, "a") is found


# --------------------------------------------------------------------------------------------------------- exercises


def text_for(exercise):
    return f"__global__ void\n{exercise.kernel}({exercise.signature})\n"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"cases": combinations(n=(0, 1, 9), block=(8,))}, []),
        ({"cases": combinations(n=(0, 9), block=(8,))}, ["its cases lack n = 0 or n = 1"]),
        ({"cases": combinations(n=(1, 9), block=(8,))}, ["its cases lack n = 0 or n = 1"]),
        ({"cases": combinations(n=(0, 1, 16), block=(1,))}, ["every n is a multiple of the block"]),
        ({"cases": combinations(n=(0, 1, 16))}, ["every n is a multiple of the block"]),
        ({"cases": combinations(n=(16,), block=(8,)), "fixed_sizes": "n is 16"}, []),
        ({"cases": combinations(m=(16,), block=(8,)), "smallest": {"m": 1}}, []),
        ({"cases": combinations(n=(0, 1, 9), block=(8,)), "promises": (multiple_of(8),)},
         ["the text does not say “multiple of 8”"]),
    ],
)  # fmt: skip
def test_sizes_that_tell_mistakes_apart(changes, what):
    exercise = tiny(**changes)
    assert [each for _, each in said(course.of_kernels(exercise, text_for(exercise)))] == what


def test_signatures_stand_in_the_text():
    exercise = tiny(cases=combinations(n=(0, 1, 9), block=(8,)))
    bounds = text_for(exercise).replace("void\n", "void __launch_bounds__(64) ")
    assert not list(course.of_kernels(exercise, bounds))
    ((where, what),) = said(course.of_kernels(exercise, text_for(exercise).replace("const ", "")))
    assert (where, what) == ("exercise tiny", "the text has no `__global__ void tens(int n, const int* x, int* out)`")


CAUSE = Cause("own", "it is so", lambda seen: False, "Why.", "What next.")
FEW = Requirement("few", "few loads", lambda seen: "")
EXERCISE = tiny(causes=(CAUSE,), requirements=(FEW,))
WRONG = WrongAnswer("tiny", "bad", "", "own", "text")
ROWS = (VerdictRow("fails with", "n = 1"), VerdictRow("likely cause", "it is so"), VerdictRow("read", "A section"),
        VerdictRow("stuck?", 'gpulab.hint("tiny")'))  # fmt: skip
REJECTED = Verdict("tiny", "wrong", "Not yet", ROWS, "own", smallest={"n": 1}, case=None)


def of(verdict, wrong=WRONG, explained=False, exercise=EXERCISE):
    return [
        what.split(":")[0]
        for _, what in said(course.of_verdict(exercise, course.Judged("x", verdict, wrong, explained)))
    ]


def test_what_a_verdict_has_to_say():
    assert of(REJECTED) == []
    assert of(dataclasses.replace(REJECTED, cause="other")) == ["it is rejected for 'other' instead of 'own'"]
    assert of(dataclasses.replace(REJECTED, cause="")) == ["it is rejected for 'no known cause' instead of 'own'"]
    assert of(Verdict("tiny", "passed", "Passed")) == ["a wrong answer passes"]
    assert of(Verdict("tiny", "passed", "Passed"), None) == []
    assert of(REJECTED, None) == ["a right answer is rejected"]
    for number, part in enumerate(("'fails with'", "'it is so'", "'A section'", "'gpulab.hint(\"tiny\")'")):
        rows = (*ROWS[:number], *ROWS[number + 1 :])
        assert of(dataclasses.replace(REJECTED, rows=rows)) == [f"the report does not say {part}"]
    assert of(dataclasses.replace(REJECTED, smallest={})) == ["the smallest failing input is {}"]
    drawn = ["a failing case is drawn where output is wrong, and only there"]
    assert of(REJECTED, explained=True) == drawn
    few = dataclasses.replace(WRONG, cause="few")
    rows = (*ROWS[:1], VerdictRow("required", "few loads"), *ROWS[2:])
    missed = dataclasses.replace(REJECTED, status="requirement", cause="few", rows=rows)
    assert of(missed, few, explained=True) == []


def test_the_size_of_a_picture(monkeypatch):
    """120,000 bytes of a file, 200,000 of a notebook are still allowed."""
    assert (course.MOST_BYTES, course.MOST_DRAWN) == (120_000, 200_000)
    array = SimpleNamespace(wrong=0, never=0, beside=())
    for bytes_, drawn, stopped, wrong, what in (
        (120_000, 200_000, "", 1, []), (120_001, 200_000, "", 1, ["the verdict takes 120001 bytes in a file"]),
        (100, 200_001, "", 1, ["the picture of the failing case takes 200001 bytes"]),
        (100, 100, "race", 0, []), (100, 100, "", 0, ["the picture of the failing case shows nothing that is wrong"]),
    ):  # fmt: skip
        array = SimpleNamespace(wrong=wrong, never=0, beside=())
        verdict = SimpleNamespace(
            as_dict=lambda size=bytes_: "x" * (size - 2), case=SimpleNamespace(stopped=stopped, arrays=(array,)),
            picture=lambda size=drawn: SimpleNamespace(message=lambda: "x" * (size - 2)),
        )  # fmt: skip
        monkeypatch.setattr(course, "Verdict", SimpleNamespace(from_dict=lambda plain, one=verdict: one))
        assert [each for _, each in said(course.of_picture("x", verdict))] == what
    monkeypatch.setattr(course, "Verdict", SimpleNamespace(from_dict=lambda plain: None))
    assert "not the same after its way through a file" in said(course.of_picture("x", verdict))[0][1]


HIP = ["%%hip\nfirst();\n", "x = 1", "%%hip --name k\n__global__ void k() {\n}\n"]
TRITON = ["import triton", "@triton.jit\ndef blend(x):\n    pass\n", "blend[1,](x)"]
STUB = Verdict("x", "wrong", "Not yet", (), "nothing-written")


@pytest.mark.parametrize(
    ("id", "cells", "verdict", "source", "said"),
    [
        ("first-fill", HIP, STUB, "__global__ void k() {\n}\n", ""),
        ("triton-blend", TRITON, STUB, TRITON[1], ""),
        ("first-fill", HIP, dataclasses.replace(STUB, cause="left-out"), "__global__ void k() {\n}\n",
         "the released exercise fails for 'left-out':\nNot yet"),
        ("first-fill", HIP, dataclasses.replace(STUB, cause=""), "__global__ void k() {\n}\n",
         "the released exercise fails for 'no known cause':\nNot yet"),
        ("first-fill", HIP, dataclasses.replace(STUB, cause="nothing-printed"), "__global__ void k() {\n}\n",
         "the released exercise fails for 'nothing-printed':\nNot yet"),
        ("first-fill", HIP, dataclasses.replace(STUB, status="passed"), "__global__ void k() {\n}\n",
         "the released exercise passes unedited"),
        ("first-fill", HIP[1:2], STUB, None, "there is no cell to write in"),
        ("triton-blend", TRITON[::2], STUB, None, "there is no cell to write in"),
        *(("without-blas", ["%%hipcc\nint main() {}"], dataclasses.replace(STUB, cause=cause), "int main() {}", "")
          for cause in ("nothing-printed", "nothing-launched", "not-begun")),
        ("without-blas", ["%%hipcc\nint main() {}"], STUB, "int main() {}",
         "the released exercise fails for 'nothing-written':\nNot yet"),
    ],
)  # fmt: skip
def test_a_released_notebook_fails_because_nothing_is_written(id, cells, verdict, source, said, tmp_path, monkeypatch):
    """The last cell to write in is judged; other cells, and what has another tag, are not."""
    asked = []
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(course, "judged", lambda exercise, text: asked.append((exercise.id, text)) or verdict)
    where = tmp_path / "exercises" / id / f"{id}.ipynb"
    where.parent.mkdir(parents=True)
    tagged = [{"source": text.splitlines(keepends=True), "metadata": {"tags": ["solution"]}} for text in cells]
    others = [{"source": ["%%hip\n__global__ void other() {}"], "metadata": each} for each in ({}, {"tags": ["grade"]})]
    where.write_text(json.dumps({"cells": [*tagged, *others]}))
    found = [(each.where, each.what) for each in course.of_released(id)]
    assert found == ([(f"exercises/{id}/{id}.ipynb", said)] if said else [])
    assert asked == ([] if source is None else [(id, source)])


def test_without_a_released_notebook_nothing_is_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    assert said(course.of_released("first-fill")) == [
        ("exercises/first-fill/first-fill.ipynb", "there is no released notebook")
    ]


def test_answers_are_run_wrong_ones_first(monkeypatch):
    asked = []

    def judged(exercise, source, explained=True):
        asked.append((source, explained))
        if source == "broken":
            raise CheckError("It failed.", why="So.")
        return STUB

    wrong = [WrongAnswer("first-fill", "one", "", "c", "1"), WrongAnswer("first-fill", "two", "", "c", "2")]
    right = {"usual": "3"}
    monkeypatch.setattr(course, "judged", judged)
    monkeypatch.setattr(course, "wrong_answers", lambda id: wrong)
    monkeypatch.setattr(course, "right_answers", lambda id: right)
    found = course.judged_answers("first-fill")
    assert [(each.name, each.wrong, each.explained, each.verdict) for each in found] == [
        ("one", wrong[0], True, STUB), ("two", wrong[1], True, STUB), ("usual", None, True, STUB)
    ]  # fmt: skip
    assert course.judged_wrong(load("first-fill"), wrong[0], explained=False).explained is False
    assert asked == [("1", True), ("2", True), ("3", True), ("1", False)]
    monkeypatch.setattr(course, "of_released", lambda id: [course.Complaint(id, "released", "mend")])
    monkeypatch.setattr(course, "of_verdict", lambda exercise, each: [course.Complaint(exercise.id, each.name, "mend")])
    assert [each.what for each in course.of_answers("first-fill")] == ["one", "two", "usual", "released"]
    right["usual"] = "broken"
    assert said(course.of_answers("first-fill")) == [("exercise first-fill", "It failed.\nSo.")]
    monkeypatch.setattr(course, "definition", lambda id: course.Complaint(id, "no check.py", "write it"))
    assert course.of_answers("first-fill") == []


def test_the_answer_that_is_explained(monkeypatch):
    answers = [dataclasses.replace(WRONG, name=str(number), cause=cause) for number, cause in enumerate(("few", "own"))]
    monkeypatch.setattr(course, "wrong_answers", lambda id: answers)
    assert course.example(EXERCISE).name == "1"
    assert course.example(tiny(requirements=(FEW, dataclasses.replace(FEW, name="own")))).name == "0"


def test_numbers_of_a_course(monkeypatch, tmp_path):
    assert (course.FEWEST_EXERCISES, course.FEWEST_OF_A_LESSON) == (40, 2)
    assert (course.FEWEST_WRONG, course.FEWEST_RIGHT, set(course.MORE_WRONG.values())) == (3, 2, {5})
    lesson = build.Job("01_first_kernel", tmp_path / "lessons" / "01_first_kernel.md", Path("x"), None)
    for count, lacks in ((39, True), (40, False)):
        names = [f"e{number}" for number in range(count)]
        jobs = [lesson, *(build.Job(name, tmp_path / name, Path(name), Path(name)) for name in names)]
        monkeypatch.setattr(build, "jobs", lambda jobs=jobs: jobs)
        monkeypatch.setattr(course, "folders", lambda names=names: names)
        monkeypatch.setattr(course, "definitions", lambda names=names: dict.fromkeys(names, tiny()))
        found = [what for _, what in said(course.of_course())]
        assert found == ([f"{count} exercises"] if lacks else [])
    for own, lacks in ((1, True), (2, False)):
        known = {f"e{number}": tiny(lesson="01_first_kernel" if number < own else "02_simt") for number in range(40)}
        monkeypatch.setattr(course, "definitions", lambda known=known: known)
        found = [what for _, what in said(course.of_course())]
        assert found == ([f"{own} exercises belong to it"] if lacks else [])


def test_names_of_lessons(tmp_path):
    for name in ("01_first_kernel.md", "02_simt.md", "02_waves.md", "my_lesson.md", "03 lanes.md", "04_Lanes.md"):
        (tmp_path / name).write_text("")
    assert said(course.of_names(tmp_path)) == [
        ("course/lessons/02_waves.md", "02_simt.md has the number 02, too"),
        ("course/lessons/03 lanes.md", "no notebook is made of a file with this name"),
        ("course/lessons/04_Lanes.md", "no notebook is made of a file with this name"),
        ("course/lessons/my_lesson.md", "no notebook is made of a file with this name"),
    ]
    assert list(course.of_names(build.COURSE / "lessons")) == []


def test_a_source_that_makes_no_notebook_is_a_complaint(tmp_path, monkeypatch):
    """Also where an older notebook is there, which is all that the other rules read."""
    job = next(each for each in build.jobs(["first-fill"]))
    broken = tmp_path / "exercise.md"
    broken.write_text(job.source.read_text(encoding="utf-8").replace(":tags: [solution]", ":tags: [soluton]"))
    assert list(course.of_source(job)) == []
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (complaint,) = course.of_source(dataclasses.replace(job, source=broken))
    assert "a cell tagged solution" in complaint.what


# ------------------------------------------------------------------------------------------------------------- build


@pytest.mark.parametrize(("metadata", "points"), [({}, 1), ({"points": 1}, 1), ({"points": 7}, 7)])
def test_points(metadata, points):
    job = build.Job("x", build.ROOT / "x.md", Path("x"), None)
    assert build.points_of(job, SimpleNamespace(metadata=metadata)) == points
    for wrong in (0, -1, True, 2.0, "2"):
        with pytest.raises(build.SourceError, match=r"x\.md: points are a whole number above 0"):
            build.points_of(job, SimpleNamespace(metadata={"points": wrong}))


def test_marks_of_graded_cells():
    assert build.nbgrader_metadata("a", "answer", 3) == {
        "cell_type": "code", "grade": False, "grade_id": "a", "locked": False, "schema_version": 3, "solution": True,
        "task": False,
    }  # fmt: skip
    assert build.nbgrader_metadata("b", "check", 3) == {
        "cell_type": "code", "grade": True, "grade_id": "b", "locked": True, "schema_version": 3, "solution": False,
        "task": False, "points": 3,
    }  # fmt: skip


def test_texts_of_outputs():
    stream = nbformat.v4.new_output("stream", text="a")
    data = nbformat.v4.new_output("display_data", {"text/plain": "b", "image/png": "c", "text/html": "d"})
    error = nbformat.v4.new_output("error", ename="E", evalue="e", traceback=[])
    found = [part[key] for output in (stream, data, error) for part, key in build.texts_of(output)]
    assert found == ["a", "b", "d", "e"]
    addresses = "0x7f0012345678 0x7f001234567 0x7f00123456789"
    assert build.DEVICE_ADDRESS.sub("-", addresses) == "- 0x7f001234567 0x7f00123456789"


def test_a_notebook_is_the_same_bytes_with_one_line_end():
    book = nbformat.v4.new_notebook(cells=[])
    text = build.text_of(book)
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    assert text.startswith('{\n "cells": []')


def test_jobs_by_number_and_name():
    names = [job.name for job in build.jobs()]
    assert names.index("00_welcome") == 0
    assert names[-1] == sorted(path.parent.name for path in (build.COURSE / "exercises").glob("*/exercise.md"))[-1]
    assert [job.name for job in build.jobs(["saxpy-guard", "02_simt"])] == ["02_simt", "saxpy-guard"]
    (job,) = build.jobs(["saxpy-guard"])
    assert (job.executed, job.released) == (
        Path("solutions/saxpy-guard/saxpy-guard.ipynb"), Path("exercises/saxpy-guard/saxpy-guard.ipynb")
    )  # fmt: skip
    assert load("saxpy-guard").id == job.name


def test_the_kernel_that_a_notebook_is_built_with(tmp_path, monkeypatch):
    asked = []

    class Client:
        def __init__(self, notebook, **settings):
            asked.append(settings)

        def execute(self, env):
            asked.append(env)

    monkeypatch.setattr("nbclient.NotebookClient", Client)
    monkeypatch.setenv("JPY_SESSION_NAME", "mine.ipynb")
    monkeypatch.setenv("GPULAB_LIBRARY", "rocm")
    monkeypatch.setenv("PYTHONPATH", "/more")
    build.execute(nbformat.v4.new_notebook(), tmp_path / "folder")
    settings, environment = asked
    assert (tmp_path / "folder").is_dir()
    assert settings["resources"] == {"metadata": {"path": str(tmp_path / "folder")}}
    assert (settings["record_timing"], settings["coalesce_streams"], settings["store_widget_state"]) == (
        False, True, False
    )  # fmt: skip
    assert "JPY_SESSION_NAME" not in environment
    assert (environment["GPULAB_LIBRARY"], environment["PYTHONHASHSEED"]) == ("virtual", "0")
    assert environment["PYTHONPATH"] == f"{build.ROOT}:/more"


def test_outputs_that_a_notebook_keeps(tmp_path, monkeypatch):
    """Device addresses are the same on every machine; what lives as long as its kernel, colours and places of an error
    are left out."""
    address, widget = "0x7f12345678ab", "application/vnd.jupyter.widget-view+json"
    data = {"text/plain": f"at {address}", "image/png": address, widget: {"model_id": "1"}}
    outputs = [
        nbformat.v4.new_output("stream", text=f"{address}\n"), nbformat.v4.new_output("display_data", data),
        nbformat.v4.new_output("error", ename="E", evalue=f"\x1b[31mat\x1b[0m {address}", traceback=["File a.py", "b"]),
    ]  # fmt: skip

    class Client:
        def __init__(self, notebook, **settings):
            self.cell = notebook.cells[0]

        def execute(self, env):
            self.cell.outputs = outputs

    monkeypatch.setattr("nbclient.NotebookClient", Client)
    cells = [nbformat.v4.new_code_cell("1"), nbformat.v4.new_markdown_cell("text")]
    made = build.execute(nbformat.v4.new_notebook(cells=cells), tmp_path)
    stream, display, error = made.cells[0].outputs
    assert stream.text == "0x7f0000010000\n"
    assert display.data == {"text/plain": "at 0x7f0000010000", "image/png": address}
    assert error.traceback == ["E: at 0x7f0000010000"]
    assert made.metadata.language_info == {"name": "python"}


def test_ids_of_cells_have_64_characters_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    source = tmp_path / "exercise.md"
    source.write_text(
        '# Title\n\n```{code-cell}\n:tags: [parameters]\n\narch = "gfx942"\n```\n\n'
        "```{code-cell}\nimport gpulab\n\ngpulab.use(arch)\n```\n\n"
        "```{code-cell}\n:tags: [solution]\n\n# BEGIN SOLUTION\n# END SOLUTION\n```\n\n"
        "```{code-cell}\n:tags: [grade]\n\n1\n```\n"
    )
    name = "a-b" + "x" * 60
    job = build.Job(name, source, Path("solutions/a/a.ipynb"), Path("exercises/a/a.ipynb"))
    short = "x" * 53
    assert [cell.id for cell in build.read(job).cells] == [
        f"a-b{short}-00", f"a-b{short}-01", f"a-b{short}-02", f"a-b{short}-answer-1", f"a-b{short}-check-2"
    ]  # fmt: skip


def test_a_difference_has_one_line_of_context(monkeypatch):
    monkeypatch.setattr(build, "contents_of", lambda path: "a\nb\nc\nd\ne\n")
    said = ["--- committed", "+++ built", "@@ -2,3 +2,3 @@", " b", "-c", "+C", " d"]
    assert build.difference(Path("x"), "a\nb\nC\nd\ne\n").split("\n") == said


def test_one_cell_of_code_is_not_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    source = tmp_path / "02_simt.md"
    source.write_text('# Title\n\n```{code-cell}\n:tags: [parameters]\n\narch = "gfx942"\n```\n')
    job = build.Job("02_simt", source, Path("notebooks/02_simt.ipynb"), None)
    with pytest.raises(build.SourceError, match="the first code cell must be tagged parameters and set arch"):
        build.read(job)
    source.write_bytes(b"\n# Title\n\nzw\xf6lf\n")
    with pytest.raises(build.SourceError, match=r"^02_simt\.md: line 4 is not text in UTF-8; save the file in it$"):
        build.read(job)


def test_the_cells_of_a_lesson_are_not_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    source = tmp_path / "02_simt.md"
    for tag in ("solution", "grade"):
        source.write_text(f"# Title\n\n```{{code-cell}}\n:tags: [{tag}]\n\n1\n```\n")
        job = build.Job("02_simt", source, Path("notebooks/02_simt.ipynb"), None)
        with pytest.raises(build.SourceError, match=r"^02_simt\.md: a lesson has no solution or grade cells$"):
            build.read(job)


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        ("build", ["--only", "nonsense"], "no source named nonsense; there are: 00_welcome, "),
        ("check", ["--only", "nonsense"], "no source named nonsense; there are: 00_welcome, "),
        ("new", ["my-exercise", "77"], "There is no lesson '77'. Say LESSON= with one of: 00_welcome, "),
    ],
)
def test_a_script_ends_with_the_code_of_what_it_found(script, words, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(Path(build.__file__).with_name(f"{script}.py")), run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().out.startswith(said)
