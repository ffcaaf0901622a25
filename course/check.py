"""Finds what is wrong with the course: `python course/check.py [--only NAME ...] [--no-answers]`; 1 if anything is.

Each rule is a function that gives `Complaint`s: where, what, and what to do. Rules about texts: `of_text` (facts
without a source, dead links, images without alternative text, folded answers, wording), `of_lesson`. About exercises:
`of_exercise` (hints, picture, answers, section), `of_answers` (runs them: wrong ones must be rejected with their
cause, right ones pass, the released notebook must fail because nothing is written yet). About the whole: `of_course`,
`of_words` (terms of the glossary that a lesson uses before one explains them).
Whether built notebooks are what their sources make is `build.py --check`.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import build

from gpulab import architectures, languages
from gpulab.errors import CheckError
from gpulab.grading import load
from gpulab.grading.answers import WrongAnswer, right_answers, wrong_answers
from gpulab.grading.causes import causes_of
from gpulab.grading.exercise import Exercise
from gpulab.grading.judge import judged
from gpulab.grading.judgement import asked
from gpulab.grading.program import ProgramExercise
from gpulab.grading.verdict import Verdict
from gpulab.profile import Run

FEWEST_WRONG = 3
MORE_WRONG = dict.fromkeys(
    ("10_atomics", "11_synchronisation", "12_porting", "13_porting_traps", "22_reduce_and_scan", "26_memory_model"), 5
)
"""Lessons whose exercises need more wrong answers: synchronisation and porting are where mistakes hide best."""
FEWEST_RIGHT = 2
FEWEST_OF_A_LESSON = 2
FEWEST_EXERCISES = 40
MOST_BYTES = 120_000
"""Of a verdict in a file: those of a whole class are kept together."""
MOST_DRAWN = 200_000
"""Bytes that the picture of a failing case takes to a notebook."""

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
LISTED = re.compile(r"\(\.\./exercises/([a-z0-9-]+)/\1\.ipynb\)[^\n|]*?[(|]\s?(\d+) minutes")
"""An exercise in a list or a table, with its minutes."""
MARK = re.compile(r"«[^»]*»")
"""What an author replaces in a new exercise (course/template)."""
TERMS = re.compile(r"^\| (.+) \| [^|]+ \| \[(\d\d)\]\([^|]*\|$", re.M)
"""A row of the glossary: its words, one sentence, the first lesson that explains them."""
CODE = re.compile(r"\w+\[|[=!<>+*/-]=|&&|\|\||\b__\w+|\bif \(|\bfor \(|\w+\.\w+\(")
"""What is code in a hint's sentence."""
FENCE = re.compile(r"^(```+|~~~+).*?^\1", re.S | re.M)
QUANTITY = re.compile(
    r"(?<![\w.])\d[\d,.]*\s?(?:(?:[KMGT]i?B|[KMGT]?bit)(?:/s)?|[KMGT]Hz|[GTP]FLOP(?:/s|S)?|TB/s|GB/s|ns|µs|ms|clk|clocks?|"
    r"cycles?|W|nm)\b"
    r"|\b(?:ROCm|HIP|CUDA|LLVM|Clang)\s\d+(?:\.\d+)*\b"
)
"""What only a measurement or a document can know: numbers with units, versions."""
BANNED = {
    "653": "the FP32 peak of an MI300X is 163.4 TFLOP/s; 653.7 is TF32 on matrix cores",
    "hipLaunchKernelGGL is": "<<<>>> is HIP's own syntax, and hipify keeps it",
    "rocm-smi": "the tool is amd-smi",
    "rocprof ": "the tool is rocprofv3",
    "HSAIL": "it is gone since ROCm 1.3",
    "SIMD64": "a CDNA compute unit has four SIMDs of 16 lanes",
    "Maybe you": "say it plainly",
    **dict.fromkeys(
        [f"{which}body" for which in ("no", "No", "some", "Some", "every", "Every", "any", "Any")],
        "name what is meant: a thread, a lane, a block, a stream, you",
    ),
    "under way": "loads and copies are in flight",
}
_HARDWARE = r"(?:(?:lane|thread|wave|warp|block|kernel|cache|bank|register|instruction)s?|memory|L1|L2|LDS)"
WORDING = (
    (
        rf"\b{_HARDWARE} (?:wants?|asks?|knows?|sees?|speaks?|says?|forgets?|remembers?|learns?)\b",
        "say what it does: it needs, requests, reads, has",
    ),
    (r"\b(?:asks?|asked|asking) for\b", "it requests, or needs"),
    (r"\bwhole numbers\b", "the term is integers"),
    (r"\bl(?:ies?|ay) in memory\b", "a matrix is stored, an element is in memory"),
    (r"\binside of\b", "inside"),
    (r"\blanes?\b[^.]{0,20}\b(?:switched off|are off|is off)\b", "lanes are inactive"),
    (r"\b(?:run|runs|lanes) in step\b", "lanes run in lockstep"),
    (r"\b(?:held|holds|hold) \w+ back\b|\bheld back\b", "it is limited by something"),
    (r"\bwithout a word\b", "without a warning, or a message"),
    (r"\b(?:turn|turns) of the (?:inner |outer )?loop\b", "the term is iteration"),
)
"""Words of lanes, threads and caches as of persons, and others that readers in a second language stumble on."""


