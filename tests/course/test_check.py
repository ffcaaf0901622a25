"""course/check.py refuses what it should: a small course that is right, and one change for each rule."""

import dataclasses
import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build
import check as course
import pytest

import gpulab.grading.library as library
from gpulab.grading.answers import wrong_answer, wrong_answers
from gpulab.grading.judge import judged
from tests.course.small import LESSON, small_course

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    with small_course(tmp_path, monkeypatch) as folder:
        yield folder


def lesson(mine, old, new):
    path = mine / "lessons" / "02_simt.md"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def exercise(mine, old, new, file="exercise.md"):
    path = mine / "exercises" / "three-point-mean" / file
    assert old in path.read_text()
    written = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(1, written + 1_000_000_000))  # Python knows compiled files by whole seconds, and by their size


def complaints(answers=False):
    return "\n".join(map(str, course.complaints(answers=answers)))


def test_a_course_that_is_right_has_no_complaints(mine):
    assert not complaints(answers=True)


def test_answers_are_judged_side_by_side(mine, monkeypatch):
    monkeypatch.setattr(build, "PROCESSES", 2)
    monkeypatch.setattr(build, "workers", ThreadPoolExecutor)
    monkeypatch.setattr(course, "of_answers", lambda id: [course.Complaint(id, "an answer", "mend it")])
    found = course.complaints()
    assert [each.where for each in found] == [job.name for job in build.jobs() if job.released is not None]
    assert found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (" ([a document](https://example.org)).", ".", "'64 KiB' stands in a text without a source"),
        ("An LDS has 64 KiB", "HIP 6.2 has it", ""),
        ("**Predict** it. An LDS has 64 KiB ([a document](https://example.org)).", "**Predict** HIP 6.2.", "'HIP 6.2'"),
        ("(#Neighbours)", "(#Neighbors)", "leads to no heading"),
        ("glossary.ipynb", "glosary.ipynb", "leads nowhere"),
        ("(wave.svg)", "(waves.svg)", "leads nowhere"),
        ("![a wave of lanes]", "![]", "has no alternative text"),
        ("![a wave of lanes](wave.svg)", '<img src="wave.svg">', "has no alternative text"),
        ("</details>", "", "is not closed"),
        ("Answer</summary>\n\n", "Answer</summary>\n", "would show raw markdown"),
        ("**How many lanes has a wave?**", "A wave has lanes.", "a question in bold"),
        ("**Predict** it.", "Run it.", "a prediction before a run"),
        ("## What you have learned", "## Learned", "What you have learned"),
        ("## Exercises", "## More", "the section “Exercises”"),
        ("**Further reading:**", "More:", "Further reading"),
        ("the [glossary](glossary.ipynb)", "the glossary", "a link to the glossary"),
        ("Something.", "Use rocm-smi.", "amd-smi"),
        ("Something.", "Nobody waits.", "name what is meant"),
        ("Something.", "A lane wants it.", "it says 'lane wants'"),
        ("Something.", "The caches\nask for more.", "it says 'caches ask'"),
        ("Something.", "Add whole numbers.", "the term is integers"),
        ("Something.", "Its lanes run in step.", "lanes run in lockstep"),
        ("Something.", "In `a lane wants it` the user wants a whole number of blocks.", ""),
        ("../exercises/three-point-mean/three-point-mean.ipynb", "#Exercises", "does not link to it"),
        ("(20 minutes)", "(25 minutes)", "three-point-mean takes 25 minutes; the exercise says 20"),
        ("## Neighbours", "## Next to it", "has no section “Neighbours”"),
        ("See [above]", "**Try it.** Which is it?\n\nSee [above]", "'**Try it.** Which is it?'"),
        ("<details>\n<summary>A", "**Try it.** Which is it?\n\n<details>\n<summary>A", ""),
        ("use(arch)", "use(arch)\ngpulab.trace(k, 1, 64).show()", "gpulab.trace would stop the lesson on a real GPU"),
        ("use(arch)", "use(arch)\nwith gpulab.checked():\n    k[1, 64]()", "gpulab.checked would stop"),
        (
            "**Predict** it.",
            "**Predict** it.\n\n```{code-cell}\n%%hipcc --name a\n```\n\n",
            "does not say that this takes time",
        ),
        ("**Predict** it.", "It takes seconds.\n\n```{code-cell}\n%%hipcc\n```\n\n**Predict** it.", ""),
        ("use(arch)", "use(arch)\nrun.gpu_map()", "run.gpu_map would stop"),
        ("use(arch)", "use(arch)\nif device.virtual:\n    run.gpu_map()", ""),
    ],
)
def test_a_mistake_in_a_text_is_found(mine, old, new, said):
    lesson(mine, old, new)
    found = complaints()
    assert said in found if said else not found


