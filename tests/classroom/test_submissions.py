"""From notebooks and folders to answers: which cell counts, which layouts are read, and what is a problem."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
import unicodedata
import zipfile
from pathlib import Path

import pytest

from gpulab.classroom import notebook, reading
from gpulab.classroom.notebook import Asked, Cell, answer, cells, defines
from gpulab.classroom.points import Scheme
from gpulab.classroom.reading import Unreadable, entries
from gpulab.classroom.results import MISSING, rows
from gpulab.classroom.submissions import NOT_HANDED_IN, _unzipped, answer_of_file, asked_by, submissions
from gpulab.errors import CheckError

ROOT = Path(__file__).resolve().parents[2]
SAXPY = Asked("saxpy-guard", "saxpy")
KERNEL = "__global__ void saxpy(int n, float a, const float* x, float* y)\n{\n}\n"


def book(*sources: object, ids: dict[int, str] | None = None) -> str:
    """A notebook with these code cells; `ids`: nbgrader's marks of some."""
    listed = []
    for number, source in enumerate(sources):
        marks = {"nbgrader": {"grade_id": ids[number], "solution": True}} if ids and number in ids else {}
        listed.append({"cell_type": "code", "metadata": marks, "source": source})
    return json.dumps({"cells": listed, "nbformat": 4})


def found(text: str, asked: Asked = SAXPY) -> str:
    return answer(cells(text), asked)


# ------------------------------------------------------------------------------------------------------- the cell


@pytest.mark.parametrize(
    ("source", "does"),
    [
        (KERNEL, True),
        ("// __global__ void saxpy(int n) {\nint x;", False),
        ("// on two lines \\\n__global__ void saxpy(int n) {\nint x;", False),
        ("/* __global__ void saxpy(int n) { */", False),
        ('const char* text = "__global__ void saxpy(int n) {";', False),
        ('auto text = R"x(__global__ void saxpy(int n) {)x";', False),
        ("__global__ void saxpy(int n);", False),
        ("__global__ void other(int n) { saxpy(n); }", False),
        ("__device__ void saxpy(int n) { }", False),
        ("void f() { } // it's\n__global__ void saxpy(int n) { }", True),
        ("char c = '\"'; __global__ void saxpy(int n) { } // \"", True),
        ("template <int N>\n__global__ __launch_bounds__(256) void saxpy(int n)\n{\n}", True),
        ("/**/__global__ void /* saxpy */ saxpy // a\n (int n) {}", True),
        ("int big = 1'000'000; __global__ void saxpy(int n) {}", True),
    ],
)
def test_only_code_defines_a_kernel(source: str, does: bool) -> None:
    assert defines(source, SAXPY) is does


@pytest.mark.full
def test_looking_for_a_kernel_takes_no_time_on_hostile_text() -> None:
    for text in ("__global__ " * 20_000, "main(" * 50_000, "saxpy" + " " * 200_000, '"' * 200_000, "/*" * 100_000):
        before = time.process_time()
        assert not defines(text, SAXPY)
        assert not defines(text, Asked("x", "main", program=True))
        assert time.process_time() - before < 2


def test_a_kernel_named_in_a_comment_is_not_the_answer() -> None:
    """The notebook of a student who keeps notes below the answer."""
    notes = "// my __global__ void saxpy(int n) { is above\n__global__ void trial(int n) { }"
    assert found(book(f"%%hip\n{KERNEL}", f"%%hip\n{notes}")) == KERNEL


def test_the_cell_that_nbgrader_marked_counts_before_others() -> None:
    own, later = KERNEL.replace("{\n}", "{ y[0] = a; }"), KERNEL.replace("{\n}", "{ y[0] = 7; }")
    text = book(f"%%hip\n{own}", f"%%hip\n{later}", ids={0: "saxpy-guard-answer-1"})
    assert found(text) == own
    renamed = book("%%hip\n__global__ void other() {}", f"%%hip\n{later}", ids={0: "saxpy-guard-answer-1"})
    assert found(renamed) == later
    twice = book(f"%%hip\n{own}", f"%%hip\n{later}", ids={0: "saxpy-guard-answer-1", 1: "saxpy-guard-answer-1"})
    assert found(twice) == later


def test_the_last_definition_before_the_check_counts() -> None:
    one, two, three = (KERNEL.replace("{\n}", f"{{ y[0] = {number}; }}") for number in (1, 2, 3))
    check = 'gpulab.check("saxpy-guard", saxpy).require()'
    assert found(book(f"%%hip\n{one}", f"%%hip\n{two}", check, f"%%hip\n{three}")) == two
    assert found(book(f"%%hip\n{one}", f"%%hip\n{two}")) == two