@dataclass(frozen=True)
class Complaint:
    """Something wrong with the course."""

    where: str
    what: str
    todo: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what.removesuffix('.')}; {self.todo}"


# ------------------------------------------------------------------------------------------------------------- texts


def anchors(text: str) -> set[str]:
    """The anchors that JupyterLab gives to the headings of a text."""
    plain = FENCE.sub("", text)
    return {line.lstrip("# ").strip().replace(" ", "-") for line in plain.splitlines() if re.match("#{1,6} ", line)}


def passages(text: str) -> Iterator[str]:
    """The text between code cells and headings, without code, and without what a lesson repeats at its end."""
    for cell in re.split(r"^```\{code-cell\}.*?^```$|^\+\+\+[^\n]*$", text, flags=re.S | re.M):
        for passage in re.split(r"^(?=#{1,6} )", FENCE.sub("", cell), flags=re.M):
            if not passage.startswith("## What you have learned"):
                yield passage


def of_text(job: build.Job) -> Iterator[Complaint]:
    """Rules for every source."""
    text = build.source_text(job.source)
    where = _where(job.source)
    for passage in passages(text):
        plain = re.sub(r"`[^`\n]*`", "", LINK.sub(r"\2", passage))
        found = QUANTITY.search(plain)
        if found and not re.search(r"\]\(https://", passage):
            yield Complaint(where, f"{found[0].strip()!r} stands in a text without a source: {_around(plain, found)!r}",
                            "link the document that says so in the same passage, or compute the number")  # fmt: skip
    yield from links(job, text)
    exercises = definitions()
    for id, minutes in LISTED.findall(text):
        if id in exercises and int(minutes) != exercises[id].minutes:
            yield Complaint(
                where, f"it says that {id} takes {minutes} minutes", f"the exercise says {exercises[id].minutes}"
            )
    for tag in re.findall(r"<img\b[^>]*>", text):
        if not re.search(r'alt="[^"]+"', tag):
            yield Complaint(where, f"an image has no alternative text: {tag}", 'say what it shows in alt="..."')
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("<summary>") and (
            not line.endswith("</summary>") or lines[number - 1] != "<details>" or lines[number + 1] != ""
        ):
            yield Complaint(f"{where}:{number + 1}", "a folded answer would show raw markdown",
                            "put <details> before it, and an empty line after <summary>...</summary>")  # fmt: skip
    if text.count("<details>") != text.count("</details>"):
        yield Complaint(where, "a <details> is not closed", "close it with </details>")
    flat = " ".join(text.split())
    for wrong, right in BANNED.items():
        if wrong in flat:
            yield Complaint(where, f"it says {wrong!r}", right)
    yield from of_wording(where, LINK.sub(r"\2", FENCE.sub("", text)))


def of_wording(where: str, text: str) -> Iterator[Complaint]:
    """Words for which the course has better ones, outside of code."""
    plain = " ".join(re.sub(r"`[^`\n]*`", "code", text).split())
    for pattern, right in WORDING:
        for found in re.finditer(pattern, plain):
            yield Complaint(where, f"it says {found[0]!r}: {_around(plain, found)!r}", right)