@pytest.mark.parametrize(
    ("row", "text", "said"),
    [
        (
            "| SM | CU | – | A unit. | [07](02_simt.ipynb) |",
            "A CU is busy.",
            "02_simt.md: it uses 'CU', which lesson 07 explains",
        ),
        (
            "| SM | – | CU, unit (RDNA) | A unit. | [07](02_simt.ipynb), [16](02_simt.ipynb) |",
            "Many CUs work.",
            "it uses 'CU'",
        ),
        ("| word | A word. | [03](02_simt.ipynb) |", "A word.", "it uses 'word'"),
        ("| SM | CU | – | A unit. | [02](02_simt.ipynb) |", "A CU is busy.", ""),
        ("| SM | CU | – | A unit. | [07](02_simt.ipynb) |", "A *CU* is a unit of the GPU.", ""),
        ("| SM | CU | – | A unit. | [07](02_simt.ipynb) |", "A CU is busy (lesson 07).", ""),
        ("| SM | CU | – | A unit. | [07](02_simt.ipynb) |", "An SM and an ECU are none, nor is `CU` in code.", ""),
        ("| SM | `CU` | – | A unit. | [07](02_simt.ipynb) |", "A CU is busy.", ""),
    ],
)
def test_a_term_is_not_used_before_it_is_explained(mine, row, text, said):
    (mine / "pages" / "glossary.md").write_text(f"# Glossary\n\nwave\n\n{row}\n")
    lesson(mine, "See [above]", f"{text}\n\nSee [above]")
    found = complaints()
    assert said in found if said else not found


def test_a_lesson_links_to_the_one_after_it(mine):
    (mine / "lessons" / "03_more.md").write_text(LESSON)
    said = "03_more.md: the lesson before it, 02_simt.md, does not link to it"
    assert said in complaints()
    lesson(mine, "**Further", "**Next:** [another](04_more.ipynb)\n\n**Further")
    assert said in complaints()
    lesson(mine, "04_more", "03_more")
    assert said not in complaints()


def test_a_lesson_stands_in_a_syllabus(mine):
    page = mine / "pages" / "syllabus_day.md"
    page.write_text("# A day\n\n[glossary](glossary.ipynb)\n")
    assert "02_simt.md: no syllabus names the lesson" in complaints()
    page.write_text("# A day\n\n[glossary](glossary.ipynb), [02](02_simt.ipynb)\n")
    assert "no syllabus names" not in complaints()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("exercise.md", 'gpulab.exercise("three-point-mean")', "1", "there is no picture"),
        ("exercise.md", 'gpulab.hint("three-point-mean")', "hint", "how to get a hint"),
        ("exercise.md", "**How it is judged.**", "Well.", "how it is judged"),
        ("exercise.md", '+++ {"tags": ["solution-only"]}', "+++", "has no explanation"),
        ("exercise.md", "About 20 minutes", "About 30 minutes", "“About 20 minutes”"),
        ("exercise.md", "smooth(int n, const float* in", "smooth(int n, float* in", "the text has no `__global__"),
        ("exercise.md", "smooth).require()", "smooth)", "the grade cell"),
        ("check.py", "(65, 1000, 64, 63, 3, 2, 1)", "(65, 1000)", "n = 0 or n = 1"),
        ("check.py", 'section="Neighbours"', 'section="Nobody"', "has no section “Nobody”"),
        ("check.py", 'lesson="02_simt"', 'lesson="03_more"', "its lesson 03_more does not exist"),
        ("check.py", '"sum-not-mean",', '"sum-no-mean",', "no cause or requirement is named sum-not-mean"),
        ("check.py", "    minutes=20,", "    minute=20,", "Exercise has no field minute"),
        ("check.py", "    make=make,", "", "Exercise lacks the field make"),
        ("check.py", "    make=make,\n    cases=", "    options=", "Exercise has no field options"),
        ("check.py", 'id="three-point-mean"', 'id="mean"', "defines the exercise 'mean'"),
        ("check.py", "import numpy as np", "import numpi", "check.py, line 3 cannot be loaded: ModuleNotFoundError"),
        ("check.py", "exercise = Exercise(", "exercise = Exercise(,", "check.py, line "),
        ("check.py", "exercise = Exercise(", "exercises = Exercise(", "must define `exercise`"),
        ("check.py", "    hints=(", "    hints=() and (", "it needs three hints"),
        ("wrong.toml", "[ends-zero]", "[ends-zero", "three-point-mean/wrong.toml cannot be read"),
        (
            "wrong.toml",
            "i == 0 || i == n - 1) out[i] = in[i];",
            "i = 0) out[i] = in[i];",
            "do not stand in right/usual",
        ),
        ("exercise.md", "# ", "# «title» ", "exercise.md:1: «title» is not filled in"),
        ("check.py", "The mean of three numbers", "A thread knows that the mean", "it says 'thread knows'"),
        ("check.py", "There are three kinds of threads", "Ask for whole numbers of threads", "the term is integers"),
    ],
)
def test_a_mistake_in_an_exercise_is_found(mine, file, old, new, said):
    exercise(mine, old, new, file)
    assert said in complaints()