def test_programs_are_told_apart_by_their_names() -> None:
    program = "#include <cstdio>\nint main() { return %d; }\n"
    text = book(
        f"%%hipcc --name checks --args 3\n{program % 1}", 'gpulab.check("port-checks", checks).require()',
        f"%%hipcc --name sums\n{program % 2}", 'gpulab.check("portable-kernel", sums)',
    )  # fmt: skip
    assert found(text, Asked("port-checks", "main", True)) == program % 1
    assert found(text, Asked("portable-kernel", "main", True)) == program % 2


def test_the_program_that_is_checked_counts_not_the_last_one() -> None:
    one, other = "int main() { return 1; } // --name other", "int main() { return 2; }"
    text = book(
        f"\n\n%%hipcc --name mine\n{one}", f"%%hipcc --name=other\n{other}", 'gpulab.check("port-a-program", mine)'
    )
    assert found(text, Asked("port-a-program", "", program=True)).strip() == one


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is not a notebook: it is empty"),
        (book(f"%%hip\n{KERNEL}")[:100], "it is not a notebook: it breaks off in line 1"),
        ('{"cells": [', "it is not a notebook: it breaks off in line 1"),
        ('{"cells": [],\n"nbformat" 4}', "it is not a notebook: its JSON is damaged in line 2"),
        ('{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}', "a conflict that git left"),
        ("<<<<<<< \n" * 500_000, "it is not a notebook"),
        ("[" * 100_000, "it is not a notebook"),
        ('{"a":' * 100_000, "it is not a notebook"),
        ("[]", "it is not a notebook"),
        ('{"cells": 3}', "it is not a notebook"),
        ('{"cells": [' + "1" * 10_000 + "]}", "it is not a notebook"),
        ('{"worksheets": []}', "it has no %%hip cell with a kernel"),
        ('{"worksheets": 3}', "it is not a notebook"),
        ('{"worksheets": [null, {}, {"cells": 3}, {"cells": [{"cell_type": "code", "input": 3}]}]}', "no %%hip cell"),
        ('{"cells": NaN}', "it is not a notebook"),
        ('{"cells": [' + "0," * 2_000_000 + "0]}", "too many parts"),
        ('{"cells": []}', "it has no %%hip cell with a kernel"),
        (json.dumps({"cells": [None, 3, [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}}]}),
         "it has no %%hip cell with a kernel"),
        (json.dumps({"cells": [{"cell_type": "code", "source": ["%%hip\n", 3]}]}), "no %%hip cell"),
        (json.dumps({"cells": [{"cell_type": "markdown", "source": "%%hip\n" + KERNEL}]}), "no %%hip cell"),
        (json.dumps({"cells": [{"cell_type": "code", "source": "%%hip\n" + KERNEL + "//" + "x" * (300 << 10)}]}),
         "longer than 256 KB"),
    ],
)  # fmt: skip
def test_odd_notebooks_are_sentences(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        found(text)


@pytest.mark.parametrize("mark", [{}, {"nbgrader": {"solution": True, "grade_id": "saxpy-guard-answer-1"}}])
def test_a_notebook_of_format_3_is_read(mark: dict[str, object]) -> None:
    cells_of_3 = [
        {"cell_type": "markdown", "source": ["# text"], "metadata": {}},
        {"cell_type": "code", "input": ["%%hip\n", KERNEL], "language": "python", "outputs": [], "metadata": mark},
    ]
    whole = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells_of_3}]}
    assert found(json.dumps(whole)) == KERNEL


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_the_answer_cell_counts_where_a_key_press_made_it_text(kind: str) -> None:
    """As nbgrader has it, which restores the kind of a marked cell."""
    text = json.loads(book("import gpulab", f"%%hip\n{KERNEL}", ids={1: "saxpy-guard-answer-1"}))
    text["cells"][1]["cell_type"] = kind
    assert found(json.dumps(text)) == KERNEL


def test_an_answer_whose_magic_was_deleted_is_named() -> None:
    with pytest.raises(Unreadable, match="%%hip is not in the first line of its cell"):
        found(json.dumps({"cells": [{"cell_type": "code", "source": KERNEL}]}))
    with pytest.raises(Unreadable, match=r"a kernel$"):
        found(json.dumps({"cells": [{"cell_type": "code", "source": "print(3)"}]}))


def test_a_magic_that_is_not_in_the_first_line_is_named() -> None:
    with pytest.raises(Unreadable, match="%%hip is not in the first line of its cell"):
        found(book(f"import gpulab\n\n%%hip\n{KERNEL}"))


def test_odd_marks_of_a_cell_are_left_out() -> None:
    for metadata in (None, 3, [], {"nbgrader": 3}, {"nbgrader": {"grade_id": 4, "solution": True}}):
        text = json.dumps({"cells": [{"cell_type": "code", "metadata": metadata, "source": f"%%hip\n{KERNEL}"}]})
        assert cells(text) == [Cell(f"%%hip\n{KERNEL}")]


def test_half_characters_cannot_get_further() -> None:
    text = book(f"%%hip\n{KERNEL}// \ud800")
    assert found(text).encode("utf-8").startswith(KERNEL.encode())