def links(job: build.Job, text: str) -> Iterator[Complaint]:
    """Dead links inside the course, and images without alternative text."""
    where, home = _where(job.source), build.ROOT / job.executed.parent
    sources = {(build.ROOT / each.executed).resolve(): each.source for each in build.jobs()}
    sources |= {(build.ROOT / each.released).resolve(): each.source for each in build.jobs() if each.released}
    coming = set(sources) | {(build.ROOT / path).resolve() for path in build.pictures()}
    coming |= {(home / asset.name).resolve() for asset in job.assets}
    for image, words, target in LINK.findall(FENCE.sub("", text)):
        if image and not words.strip():
            yield Complaint(where, f"the image {target} has no alternative text", "say between [ and ] what it shows")
        if re.match(r"(https?|mailto):", target):
            continue
        path, _, anchor = target.partition("#")
        file = (home / path).resolve() if path else (build.ROOT / job.executed).resolve()
        if file not in coming and not file.exists():
            yield Complaint(where, f"the link {target} leads nowhere", f"there is no {path} beside the built notebook")
        elif anchor and (file not in sources or anchor not in anchors(build.source_text(sources[file]))):
            yield Complaint(where, f"the link {target} leads to no heading", "write the heading with - for each space")


def of_lesson(job: build.Job) -> Iterator[Complaint]:
    """The parts of a lesson."""
    text = build.source_text(job.source)
    where = _where(job.source)
    opening = text.split("```{code-cell}")[0]
    wanted = {
        "a question in bold in its opening": re.search(r"\*\*[^*]*\?\*\*", opening),
        "a prediction before a run (**Predict**)": re.search(r"\*\*[Pp]redict", text),
        "a folded answer": "<details>" in text,
        "the section “What you have learned”": "\n## What you have learned\n" in text,
        "the section “Exercises”": "\n## Exercises\n" in text,
        "**Further reading:**": "**Further reading:**" in text,
        "a link to the glossary": "](glossary.ipynb" in text,
    }
    lessons = sorted(each.source for each in build.jobs() if each.source.parent == job.source.parent)
    link = f"({job.source.stem}.ipynb"
    before = lessons[: lessons.index(job.source)][-1:]
    if before and not re.search(rf"^\*\*Next:\*\* \[.*\]{re.escape(link)}", build.source_text(before[0]), re.M):
        yield Complaint(where, f"the lesson before it, {before[0].name}, does not link to it",
                        f"write there, behind its exercises: **Next:** [title]{link})")  # fmt: skip
    syllabi = sorted((build.COURSE / "pages").glob("syllabus_*.md"))
    if syllabi and not any(link in build.source_text(each) for each in syllabi):
        yield Complaint(
            where, "no syllabus names the lesson", f"link to it, [..]{link}), in one of course/pages/syllabus_*.md"
        )
    for part, found in wanted.items():
        if not found:
            yield Complaint(where, f"the lesson lacks {part}", "course/README.md says what a lesson has")
    blocks = re.split(r"\n{2,}", FENCE.sub("```", text))
    for block, after in zip(blocks, [*blocks[1:], ""], strict=True):
        if re.match(r"\*\*Try it", block) and "?" in block and not after.startswith("<details>"):
            yield Complaint(where, f"a question to try has no folded answer: {' '.join(block.split())[:60]!r}",
                            "put <details> with what really comes out behind it")  # fmt: skip
    program = re.search(r"^%%hipcc|^[^#\n]*\bprograms\.build\(", text, re.M)
    if program and "seconds" not in text[: program.start()].split("```{code-cell}")[-2].rpartition("```\n")[2]:
        yield Complaint(where, "its first cell that builds a whole program does not say that this takes time",
                        "write before it that building takes some seconds")  # fmt: skip
    for code in re.findall(r"^```\{code-cell\}\n(.*?)^```$", text, re.S | re.M):
        if not code.lstrip().startswith("%%"):
            for call in virtual_only(re.sub(r"^:tags:.*\n", "", code)):
                yield Complaint(where, f"{call} would stop the lesson on a real GPU",
                                "put it into `if device.virtual:`, or into `try` with the error printed")  # fmt: skip