def test_two_hints_alike_are_found(mine):
    path = mine / "exercises" / "three-point-mean" / "check.py"
    text = path.read_text()
    path.write_text(text + "\nimport dataclasses\nexercise = dataclasses.replace(exercise, hints=('a', 'a', 'b'))\n")
    assert "two hints are the same" in complaints()


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("`if (i >= n) return 0;` comes first.", "no right answer has the code of a hint: if (i >= n) return 0;"),
        ("Look at `run.sources()`.", "no right answer has the code of a hint: run.sources()"),
        ("First if (i >= n) return.", "a hint has code that is not between backticks: if ("),
        ("Set out[i] to the mean.", "a hint has code that is not between backticks: out["),
    ],
)
def test_code_of_a_hint_that_no_right_answer_has_is_found(mine, hint, said):
    path = mine / "exercises" / "three-point-mean" / "check.py"
    right = ("`if (i >= n) return;` ends threads without an element.", "`run.source()` shows lines.")
    more = f"exercise = dataclasses.replace(exercise, hints=({right[0]!r}, {right[1]!r}, {hint!r}))"
    path.write_text(path.read_text() + f"\nimport dataclasses\n{more}\n")
    assert said in complaints()
    assert complaints().count("three-point-mean:") == 1


def test_too_few_answers_are_found(mine):
    folder = mine / "exercises" / "three-point-mean"
    tables = (folder / "wrong.toml").read_text().split("\n\n")
    (folder / "wrong.toml").write_text("\n\n".join(tables[:4]))  # the comment at its top and three answers
    assert "3 wrong answers" not in complaints()
    (folder / "wrong.toml").write_text("\n\n".join(tables[:3]))
    (folder / "right" / "four-neighbours.hip").unlink()
    (folder / "right" / "weights.hip").write_text("// the same\n" + (folder / "right" / "usual.hip").read_text())
    found = complaints()
    assert "2 wrong answers" in found
    assert "2 right answers, of which 1 differ" in found
    assert "no wrong answer shows the cause" in found