def test_a_notebook_with_the_largest_allowed_number_of_parts_is_read_quickly() -> None:
    text = '{"cells": [' + "[]," * (notebook.PARTS // 2 - 10) + "0]}"
    before = time.process_time()
    assert cells(text) == []
    assert time.process_time() - before < 5


# ------------------------------------------------------------------------------------------------------ the layouts


def write(path: Path, data: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def read(top: Path, *exercises: str) -> dict[tuple[str, str], str]:
    """(student, exercise) -> "ok", or the problem."""
    return {(row.student, row.exercise): row.problem or "ok" for row in submissions(top, exercises or None)}


def test_layouts_that_are_read(tmp_path: Path) -> None:
    text = book(f"%%hip\n{KERNEL}")
    both = book(
        f"%%hip\n{KERNEL}", "%%hip\n__global__ void fill(int n, float value, float* out) {}",
        ids={0: "saxpy-guard-answer-1", 1: "first-fill-answer-1"},
    )  # fmt: skip
    write(tmp_path / "nbgrader" / "saxpy-guard" / "saxpy-guard.ipynb", text)
    write(tmp_path / "nbgrader" / "saxpy-guard" / "timestamp.txt", "2026-11-23")
    write(tmp_path / "week" / "week1" / "saxpy-guard.ipynb", text)
    write(tmp_path / "flat" / "saxpy-guard.ipynb", text)
    write(tmp_path / "hip" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "cpp" / "SAXPY_GUARD.CPP", KERNEL)
    write(tmp_path / "copy" / "saxpy-guard (1).ipynb", text)
    write(tmp_path / "other-name" / "homework.ipynb", both)
    write(tmp_path / "bom" / "saxpy-guard.hip", b"\xef\xbb\xbf" + KERNEL.encode())
    write(tmp_path / "wide" / "saxpy-guard.hip", f"\ufeff{KERNEL}".encode("utf-16"))
    write(tmp_path / "in-folder" / "saxpy-guard" / "answer.hip", KERNEL)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("packed/saxpy-guard/saxpy-guard.ipynb", text)
    write(tmp_path / "packed.zip", packed.getvalue())
    rows = {row.student: row for row in submissions(tmp_path, ["saxpy-guard"])}
    assert {row.problem for row in rows.values()} == {""}
    assert {row.answer for row in rows.values()} == {KERNEL}
    assert len(rows) == 11
    assert read(tmp_path)["other-name", "first-fill"] == "ok"
    assert read(tmp_path)["flat", "first-fill"] == NOT_HANDED_IN
    course = tmp_path.parent / "course"
    shutil.copytree(tmp_path, course / "submitted")
    write(course / "solutions" / "saxpy-guard" / "saxpy-guard.ipynb", text)
    assert read(course) == read(tmp_path)


def test_a_zip_of_a_class_gives_the_same_as_its_folder(tmp_path: Path) -> None:
    for student in ("ann", "bob"):
        write(tmp_path / "submitted" / student / "saxpy-guard" / "saxpy-guard.ipynb", book(f"%%hip\n{KERNEL}"))
    write(tmp_path / "submitted" / "cy" / "saxpy-guard.hip", "")
    name = shutil.make_archive(str(tmp_path / "class"), "zip", tmp_path, "submitted")
    assert submissions(Path(name)) == submissions(tmp_path)
    nested = tmp_path / "nested.zip"
    with zipfile.ZipFile(nested, "w") as archive:
        archive.write(name, "dee.zip")
        archive.writestr("ann/saxpy-guard.hip", KERNEL)
    problems = {row.student: row.problem for row in submissions(nested) if row.answer is None and not row.exercise}
    assert problems == {"dee": "dee.zip: a zip inside a zip is not opened: unpack the outer one"}


def test_what_is_wrong_is_a_row(tmp_path: Path) -> None:
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "binary" / "saxpy-guard.hip", b"\x7fELF\0\0\0")
    write(tmp_path / "empty" / "saxpy-guard.ipynb", "")
    write(tmp_path / "blank" / "saxpy-guard.hip", " \n")
    write(tmp_path / "two" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "two" / "saxpy-guard.ipynb", book(f"%%hip\n{KERNEL} // other"))
    write(tmp_path / "same" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "same" / "week" / "saxpy-guard.cpp", KERNEL)
    write(tmp_path / "unknown" / "my-kernel.hip", KERNEL)
    write(tmp_path / "zip.zip", b"PK\3\4 no zip")
    write(tmp_path / "esc\x1b[31m" / "saxpy-guard.hip", KERNEL)
    (tmp_path / "fifo").mkdir()
    os.mkfifo(tmp_path / "fifo" / "saxpy-guard.ipynb")
    (tmp_path / "linked").symlink_to(tmp_path / "ann")
    assert read(tmp_path) == {
        ("ann", "saxpy-guard"): "ok",
        ("binary", "saxpy-guard"): "saxpy-guard.hip: it is not text",
        ("empty", "saxpy-guard"): "saxpy-guard.ipynb: it is not a notebook: it is empty",
        ("blank", "saxpy-guard"): "saxpy-guard.hip: it is empty",
        ("two", "saxpy-guard"): "different answers in saxpy-guard.hip, saxpy-guard.ipynb",
        ("same", "saxpy-guard"): "ok",
        ("unknown", ""): "my-kernel.hip: no exercise has this name",
        ("unknown", "saxpy-guard"): NOT_HANDED_IN,
        ("zip", ""): "zip.zip: it is not a zip file that can be read",
        ("zip", "saxpy-guard"): NOT_HANDED_IN,
        ("esc\u241b[31m", "saxpy-guard"): "ok",
        ("fifo", "saxpy-guard"): "saxpy-guard.ipynb: it is a FIFO, not a file",
        ("linked", ""): "linked: it is a symbolic link, which is not followed",
        ("linked", "saxpy-guard"): NOT_HANDED_IN,
    }


def test_what_is_of_a_kind_that_is_not_read_is_named(tmp_path: Path) -> None:
    """Nobody who handed in something reads that nothing was handed in."""
    kinds = ".ipynb, .hip, .cpp, .cc, .cxx, .c, .zip"
    for student, name in (("ann", "saxpy-guard.py"), ("bob", "saxpy-guard.rar"), ("cy", "SAXPY_GUARD.CU")):
        write(tmp_path / student / name, KERNEL)
    write(tmp_path / "dee" / "homework.pdf", "%PDF")
    write(tmp_path / "eve" / "saxpy-guard.ipynb", book(f"%%hip\n{KERNEL}"))
    for name in ("saxpy-guard.html", "notes.docx", "input.csv"):
        write(tmp_path / "eve" / name, "")
    write(tmp_path / "fay" / "saxpy-guard" / "photo.jpg", b"")
    write(tmp_path / "names.csv", "login;name")
    write(tmp_path / "gus" / "saxpy-guard.ipynb", "x" * (17 << 20))
    assert read(tmp_path, "saxpy-guard") == {
        ("ann", "saxpy-guard"): f"saxpy-guard.py: files of this kind are not read, only {kinds}",
        ("bob", "saxpy-guard"): f"saxpy-guard.rar: files of this kind are not read, only {kinds}",
        ("cy", "saxpy-guard"): f"SAXPY_GUARD.CU: files of this kind are not read, only {kinds}",
        ("dee", "saxpy-guard"): NOT_HANDED_IN,
        ("dee", ""): "homework.pdf: files of this kind are not read, only .ipynb, .hip, .cpp, .zip",
        ("eve", "saxpy-guard"): "ok",
        ("fay", "saxpy-guard"): NOT_HANDED_IN,
        ("gus", "saxpy-guard"): "saxpy-guard.ipynb: it is larger than 16 MB; without its outputs it is smaller",
        ("", ""): "names.csv: a file beside the students' folders, of no student",
    }
    found = rows(submissions(tmp_path, ["saxpy-guard"]), {}, {}, Scheme())
    reasons = {row.student: row.reason for row in found if row.status == MISSING}
    assert reasons == {"dee": "Not recognised as the answer to an exercise: homework.pdf", "fay": ""}


def test_names_that_browsers_and_zips_give_are_read(tmp_path: Path) -> None:
    text = book(f"%%hip\n{KERNEL}")
    write(tmp_path / "ann" / "saxpy-guard.ipynb.txt", text)
    write(tmp_path / "bob" / "saxpy-guard.ipynb.json", text)
    write(tmp_path / "cy" / "Saxpy_Guard" / "answer.hip", KERNEL)
    write(tmp_path / "j.doe.ipynb.txt", book(f"%%hip\n{KERNEL}", ids={0: "saxpy-guard-answer-1"}))
    for student, inside in (("dee", "answer.hip"), ("eve", "saxpy-guard/answer.hip"), ("fay", "week/answer.hip")):
        (tmp_path / student).mkdir()
        with zipfile.ZipFile(tmp_path / student / "saxpy-guard.zip", "w") as packed:
            packed.writestr(inside, KERNEL)
    found = submissions(tmp_path, ["saxpy-guard"])
    assert {row.student: row.answer for row in found} == dict.fromkeys(
        ("ann", "bob", "cy", "dee", "eve", "fay", "j.doe"), KERNEL
    )


MOODLE = "J\u00fcrgen M\u00fcller_4711_assignsubmission_file"


def test_one_file_with_the_name_that_a_browser_gave_it(tmp_path: Path) -> None:
    for name, text in (("a.ipynb.txt", book(f"%%hip\n{KERNEL}")), ("a.hip.txt", KERNEL), ("a.txt", KERNEL)):
        write(tmp_path / name, text)
        assert answer_of_file(tmp_path / name, SAXPY) == KERNEL


def test_downloads_of_moodle_and_canvas(tmp_path: Path) -> None:
    """As a folder, as a zip, and as a zip in a folder: each student is one, with all files."""
    text, packed = book(f"%%hip\n{KERNEL}"), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("saxpy-guard.hip", KERNEL)
    files = {
        f"{MOODLE}/saxpy-guard.ipynb": text.encode(),
        "Ada B_12_assignsubmission_file_/Saxpy_Guard.hip": KERNEL.encode(),
        "Ada B_13_assignsubmission_file_/saxpy-guard.hip": KERNEL.replace("{\n}", "{ }").encode(),
        "lovelaceada_340_900_saxpy-guard.ipynb": text.encode(), "lovelaceada_340_901_notes.txt": b"mine",
        "names_2026_11_27.csv": b"no student",
        "smithbob_LATE_341_902_saxpy-guard-1.ipynb": text.encode(),
    }  # fmt: skip
    students = {
        "J\u00fcrgen M\u00fcller (Moodle 4711)", "Ada B (Moodle 12)", "Ada B (Moodle 13)", "lovelaceada (Canvas 340)",
        "smithbob (Canvas 341)",
    }  # fmt: skip
    for name, data in files.items():
        write(tmp_path / "class" / name, data)
    expected = {(student, "saxpy-guard"): "ok" for student in students}
    expected["", ""] = "names_2026_11_27.csv: a file beside the students' folders, of no student"
    assert read(tmp_path / "class", "saxpy-guard") == expected
    whole = shutil.make_archive(str(tmp_path / "download"), "zip", tmp_path / "class")
    assert read(Path(whole), "saxpy-guard") == expected
    (tmp_path / "folder").mkdir()
    shutil.copy(whole, tmp_path / "folder")
    assert read(tmp_path / "folder", "saxpy-guard") == expected
    write(tmp_path / "folder" / "eve" / "saxpy-guard.hip", KERNEL)
    assert {row.student for row in submissions(tmp_path / "folder")} == {"download", "eve"}, "one student's zip"
    write(tmp_path / "class" / "wonder_342_903_homework.zip", packed.getvalue())
    assert read(tmp_path / "class", "saxpy-guard") == {**expected, ("wonder (Canvas 342)", "saxpy-guard"): "ok"}


def test_a_student_with_an_empty_folder_is_a_student(tmp_path: Path) -> None:
    """Collected from a home where nothing was: a line with no points, and not no line."""
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "bob" / ".ipynb_checkpoints" / "saxpy-guard-checkpoint.ipynb", book(f"%%hip\n{KERNEL}"))
    (tmp_path / "c.y").mkdir()
    (tmp_path / "dee" / "saxpy-guard").mkdir(parents=True)
    (tmp_path / "pack").mkdir()
    expected = {
        ("ann", "saxpy-guard"): "ok", ("bob", "saxpy-guard"): NOT_HANDED_IN, ("c.y", "saxpy-guard"): NOT_HANDED_IN,
        ("dee", "saxpy-guard"): "saxpy-guard: the folder is empty", ("pack", "saxpy-guard"): NOT_HANDED_IN,
    }  # fmt: skip
    assert read(tmp_path) == read(tmp_path, "saxpy-guard") == expected
    packed = shutil.make_archive(str(tmp_path.parent / "class"), "zip", tmp_path)
    assert read(Path(packed)) == expected