def virtual_only(code: str) -> Iterator[str]:
    """Calls, in a cell's Python, of what a real GPU cannot do, where nothing is prepared for that."""

    def calls(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.If | ast.Try):
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name == "gpu_map" or (
                name in ("trace", "checked", "weak") and ast.unparse(node.func) == f"gpulab.{name}"
            ):
                yield ast.unparse(node.func)
        for child in ast.iter_child_nodes(node):
            yield from calls(child)

    yield from calls(ast.parse(code))


# --------------------------------------------------------------------------------------------------------- exercises


def folders() -> list[str]:
    """The names of all folders of exercises, whole or not."""
    return sorted(path.name for path in (build.COURSE / "exercises").iterdir() if path.is_dir())


def definition(id: str) -> Exercise | ProgramExercise | Complaint:
    """The exercise that a folder's check.py defines, or what is wrong with that file."""
    if not (build.COURSE / "exercises" / id / "check.py").is_file():
        return Complaint(f"course/exercises/{id}", "it has no check.py", "write it, or remove the folder")
    try:
        return load(id)
    except CheckError as error:
        return complaint_of(f"exercise {id}", error, "mend check.py")


def complaint_of(where: str, error: CheckError, todo: str) -> Complaint:
    """What a CheckError says, as a complaint."""
    return Complaint(where, "\n".join(part for part in (error.what, error.why) if part), error.hint or todo)


def definitions() -> dict[str, Exercise | ProgramExercise]:
    """All exercises that can be loaded, by id."""
    return {id: found for id in folders() if not isinstance(found := definition(id), Complaint)}


def of_exercise(id: str) -> Iterator[Complaint]:
    """What an exercise must have, without running anything."""
    exercise, folder = definition(id), build.COURSE / "exercises" / id
    if isinstance(exercise, Complaint):
        yield exercise
        return
    where = f"exercise {id}"
    yield from of_marks(folder)
    try:
        wrong = wrong_answers(id)
    except CheckError as error:
        yield complaint_of(where, error, "mend wrong.toml")
        return
    right = right_answers(id)
    fewest = MORE_WRONG.get(exercise.lesson, FEWEST_WRONG)
    if len(wrong) < fewest:
        yield Complaint(where, f"{len(wrong)} wrong answers", f"write {fewest} plausible ones or more into wrong.toml")
    written_in = languages.answers(exercise.language)
    differ = len({" ".join(written_in.code_only(source).split()) for source in right.values()})
    if differ < FEWEST_RIGHT:
        yield Complaint(where, f"{len(right)} right answers, of which {differ} differ",
                        f"write {FEWEST_RIGHT} that differ into right/")  # fmt: skip
    said = [exercise.title, *exercise.hints]
    said += [text for each in causes_of(exercise) for text in (each.title, each.why, each.next_step)]
    said += [text for each in exercise.requirements for text in (each.title, each.next_step)]
    for text in said:
        yield from of_wording(where, text)
    known = {*(each.name for each in causes_of(exercise)), *asked(exercise)}
    for answer in wrong:
        if answer.cause not in known:
            yield Complaint(f"{where}, wrong answer {answer.name}", f"no cause or requirement is named {answer.cause}",
                            "name one of " + ", ".join(sorted(known)))  # fmt: skip
    for each in (*exercise.causes, *exercise.requirements):
        if each.name not in {answer.cause for answer in wrong}:
            yield Complaint(where, f"no wrong answer shows the cause {each.name}", "write one, or take the cause out")
    if len(set(exercise.hints)) != 3:
        yield Complaint(where, "two hints are the same", "each of the three hints tells more")
    yield from of_hints(where, exercise.hints, right, exercise.language)
    source = folder / "exercise.md"
    if not source.is_file():
        yield Complaint(where, "there is no exercise.md", "write it")
        return
    text = build.source_text(source)
    if not picture(text, id):
        yield Complaint(where, "there is no picture",
                        f'show one before the solution: gpulab.exercise("{id}") in a cell, or an image')  # fmt: skip
    if f"About {exercise.minutes} minutes" not in text:
        yield Complaint(where, f"the text does not say “About {exercise.minutes} minutes”", "say it at the top")
    if f'gpulab.hint("{id}")' not in text:
        yield Complaint(where, "the text does not say how to get a hint", f'mention gpulab.hint("{id}")')
    if "**How it is judged.**" not in text:
        yield Complaint(where, "the text does not say how it is judged", "write a paragraph **How it is judged.**")
    if "solution-only" not in text:
        yield Complaint(where, "the solution has no explanation", 'write a cell +++ {"tags": ["solution-only"]}')
    if f'gpulab.check("{id}", ' not in text or ").require()" not in text:
        yield Complaint(where, "the grade cell does not check this exercise", "call gpulab.check(ID, ...).require()")
    if isinstance(exercise, Exercise):
        yield from of_kernels(exercise, text)
    if set(exercise.archs) != set(architectures.defaults()):
        wanted = " and ".join(architectures.defaults())
        yield Complaint(where, f"it is judged on {', '.join(exercise.archs)}", f"judge on {wanted}")
    lesson = build.COURSE / "lessons" / f"{exercise.lesson}.md"
    if not lesson.is_file():
        yield Complaint(where, f"its lesson {exercise.lesson} does not exist", "name the stem of a lesson's file")
        return
    written = build.source_text(lesson)
    if exercise.section.replace(" ", "-") not in anchors(written):
        yield Complaint(where, f"its lesson has no section “{exercise.section}”", "name one of its headings")
    if f"../exercises/{id}/{id}.ipynb" not in written:
        yield Complaint(where, f"lesson {exercise.lesson} does not link to it", "list it under “## Exercises”")