def test_answers_that_are_judged_otherwise_than_they_should_are_found(mine):
    """A wrong answer that is right, one with another's cause, and a right one that is wrong."""
    folder = mine / "exercises" / "three-point-mean"
    right = (folder / "right" / "usual.hip").read_text()
    tables = (folder / "wrong.toml").read_text().split("\n\n")[:4]
    passing = f"[ends-not-copied]\nmistake = 'None.'\ncause = 'ends-not-copied'\ntext = '''\n{right}'''"
    other = tables[2].replace('cause = "ends-of-blocks"', 'cause = "ends-not-copied"')
    assert other != tables[2]
    (folder / "wrong.toml").write_text("\n\n".join([passing, other, tables[3]]))
    wrong = right.replace("out[i] = in[i];", "out[i] = 0;")
    assert wrong != right
    (folder / "right" / "usual.hip").write_text(wrong)
    (folder / "right" / "weights.hip").unlink()
    (folder / "right" / "other.hip").write_text(right)
    fitting = (folder / "wrong.toml").read_text().replace('of = "usual"', 'of = "other"')
    (folder / "wrong.toml").write_text(fitting)
    found = complaints(answers=True)
    assert "wrong answer ends-not-copied: a wrong answer passes" in found
    assert "rejected for 'ends-of-blocks' instead of 'ends-not-copied'" in found
    assert "right answer usual: a right answer is rejected" in found
    assert "right answer other" not in found
    assert "wrong answer ends-zero" not in found


def test_a_report_that_says_too_little_is_found(mine):
    """The rules about reports and pictures, on a verdict from which parts were taken."""
    exercise, answer = library.load("three-point-mean"), wrong_answer("three-point-mean", "ends-zero")
    verdict = judged(exercise, answer.source)

    def said(changed):
        return "\n".join(map(str, course.of_verdict(exercise, course.Judged("ends-zero", changed, answer))))

    assert not said(verdict)
    assert "does not say 'fails with'" in said(
        dataclasses.replace(verdict, rows=tuple(row for row in verdict.rows if row.label != "fails with"))
    )
    assert "smallest failing input is {}" in said(dataclasses.replace(verdict, smallest={}))
    assert verdict.case is not None
    nothing = dataclasses.replace(
        verdict.case, arrays=tuple(dataclasses.replace(each, wrong=0, never=0) for each in verdict.case.arrays)
    )
    assert "shows nothing that is wrong" in said(dataclasses.replace(verdict, case=nothing))
    huge = dataclasses.replace(verdict, headline="x" * course.MOST_BYTES)
    assert f"the verdict takes {len(json.dumps(huge.as_dict()))} bytes in a file" in said(huge)


def test_a_released_exercise_that_passes_or_does_not_compile_is_found(mine):
    path = build.ROOT / "exercises" / "three-point-mean" / "three-point-mean.ipynb"
    text = path.read_text()
    right = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; bool end = i == 0 || i == n - 1; " \
        "out[i] = end ? in[i] : (in[i - 1] + in[i] + in[i + 1]) / 3;"  # fmt: skip
    path.write_text(text.replace("// YOUR CODE HERE", right))
    assert "passes unedited" in complaints(answers=True)
    path.write_text(text.replace("// YOUR CODE HERE", "int i ="))
    assert "fails for 'does-not-compile'" in complaints(answers=True)
    path.unlink()
    assert "there is no released notebook" in complaints(answers=True)


def test_an_empty_course_is_refused(mine):
    shutil.rmtree(mine / "exercises" / "three-point-mean")
    (mine / "lessons" / "02_simt.md").unlink()
    found = complaints(answers=True)
    assert "no exercise was found" in found
    (mine / "exercises" / "stray").mkdir()
    found = complaints(answers=True)
    assert "no lesson was found" in found
    assert "course/exercises/stray: it has no check.py" in found


@pytest.mark.parametrize("answers", [False, True])
def test_a_folder_without_its_files_is_said_once(mine, answers):
    folder = mine / "exercises" / "three-point-mean"
    (folder / "check.py").unlink()
    assert complaints(answers).count("course/exercises/three-point-mean: it has no check.py") == 1
    shutil.copy(ROOT / "course" / "exercises" / "three-point-mean" / "check.py", folder)
    (folder / "exercise.md").unlink()
    assert "course/exercises/three-point-mean: it has no exercise.md" in complaints(answers)


def test_the_command_says_what_it_found(mine, capsys):
    assert course.main(["--no-answers"]) == 0
    assert "0 complaints" in capsys.readouterr().out
    lesson(mine, "**Predict** it.", "Run it.")
    assert course.main(["--no-answers"]) == 1
    assert "02_simt.md: the lesson lacks a prediction" in capsys.readouterr().out
    assert course.main(["--only", "nothing"]) == 2