def test_only_empty_folders_are_no_class(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    write(tmp_path / "names.csv", "")
    with pytest.raises(CheckError, match=r"only empty folders or others' files \(names.csv, ann\)"):
        submissions(tmp_path, ["saxpy-guard"])


def test_a_name_with_a_dot_stays_whole_where_its_folder_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    (tmp_path / "j.doe").symlink_to(tmp_path / "ann")
    assert ("j.doe", "saxpy-guard") in read(tmp_path)
    assert ("j", "saxpy-guard") not in read(tmp_path)


def test_an_accent_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    for form, exercise in (("NFC", "saxpy-guard"), ("NFD", "first-fill")):
        write(tmp_path / unicodedata.normalize(form, "j\u00fcrgen") / f"{exercise}.hip", KERNEL)
    assert read(tmp_path) == {("j\u00fcrgen", "saxpy-guard"): "ok", ("j\u00fcrgen", "first-fill"): "ok"}


def test_a_copy_that_was_worked_in_counts_before_what_was_given_out(tmp_path: Path) -> None:
    """JupyterLab's "Duplicate" beside the untouched notebook, and the lesson that asks for the check."""
    given = (ROOT / "exercises" / "first-fill" / "first-fill.ipynb").read_text(encoding="utf-8")
    own = (ROOT / "solutions" / "first-fill" / "first-fill.ipynb").read_text(encoding="utf-8")
    write(tmp_path / "ann" / "first-fill.ipynb", given)
    write(tmp_path / "ann" / "first-fill-Copy1.ipynb", own)
    write(tmp_path / "bob" / "first-fill-Copy1.ipynb", given)
    write(tmp_path / "bob" / "first-fill-Copy2.ipynb", own)
    write(tmp_path / "cy" / "exercises" / "first-fill" / "first-fill.ipynb", given)
    lesson = (ROOT / "notebooks" / "00_welcome.ipynb").read_text(encoding="utf-8")
    write(tmp_path / "cy" / "notebooks" / "00_welcome.ipynb", lesson)
    asked = asked_by("first-fill")
    answers = {row.student: row.answer for row in submissions(tmp_path)}
    assert answers == {
        "ann": answer(cells(own), asked), "bob": answer(cells(own), asked), "cy": answer(cells(given), asked)
    }  # fmt: skip


def test_a_file_with_the_exercises_own_name_counts_before_copies(tmp_path: Path) -> None:
    """Of copies alone nobody can say which was meant; where nothing is read, the first of the best names is told."""
    other, third = (KERNEL.replace("{\n}", f"{{ y[0] = {number}; }}") for number in (2, 3))
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "ann" / "saxpy-guard (1).hip", other)
    write(tmp_path / "bob" / "saxpy-guard (2).hip", third)
    write(tmp_path / "bob" / "saxpy-guard (1).hip", other)
    write(tmp_path / "cy" / "a" / "saxpy-guard" / "mine.hip", "")
    write(tmp_path / "cy" / "b" / "saxpy-guard.hip", " ")
    write(tmp_path / "cy" / "c" / "saxpy-guard.ipynb", "{")
    rows = {row.student: (row.answer, row.problem, row.where) for row in submissions(tmp_path, ["saxpy-guard"])}
    copies = ["saxpy-guard (1).hip", "saxpy-guard (2).hip"]
    assert rows == {
        "ann": (KERNEL, "", "saxpy-guard.hip"),
        "bob": (None, f"different answers in {copies[0]}, {copies[1]}", copies[0]),
        "cy": (None, "saxpy-guard.hip: it is empty", "b/saxpy-guard.hip"),
    }