def of_kernels(exercise: Exercise, text: str) -> Iterator[Complaint]:
    """Signatures in the text, and sizes that tell mistakes apart."""
    where = f"exercise {exercise.id}"
    for kernel, signature in exercise.kernels.items():
        wanted = languages.answers(exercise.language).heading.format(kernel=kernel, parameters=signature)
        bounds = r"void\s+(__launch_bounds__\([^)]*\)\s*)?"
        if not re.search(re.escape(wanted).replace(r"void\ ", bounds), " ".join(text.split())):
            yield Complaint(where, f"the text has no `{wanted}`", "write it as the check does")
    for promise in exercise.promises:
        if promise.text not in " ".join(text.split()):
            yield Complaint(
                where, f"the text does not say “{promise.text}”", "promise learners what the check keeps to"
            )
    sizes = [row["n"] for row in exercise.cases if "n" in row]
    if sizes and not exercise.fixed_sizes:
        if not {0, 1} <= set(sizes):
            yield Complaint(where, "its cases lack n = 0 or n = 1", "add them, or say why not in fixed_sizes")
        if not any(row["n"] % row["block"] for row in exercise.cases if "block" in row):
            yield Complaint(where, "every n is a multiple of the block", "add a case with a part-filled last block")


def of_marks(folder: Path) -> Iterator[Complaint]:
    """Places of the template that are not filled in yet."""
    for path in sorted(folder.rglob("*.*")):
        if path.suffix in (".py", ".md", ".hip", ".toml"):
            for number, line in enumerate(build.source_text(path).splitlines(), 1):
                for mark in MARK.findall(line):
                    yield Complaint(f"{_where(path)}:{number}", f"{mark} is not filled in", "write it in its place")


def picture(text: str, id: str) -> bool:
    """Is there a picture before the solution: the drawn one, or an image with alternative text?"""
    before = text.split(":tags: [solution]")[0]
    return f'gpulab.exercise("{id}")' in before or re.search(r"!\[[^\]]+\]\([^)]+\)", before) is not None


@dataclass(frozen=True)
class Judged:
    """An answer of the course and the verdict on it. A right answer has no `wrong`; `explained` as in `judge`."""

    name: str
    verdict: Verdict
    wrong: WrongAnswer | None = None
    explained: bool = True


def judged_answers(id: str) -> list[Judged]:
    """Runs all answers of an exercise, each once."""
    exercise = load(id)
    found = [judged_wrong(exercise, answer) for answer in wrong_answers(id)]
    return found + [Judged(name, judged(exercise, source)) for name, source in right_answers(id).items()]