def test_all_that_the_command_prints(monkeypatch, capsys):
    asked = []

    def complaints(only, answers):
        asked.append((only, answers))
        if only == ["nothing"]:
            raise build.SourceError("no source named nothing")
        return [course.Complaint("a", "b", "c"), course.Complaint("d", "e.", "f")][: 2 if only else 0]

    monkeypatch.setattr(course, "complaints", complaints)
    for words, code, said in (
        ([], 0, "0 complaints in 0 s\n"), (["--no-answers"], 0, "0 complaints in 0 s\n"),
        (["--only", "02", "x"], 1, "a: b; c\nd: e; f\n2 complaints in 0 s\n"),
        (["--only", "nothing"], 2, "no source named nothing\n"),
    ):  # fmt: skip
        assert (course.main(words), re.sub(r"in \d s", "in 0 s", capsys.readouterr().out)) == (code, said)
    assert asked == [(None, True), (None, False), (["02", "x"], True), (["nothing"], True)]


def found(complaints):
    return [(each.where.removeprefix("course/lessons/"), each.what) for each in complaints]


MANY = """# 02 · A lesson

It has 64 KiB, and [more](https://example.org/a#b) is 5 ns away. See [a](#nothing), [b](absent.ipynb), ![](wave.svg).

## One heading

[here](#One-heading), [there](glossary.ipynb#Glossary), [nowhere](glossary.ipynb#Words), <mailto:a@b>, [m](mailto:a@b).

## Numbers

12 GB/s, said without a source. `7 GB/s` is code.

<details>
<summary>Right</summary>

</details>
<details>

<summary>No line before</summary>

</details>
<details>
<summary>No line after</summary>
text
</details>
<details>
<summary>Not closed

<img src="a.svg" alt="words"> <img src="b.svg" alt="">

- [three-point-mean](../exercises/three-point-mean/three-point-mean.ipynb): smooth (25 minutes)

Somebody asked for `somebody`. The wave wants it.
"""


def test_all_that_is_wrong_with_a_text(mine):
    (mine / "lessons" / "02_simt.md").write_text(MANY)
    (job,) = build.jobs(["02"])
    raw = "a folded answer would show raw markdown"
    assert found(course.of_text(job)) == [
        ("02_simt.md", "'12 GB/s' stands in a text without a source: '## Numbers 12 GB/s, said without a sou'"),
        ("02_simt.md", "the link #nothing leads to no heading"),
        ("02_simt.md", "the link absent.ipynb leads nowhere"),
        ("02_simt.md", "the image wave.svg has no alternative text"),
        ("02_simt.md", "the link glossary.ipynb#Words leads to no heading"),
        ("02_simt.md", "it says that three-point-mean takes 25 minutes"),
        ("02_simt.md", 'an image has no alternative text: <img src="b.svg" alt="">'),
        ("02_simt.md:19", raw), ("02_simt.md:23", raw), ("02_simt.md:27", raw),
        ("02_simt.md", "a <details> is not closed"),
        ("02_simt.md", "it says 'somebody'"), ("02_simt.md", "it says 'Somebody'"),
        ("02_simt.md", "it says 'wave wants': '5 minutes) Somebody asked for code. The wave wants it.'"),
        ("02_simt.md", "it says 'asked for': 'oint-mean: smooth (25 minutes) Somebody asked for code. The wave want'"),
    ]  # fmt: skip


def test_all_that_a_lesson_lacks(mine):
    lessons = mine / "lessons"
    (lessons / "01_first.md").write_text("# 01 · First\n")
    (lessons / "02_simt.md").write_text("# 02 · A lesson\n\nHow many?\n\n**Try it.** Why?\n\n**Try it.** Look.\n")
    (mine / "pages" / "syllabus_day.md").write_text("# A day\n\n[01](01_first.ipynb)\n")
    parts = [f"the lesson lacks {part}" for part in (
        "a question in bold in its opening", "a prediction before a run (**Predict**)", "a folded answer",
        "the section “What you have learned”", "the section “Exercises”", "**Further reading:**",
        "a link to the glossary",
    )]  # fmt: skip
    first, second = build.jobs(["01", "02"])
    assert found(course.of_lesson(first)) == [("01_first.md", part) for part in parts]
    assert found(course.of_lesson(second)) == [("02_simt.md", what) for what in (
        "the lesson before it, 01_first.md, does not link to it", "no syllabus names the lesson", *parts,
        "a question to try has no folded answer: '**Try it.** Why?'",
    )]  # fmt: skip