def test_which_of_a_students_files_counts(tmp_path: Path) -> None:
    """Its name, then its folder's, then a notebook that holds it, then text that notebooks are exported to as well."""
    other, third = (KERNEL.replace("{\n}", f"{{ y[0] = {number}; }}") for number in (2, 3))
    holds = book(f"%%hip\n{third}", ids={0: "saxpy-guard-answer-1"})
    write(tmp_path / "ann" / "saxpy-guard" / "mine.hip", other)
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "ann" / "homework.ipynb", holds)
    write(tmp_path / "bob" / "saxpy-guard" / "mine.hip", other)
    write(tmp_path / "bob" / "homework.ipynb", holds)
    asked = asked_by("triton-blend")
    assert asked.language == "triton"
    text = f"@triton.jit\ndef {asked.kernel}(x):\n    {{}}\n"
    write(tmp_path / "cy" / "homework.ipynb", book(text.format("pass"), ids={0: "triton-blend-answer-1"}))
    write(tmp_path / "cy" / "triton-blend.py", text.format("return"))
    write(tmp_path / "dee" / "triton-blend.py", text.format("return"))
    rows = {(row.student, row.exercise): row.answer for row in submissions(tmp_path)}
    assert rows == {
        ("ann", "saxpy-guard"): KERNEL, ("bob", "saxpy-guard"): other, ("cy", "saxpy-guard"): None,
        ("dee", "saxpy-guard"): None, ("ann", "triton-blend"): None, ("bob", "triton-blend"): None,
        ("cy", "triton-blend"): text.format("pass"), ("dee", "triton-blend"): text.format("return"),
    }  # fmt: skip