def judged_wrong(exercise: Exercise | ProgramExercise, answer: WrongAnswer, explained: bool = True) -> Judged:
    """Runs a wrong answer."""
    return Judged(answer.name, judged(exercise, answer.source, explained=explained), answer, explained)


def example(exercise: Exercise | ProgramExercise) -> WrongAnswer:
    """The wrong answer of an exercise that is explained where one is: one with wrong output, if there is any."""
    answers, required = wrong_answers(exercise.id), {each.name for each in exercise.requirements}
    return next((answer for answer in answers if answer.cause not in required), answers[0])


def of_answers(id: str) -> list[Complaint]:
    """Runs all answers of an exercise, and what learners get before they change anything."""
    exercise = definition(id)
    if isinstance(exercise, Complaint):
        return []  # `of_exercise` says it
    try:
        answers = judged_answers(id)
    except CheckError as error:
        return [complaint_of(f"exercise {id}", error, "mend check.py")]
    return [complaint for each in answers for complaint in of_verdict(exercise, each)] + list(of_released(id))


def of_verdict(exercise: Exercise | ProgramExercise, answer: Judged) -> Iterator[Complaint]:
    """The verdict is the one that is wanted, and a rejection says what failed, why, and where to read on."""
    verdict, kind = answer.verdict, "right answer" if answer.wrong is None else "wrong answer"
    where = f"exercise {exercise.id}, {kind} {answer.name}"
    if answer.wrong is None:
        if not verdict.passed:
            yield Complaint(where, f"a right answer is rejected:\n{verdict}", "mend the exercise")
        return
    if verdict.passed:
        yield Complaint(where, "a wrong answer passes", "add a case or a requirement that tells it")
        return
    if verdict.cause != answer.wrong.cause:
        what = f"it is rejected for {verdict.cause or 'no known cause'!r} instead of {answer.wrong.cause!r}:\n{verdict}"
        yield Complaint(where, what, "mend the cause's test or the order of causes")
        return
    titles = {**asked(exercise), **{each.name: each.title for each in causes_of(exercise)}}
    title = titles.get(verdict.cause, verdict.cause)
    text = " ".join(verdict.text.split())
    parts = [title, "fails with", f'gpulab.hint("{exercise.id}")', exercise.section]
    missing = [part for part in parts if " ".join(part.split()) not in text]
    if missing:
        yield Complaint(
            where, f"the report does not say {', '.join(map(repr, missing))}:\n{verdict}", "mend the report"
        )
    if isinstance(exercise, Exercise) != bool(verdict.smallest):
        yield Complaint(where, f"the smallest failing input is {dict(verdict.smallest)}", "mend the report")
    if not answer.explained:
        return
    if isinstance(exercise, Exercise):
        secret = any(array.secret for array in exercise.case(exercise.cases[0]).arrays)
        if (verdict.case is None) != (secret or verdict.status == "requirement"):
            yield Complaint(where, "a failing case is drawn where output is wrong, and only there", "mend the report")
    yield from of_picture(where, verdict)


def of_picture(where: str, verdict: Verdict) -> Iterator[Complaint]:
    """The failing case can be drawn, and the verdict can be kept in a file that is not large."""
    kept = json.dumps(verdict.as_dict())
    if Verdict.from_dict(json.loads(kept)) != verdict:
        yield Complaint(where, "the verdict is not the same after its way through a file", "mend as_dict")
    if len(kept) > MOST_BYTES:
        yield Complaint(where, f"the verdict takes {len(kept)} bytes in a file", "keep less of the failing case")
    picture = verdict.picture()
    if picture is None:
        return
    assert verdict.case is not None
    size = len(json.dumps(picture.message()))
    if size > MOST_DRAWN:
        yield Complaint(where, f"the picture of the failing case takes {size} bytes", "draw less")
    if not verdict.case.stopped and not any(
        array.wrong or array.never or array.beside for array in verdict.case.arrays
    ):
        yield Complaint(where, "the picture of the failing case shows nothing that is wrong", "mend the picture")