def test_where_a_file_lies(tmp_path, mine):
    assert course._where(mine / "lessons" / "02_simt.md") == "course/lessons/02_simt.md"
    assert course._where(ROOT / "course" / "check.py") == "check.py"


def test_what_is_looked_at(mine, monkeypatch):
    """All of it, or what is named; answers run last, or not at all."""
    asked = []
    for name in ("of_course", "of_words"):
        monkeypatch.setattr(course, name, lambda name=name: asked.append(name) or ())
    for name in ("of_source", "of_text", "of_lesson"):
        monkeypatch.setattr(course, name, lambda job, name=name: asked.append((name, job.name)) or ())
    for name in ("of_exercise", "of_answers"):
        complaint = course.Complaint("x", name, "")
        monkeypatch.setattr(course, name, lambda id, name=name, it=complaint: asked.append((name, id)) or [it])
    said = [each.what for each in course.complaints()]
    texts = [(name, each) for each in ("02_simt", "glossary", "three-point-mean")
             for name in ("of_source", "of_text", "of_lesson") if name != "of_lesson" or each == "02_simt"]  # fmt: skip
    every = ["of_course", "of_words", *texts, ("of_exercise", "three-point-mean")]
    assert (asked, said) == ([*every, ("of_answers", "three-point-mean")], ["of_exercise", "of_answers"])
    asked.clear()
    assert [each.what for each in course.complaints(answers=False)] == ["of_exercise"]
    assert asked == every
    asked.clear()
    assert course.complaints(["02"]) == []
    assert asked == texts[:3]


def test_some_lessons_need_more_wrong_answers(mine, monkeypatch):
    count = len(wrong_answers("three-point-mean"))
    for most, lacks in ((count, False), (count + 1, True)):
        monkeypatch.setattr(course, "MORE_WRONG", {"02_simt": most})
        said = [(each.what, each.todo) for each in course.of_exercise("three-point-mean")]
        todo = f"write {most} plausible ones or more into wrong.toml"
        assert said == ([(f"{count} wrong answers", todo)] if lacks else [])


def test_all_that_an_exercise_lacks(mine):
    """What its text and its definition do not have, each in its place."""
    folder = mine / "exercises" / "three-point-mean"
    (folder / "exercise.md").write_text("# Title\n")
    exercise(mine, 'lesson="02_simt"', 'lesson="02_simt", archs=("gfx942",)', "check.py")
    exercise(mine, 'section="Neighbours"', 'section="Nobody is here"', "check.py")
    lesson(mine, "../exercises/three-point-mean/three-point-mean.ipynb", "#Exercises")
    where = "exercise three-point-mean"
    assert [(each.where, each.what) for each in course.of_exercise("three-point-mean")] == [(where, what) for what in (
        "there is no picture", "the text does not say “About 20 minutes”", "the text does not say how to get a hint",
        "the text does not say how it is judged", "the solution has no explanation",
        "the grade cell does not check this exercise",
        "the text has no `__global__ void smooth(int n, const float* in, float* out)`", "it is judged on gfx942",
        "its lesson has no section “Nobody is here”", "lesson 02_simt does not link to it",
    )]  # fmt: skip
    exercise(mine, 'lesson="02_simt"', 'lesson="03_more"', "check.py")
    said = [each.what for each in course.of_exercise("three-point-mean")]
    assert said[-2:] == ["it is judged on gfx942", "its lesson 03_more does not exist"]
    (folder / "exercise.md").unlink()
    assert [each.what for each in course.of_exercise("three-point-mean")] == ["there is no exercise.md"]
    (folder / "wrong.toml").write_text("[a\n")
    (complaint,) = course.of_exercise("three-point-mean")
    assert (complaint.where, complaint.todo) == (where, "docs/exercises.md shows its form.")
    assert complaint.what.startswith("three-point-mean/wrong.toml cannot be read: ")