def test_names_that_lead_astray(tmp_path: Path) -> None:
    """Files that are called as the folder of submissions, and a folder that is called as a zip."""
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "ann" / "submitted", "x")
    write(tmp_path / "submitted", "x")
    (tmp_path / "bob.zip").mkdir()
    write(tmp_path / "cy.zip" / "saxpy-guard.hip", KERNEL)
    assert read(tmp_path) == {
        ("ann", "saxpy-guard"): "ok", ("bob.zip", "saxpy-guard"): NOT_HANDED_IN, ("cy.zip", "saxpy-guard"): "ok",
        ("", ""): "submitted: a file beside the students' folders, of no student",
    }  # fmt: skip


def test_only_a_notebook_is_smaller_without_its_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FILE_BYTES", 1 << 20)
    write(tmp_path / "ann" / "saxpy-guard.hip", "x" * ((1 << 20) + 1))
    write(tmp_path / "bob" / "saxpy-guard.ipynb", "x" * ((1 << 20) + 1))
    write(tmp_path / "cy" / "saxpy-guard.ipynb", "")
    assert read(tmp_path) == {
        ("ann", "saxpy-guard"): "saxpy-guard.hip: it is larger than 1 MB",
        ("bob", "saxpy-guard"): "saxpy-guard.ipynb: it is larger than 1 MB; without its outputs it is smaller",
        ("cy", "saxpy-guard"): "saxpy-guard.ipynb: it is not a notebook: it is empty",
    }