def of_released(id: str) -> Iterator[Complaint]:
    """The released notebook must fail, and because nothing was written yet."""
    path = build.ROOT / "exercises" / id / f"{id}.ipynb"
    if not path.is_file():
        yield Complaint(_where(path), "there is no released notebook", "run `make notebooks`")
        return
    notebook = json.loads(build.source_text(path))
    exercise = load(id)
    written_in = languages.answers(exercise.language)
    solutions = [
        "".join(cell["source"]) for cell in notebook["cells"] if "solution" in cell["metadata"].get("tags", ())
    ]
    if written_in.magic:
        sources = [text.partition("\n")[2] for text in solutions if text.startswith("%%")]
    else:
        sources = [text for text in solutions if written_in.defines(text, exercise.kernel)]
    if not sources:
        yield Complaint(_where(path), "there is no cell to write in", "tag a cell solution")
        return
    verdict = judged(exercise, sources[-1])
    of_programs = "nothing-printed", "nothing-launched", "not-begun"
    allowed = ("nothing-written",) if isinstance(exercise, Exercise) else of_programs
    if verdict.passed:
        yield Complaint(_where(path), "the released exercise passes unedited", "the stub must not do the work")
    elif verdict.cause not in allowed:
        what = f"the released exercise fails for {verdict.cause or 'no known cause'!r}:\n{verdict}"
        yield Complaint(_where(path), what, "its stub must compile, run, and write nothing")


# --------------------------------------------------------------------------------------------------------- the whole


def of_course() -> Iterator[Complaint]:
    """Numbers of lessons and exercises; folders that are no exercises, and files that are no lessons."""
    exercises = definitions()
    with_text = {job.name for job in build.jobs() if job.released is not None}
    for name in folders():
        if name not in with_text:  # `of_exercise` looks at the others
            found = definition(name)
            yield (
                found if isinstance(found, Complaint)
                else Complaint(f"course/exercises/{name}", "it has no exercise.md", "write it, or remove the folder")
            )  # fmt: skip
    if not folders():
        yield Complaint("course/exercises", "no exercise was found", "a course without exercises checks nothing")
    elif len(exercises) < FEWEST_EXERCISES:
        yield Complaint(
            "course/exercises", f"{len(exercises)} exercises", f"there should be {FEWEST_EXERCISES} or more"
        )
    lessons = [job for job in build.jobs() if job.source.parent.name == "lessons"]
    yield from of_names(build.COURSE / "lessons")
    if not lessons:
        yield Complaint("course/lessons", "no lesson was found", "a course without lessons teaches nothing")
    for job in lessons:
        count = sum(exercise.lesson == job.name for exercise in exercises.values())
        if count < FEWEST_OF_A_LESSON:
            yield Complaint(
                _where(job.source), f"{count} exercises belong to it", f"write {FEWEST_OF_A_LESSON} or more"
            )


def of_names(folder: Path) -> Iterator[Complaint]:
    """Every lesson's file has a name from which a notebook is made, and a number of its own."""
    numbers: dict[str, str] = {}
    for path in sorted(folder.glob("*.*")):
        number = re.fullmatch(r"(\d\d)_[a-z0-9_]+\.md", path.name)
        if number is None:
            yield Complaint(
                f"course/lessons/{path.name}", "no notebook is made of a file with this name",
                "call it NN_name.md: two digits, and words in lower case joined by _",
            )  # fmt: skip
        elif number[1] in numbers:
            other = numbers[number[1]]
            yield Complaint(
                f"course/lessons/{path.name}", f"{other} has the number {number[1]}, too", "give it another"
            )
        else:
            numbers[number[1]] = path.name


def terms(glossary: str) -> dict[str, str]:
    """Terms of HIP and of AMD's manuals -> number of the first lesson that explains each. No names of code."""
    found: dict[str, str] = {}
    for words, lesson in TERMS.findall(glossary):
        columns = re.sub(r"\([^)]*\)", "", words).split("|")
        for column in columns[1:] or columns:  # CUDA's words come first where there are several columns
            for term in map(str.strip, re.split(r"[,;:]", column)):
                if term not in ("", "–") and "`" not in term:
                    found[term] = min(lesson, found.get(term, lesson))
    return found


def of_words() -> Iterator[Complaint]:
    """A lesson that uses a term before the one that explains it says so: by emphasis, or by naming a lesson."""
    glossary = build.COURSE / "pages" / "glossary.md"
    if not glossary.is_file():
        return
    lessons = sorted((build.COURSE / "lessons").glob("[0-9][0-9]_*.md"))
    paragraphs = {
        path: [
            re.sub(r"`[^`\n]*`", "", LINK.sub(r"\2", each))
            for passage in passages(build.source_text(path))
            for each in passage.split("\n\n")
            if not re.match(r"#|\*\*(Next|Further reading):", each)
        ]
        for path in lessons
    }
    for term, lesson in terms(build.source_text(glossary)).items():
        word = rf"(?<![\w-]){re.escape(term)}s?(?![\w-])"
        earlier = [path for path in lessons if path.name[:2] < lesson]
        first = next(((path, each) for path in earlier for each in paragraphs[path] if re.search(word, each)), None)
        if first is None:
            continue
        path, text = first
        if not re.search(rf"\*[^*\n]*{word}[^*\n]*\*|\b[Ll]essons? \d\d", text):
            yield Complaint(
                _where(path),
                f"it uses {term!r}, which lesson {lesson} explains: {' '.join(text.split())[:80]!r}",
                "explain it there (in *emphasis*), name the lesson, or put the first that explains it in the glossary",
            )


# ------------------------------------------------------------------------------------------------------------ running


def of_source(job: build.Job) -> Iterator[Complaint]:
    """Can a notebook be made of it? The one that is there may be older."""
    try:
        build.read(job)
    except build.SourceError as error:
        where = _where(job.source)
        yield Complaint(where, str(error).removeprefix(f"{where}: "), "course/README.md explains the marks")


def complaints(only: list[str] | None = None, answers: bool = True) -> list[Complaint]:
    """All of them, or those about the sources named ("02_simt", "02", "saxpy-guard")."""
    jobs = build.jobs(only)
    ids = [job.name for job in jobs if job.released is not None]
    found = [] if only else [*of_course(), *of_words()]
    for job in jobs:
        found += of_source(job)
        found += of_text(job)
        if job.source.parent.name == "lessons":
            found += of_lesson(job)
    for id in ids:
        found += of_exercise(id)
    if not answers:
        return found
    if build.PROCESSES == 1:
        return found + [complaint for id in ids for complaint in of_answers(id)]
    with build.workers(build.PROCESSES) as pool:
        return found + [complaint for some in pool.map(of_answers, ids) for complaint in some]


def _where(path: Path) -> str:
    return path.relative_to(build.ROOT).as_posix() if path.is_relative_to(build.ROOT) else path.name


def _around(text: str, found: re.Match[str]) -> str:
    return " ".join(text[max(found.start() - 40, 0) : found.end() + 20].split())


def of_hints(where: str, hints: Iterable[str], right: dict[str, str], language: str = "hip") -> Iterator[Complaint]:
    """Code in hints (between backticks) stands in a right answer, which is compiled and judged: so it is right too."""
    answers = [_parts(languages.answers(language).code_only(source)) for source in right.values()]
    for hint in hints:
        for code in re.findall("`([^`]*)`", hint):
            asked = re.match(r"(?:before|after|run)\.(\w+)\(", code)  # an instrument, in Python
            if not (hasattr(Run, asked[1]) if asked else any(_parts(code).strip() in answer for answer in answers)):
                yield Complaint(where, f"no right answer has the code of a hint: {code}",
                                "write the hint with the words of a right answer")  # fmt: skip
        if loose := CODE.search(re.sub("`[^`]*`", "", hint)):
            yield Complaint(where, f"a hint has code that is not between backticks: {loose[0]}",
                            "put code between backticks")  # fmt: skip


def _parts(source: str) -> str:
    """The tokens of C++ text with a space between, braces left out."""
    tokens = re.findall(r"[^\W\d]\w*|\d[\w.]*|[^\s{}]", source)
    return f" {' '.join(tokens)} "


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Find what is wrong with the course.")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="lessons (02_simt or 02) or exercises (saxpy-guard)")
    parser.add_argument("--no-answers", action="store_true", help="read alone: run no answers")
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        found = complaints(chosen.only, not chosen.no_answers)
    except build.SourceError as error:
        print(error)
        return 2
    for complaint in found:
        print(complaint)
    print(f"{len(found)} complaints in {time.perf_counter() - began:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