def test_files_of_other_weeks_and_of_the_course_are_no_rows(tmp_path: Path) -> None:
    """A folder that grows week by week, and a whole copy that is handed in."""
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "ann" / "first-fill.ipynb", book(f"%%hip\n{KERNEL}"))
    write(tmp_path / "ann" / "argmax" / "argmax.ipynb", book(f"%%hip\n{KERNEL}", ids={0: "argmax-answer-1"}))
    write(tmp_path / "ann" / "week 1.ipynb", book("%%hip\n", ids={0: "argmax-answer-1"}))
    for name in ("02_simt.ipynb", "glossary.ipynb"):
        write(tmp_path / "ann" / "notebooks" / name, (ROOT / "notebooks" / name).read_bytes())
    write(tmp_path / "ann" / "projects" / "n-body" / "nbody.hip", "int main() {}")
    assert (ROOT / "course" / "projects" / "n-body" / "nbody.hip").is_file()
    write(tmp_path / "bob" / "argmax" / "week 2.ipynb", book(f"%%hip\n{KERNEL}", ids={0: "saxpy-guard-answer-1"}))
    write(tmp_path / "cy" / "docs" / "grading.md", "# Grading")
    assert read(tmp_path, "saxpy-guard") == {
        ("ann", "saxpy-guard"): "ok", ("bob", "saxpy-guard"): "ok", ("cy", "saxpy-guard"): NOT_HANDED_IN
    }  # fmt: skip


def test_the_report_among_the_submissions_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "graded" / "dashboard.ipynb", book("import gpulab"))
    assert {row.student for row in submissions(tmp_path, out=tmp_path / "graded")} == {"ann"}
    assert {row.student for row in submissions(tmp_path, out=tmp_path.parent)} == {"ann", "graded"}
    with pytest.raises(CheckError, match="it is the folder of the submissions"):
        submissions(tmp_path, out=tmp_path)


def test_exercises_in_the_place_of_students_are_refused(tmp_path: Path) -> None:
    """The course's own folder of exercises, one student's folder, and a class that is sorted by exercises."""
    for top in (ROOT / "exercises", tmp_path / "ann", tmp_path / "sorted"):
        write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
        write(tmp_path / "sorted" / "saxpy-guard" / "ann.hip", KERNEL)
        with pytest.raises(CheckError, match=r"there are exercises .* where students are expected"):
            submissions(top, ["saxpy-guard"])


def test_a_file_that_is_named_like_an_exercise_is_no_student(tmp_path: Path) -> None:
    """One that lies beside the students' folders; where there is nothing else, the whole is refused as above."""
    write(tmp_path / "ann" / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "saxpy-guard.hip", KERNEL)
    write(tmp_path / "saxpy_guard (1).ipynb", "{}")
    write(tmp_path / "bob.hip", KERNEL)
    rows = submissions(tmp_path, ["saxpy-guard"])
    assert {row.student for row in rows} == {"ann", "bob", ""}
    assert [row.problem for row in rows if not row.student] == [
        f"{name}: a file beside the students' folders, of no student"
        for name in ("saxpy-guard.hip", "saxpy_guard (1).ipynb")
    ]


def test_a_zip_is_called_empty_only_if_it_is(tmp_path: Path) -> None:
    for student, names in (("ann", []), ("bob", ["me.png"])):
        folder = tmp_path / student
        folder.mkdir()
        with zipfile.ZipFile(folder / "saxpy-guard.zip", "w") as packed:
            for name in names:
                packed.writestr(name, b"picture")
    problems = {student: problem for (student, _), problem in read(tmp_path, "saxpy-guard").items()}
    assert "the zip is empty" in problems["ann"]
    assert problems["bob"] == NOT_HANDED_IN
    shutil.rmtree(tmp_path / "bob")
    (tmp_path / "ann" / "saxpy-guard.zip").rename(tmp_path / "ann.zip")
    (tmp_path / "ann").rmdir()
    assert read(tmp_path, "saxpy-guard")["ann", ""] == "ann.zip: the zip is empty"


def test_a_folder_without_submissions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="no submissions"):
        submissions(tmp_path)
    with pytest.raises(CheckError, match="There is no folder"):
        submissions(tmp_path / "absent")
    with pytest.raises(CheckError, match="it is an exercise, and no file with an answer is named"):
        submissions(Path("saxpy-guard"))
    with pytest.raises(CheckError, match="cannot be read: it is not a zip file"):
        submissions(Path(__file__))
    with pytest.raises(CheckError, match="no exercise 'no-such'"):
        submissions(tmp_path, ["no-such"])


def test_every_solution_of_the_course_is_found_in_its_notebook() -> None:
    from gpulab.grading import exercise_ids

    for id in exercise_ids():
        text = (ROOT / "solutions" / id / f"{id}.ipynb").read_text(encoding="utf-8")
        marked = [
            "".join(cell["source"])
            for cell in json.loads(text)["cells"]
            if cell["metadata"].get("nbgrader", {}).get("solution")
        ]
        asked = asked_by(id)
        assert answer(cells(text), asked) == (marked[0].partition("\n")[2] if asked.magic else marked[0])


@pytest.mark.parametrize(
    ("inside", "parts"),
    [
        ("ann/saxpy-guard.hip", [("saxpy-guard.hip",)]), ("saxpy-guard.hip", [("saxpy-guard.hip",)]),
        ("other/saxpy-guard.hip", [("other", "saxpy-guard.hip")]), ("ann", [("ann",)]),
        ("ann/ann/saxpy-guard.hip", [("ann", "saxpy-guard.hip")]),
    ],
)  # fmt: skip
def test_a_folder_named_like_the_students_zip_is_no_folder_of_its_own(
    tmp_path: Path, inside: str, parts: list[tuple[str, ...]]
) -> None:
    with zipfile.ZipFile(tmp_path / "ann.zip", "w") as packed:
        packed.writestr(inside, KERNEL)
    found = list(_unzipped(entries(tmp_path), opened=True))
    assert [(student, entry.parts) for student, entry in found] == [("ann", each) for each in parts]
    assert found[0][1].read() == KERNEL.encode()
    ((student, closed),) = _unzipped(entries(tmp_path), opened=False)
    assert (student, closed.parts) == ("ann", ("ann.zip",))
    with pytest.raises(Unreadable, match="a zip inside a zip is not opened"):
        closed.read()


def test_names_in_messages_are_three_at_most(tmp_path: Path) -> None:
    for student in ("x", "y"):
        (tmp_path / "empty" / student).mkdir(parents=True)
    for name in ("a.csv", "b.csv"):
        write(tmp_path / "empty" / name, "names")
    with pytest.raises(CheckError) as error:
        submissions(tmp_path / "empty")
    assert error.value.what == (
        f"There are no submissions in {tmp_path / 'empty'}, only empty folders or others' files (a.csv, b.csv, x)."
    )
    for count, names in ((3, "first-fill, saxpy-guard, wave-sum"), (4, "block-sum, first-fill, saxpy-guard ...")):
        for exercise in ("saxpy-guard", "first-fill", "wave-sum", "block-sum")[:count]:
            write(tmp_path / f"{count}" / exercise / "ann.hip", KERNEL)
        with pytest.raises(CheckError) as error:
            submissions(tmp_path / f"{count}")
        assert (
            error.value.what == f"In {tmp_path / f'{count}'} there are exercises ({names}) where students are expected."
        )


@pytest.mark.parametrize("text", ['{"cells": [0, 1, 2, 3]}', '{"cells": [[[[]]]]}', '{"cells": [{}, {}]}'])
def test_parts_of_a_notebook_are_counted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commas, and what opens lists and objects: five of them in each of these."""
    assert notebook.PARTS == 1_000_000
    monkeypatch.setattr(notebook, "PARTS", 5)
    assert notebook.cells(text) == []
    monkeypatch.setattr(notebook, "PARTS", 4)
    with pytest.raises(Unreadable, match="it has too many parts"):
        notebook.cells(text)


def test_the_longest_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of UTF-8 count, not letters."""
    assert notebook.ANSWER_BYTES == 256 * 1024
    monkeypatch.setattr(notebook, "ANSWER_BYTES", 2048)
    assert notebook.short("é" * 1024) == "é" * 1024
    with pytest.raises(Unreadable, match=r"^the answer is longer than 2 KB$"):
        notebook.short("é" * 1024 + "a")


@pytest.mark.parametrize(
    ("cell", "known"),
    [
        ('gpulab.check("a-1", f)', ["a-1"]), ("gpulab . exercise ( 'b' )", ["b"]), ('gpulab.hint("a-1")', []),
        ('%%hip\ngpulab.check("a-1", f)', []), ('%time gpulab.check("a-1", f)', ["a-1"]),
        ('mygpulab.check("a-1")', []), ('gpulab.check("a-1"), gpulab.check("b")', ["b", "a-1"]),
    ],
)  # fmt: skip
def test_exercises_of_a_notebook(cell: str, known: list[str]) -> None:
    """In the order in which they are known."""
    assert notebook.exercises_in([notebook.Cell(cell)], ["b", "a-1", "c"]) == known
    marked = notebook.Cell("x", "c-answer-12")
    assert notebook.exercises_in([notebook.Cell(cell), marked], ["b", "a-1", "c"]) == [*known, "c"]
    assert notebook.exercises_in([notebook.Cell("x", "c-answer-12b")], ["c"]) == []
