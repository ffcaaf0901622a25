"""Every block of code in README, docs and docstrings is run: here, or by the test that is named for its page."""

from __future__ import annotations

import ast
import contextlib
import doctest
import glob
import importlib.util
import io
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import gpulab
from gpulab import cli
from gpulab.programs import arguments as driver

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
TESTED = {
    "README.md": __file__,
    "docs/exercises.md": __file__,
    "docs/guests.md": str(ROOT / "tests" / "guests" / "test_triton.py"),
    "docs/assembly.md": str(ROOT / "tests" / "languages" / "test_assembly_page.py"),
    "docs/grading.md": str(ROOT / "tests" / "classroom" / "test_command.py"),
    "docs/add-a-language.md": str(ROOT / "tests" / "languages" / "test_adding.py"),
}
"""Page with blocks -> the test that runs them."""


def blocks(page: str) -> list[tuple[str, str]]:
    """(language, text) of each fenced block of a page."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def pages() -> list[str]:
    found = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "course" / "README.md",
        ROOT / "tests" / "README.md",
    ]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[InteractiveShell]:
    monkeypatch.chdir(tmp_path)
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(history_load_length=0)
    gpulab.load_ipython_extension(made)
    yield made
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, text: str) -> str:
    """What a cell prints. A comment behind a print is what its line must be."""
    with capture_output() as captured:
        result = shell.run_cell(text)
    error = result.error_before_exec or result.error_in_exec
    assert error is None, f"{error}\n{text}"
    expected = re.findall(r"^print\(.*\)  # (.*)$", text, re.M)
    assert captured.stdout.splitlines()[: len(expected)] == expected or not expected, captured.stdout
    return captured.stdout


def test_blocks_of_readme_run_in_their_order(shell: InteractiveShell) -> None:
    found = blocks("README.md")
    assert [language for language, _ in found] == ["python", "", "python", "python", "python"]
    for _, text in found:
        run(shell, text)


def test_names_that_readme_gives_in_comments_exist(shell: InteractiveShell) -> None:
    found = blocks("README.md")
    for _, text in found[:4]:
        run(shell, text)
    named = re.findall(r"run\.\w+(?:\(\))?", found[3][1].split("with gpulab.checked")[0])
    assert len(named) >= 3
    for expression in named:
        run(shell, f"str({expression})")


def test_a_cell_that_fails_and_a_line_that_differs_are_found(shell: InteractiveShell) -> None:
    with pytest.raises(AssertionError, match="nothing_of_that_name"):
        run(shell, "nothing_of_that_name")
    with pytest.raises(AssertionError):
        run(shell, "print(1 + 1)  # 3")


def test_the_example_of_a_wrong_answer_is_one() -> None:
    from gpulab.grading.answers import edited, right_answers, wrong_answers

    (language, text), *more = blocks("docs/exercises.md")
    assert language == "toml"
    assert not more
    example = tomllib.loads(text)["guard-one-too-far"]
    real = {each.name: each for each in wrong_answers("first-fill")}["guard-one-too-far"]
    assert example["cause"] == real.cause
    assert edited(right_answers("first-fill")[example["of"]], example["edit"]) == real.source


@pytest.mark.parametrize("page", pages())
def test_each_page_with_blocks_has_a_test(page: str) -> None:
    if not blocks(page):
        return
    assert page in TESTED, f"{page} has blocks of code: run them in a test, and name it in TESTED"
    assert Path(page).name in Path(TESTED[page]).read_text(encoding="utf-8")


def indented(page: str) -> list[str]:
    """Blocks of a page that are indented by four columns, as they would be typed."""
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    found = re.findall(r"(?:^\n|\A)((?:^(?: {4}.*)?\n)+)", text, re.M)
    return [textwrap.dedent(block).strip() for block in found if block.strip()]


PYTHON = ("docs/checked.md", "docs/profiling.md", "docs/weak.md")
"""Pages whose indented blocks are Python."""


@pytest.mark.parametrize("page", PYTHON)
def test_indented_python_runs(shell: InteractiveShell, page: str) -> None:
    """With the kernel and the arrays of README."""
    for _, text in blocks("README.md")[:4]:
        run(shell, text)
    found = indented(page)
    assert found
    for text in found:
        run(shell, text)


def commands() -> list[tuple[str, str]]:
    """(page, command) for each line of an indented block that begins with a command of the project."""
    found = []
    for page in pages():
        for line in "\n".join(indented(page)).splitlines():
            words = re.split(r"\s+#|\s{3,}", line.strip())[0].removeprefix("mkdir gpu && cd gpu && ")
            words = re.sub(r"\[(--[^\]]*)\]", r"\1", re.sub(r"^(?:/srv/gpulab/env|\.venv)/bin/", "", words))
            if re.match(r"gpulab |make |python3? (?!-m (?:venv|pip|pytest))", words):
                found.append((page, words))
    return found


def test_the_commands_of_the_pages_are_found() -> None:
    pages_, texts = zip(*commands(), strict=True)
    assert {"README.md", "docs/grading.md", "docs/porting.md", "docs/delivery.md", "docs/hub.md"} <= set(pages_)
    assert len(set(texts)) > 20


@pytest.mark.parametrize(("page", "words"), commands())
def test_a_command_of_a_page_exists(page: str, words: str) -> None:
    """Its target, its file, or its options: gpulab's own parser takes them. Nothing is run here."""
    program, *arguments = shlex.split(words)
    if program == "gpulab" and arguments[0] == "hipcc":  # what follows is the compiler's
        driver.read(arguments[1:])
    elif program == "gpulab":
        cli.parser().parse_args(arguments)
    elif program == "make" and arguments[0].startswith("-"):
        assert "own Makefile" in (ROOT / page).read_text(encoding="utf-8"), page  # of a project that somebody has
    elif program == "make":
        assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    elif arguments[0] == "-c":
        compile(arguments[1], page, "exec")
    elif arguments[0] == "-m":
        assert importlib.util.find_spec(arguments[1])
    else:
        assert (ROOT / arguments[0]).is_file() or arguments[0].endswith("/install.py"), page  # a bundle's own file


NAMED = re.compile(
    r"(?<![\w./<-])((?:gpulab|tests|docs|tools|course|bench|deploy|instructor|notebooks|\.ci)/[\w./*-]*[\w*])"
    r"|\[[^\]]+\]\(([\w./-]+\.(?:md|py|ipynb|txt|toml|yaml|html))\b"
)
"""A file or folder of the project in a text, or what a link leads to."""
PLACEHOLDER = re.compile(r"NAME|NNNN|NN_name|\bID\b|KIND|/name\.|formulas|/data$")
"""A name that stands for others, or for what a page's reader is about to write."""


@pytest.mark.parametrize("page", pages())
def test_files_that_a_page_names_exist(page: str) -> None:
    places = (ROOT, (ROOT / page).parent, ROOT / "gpulab", ROOT / "gpulab" / "virtual_gpu", ROOT / "notebooks")
    for name, link in NAMED.findall(BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))):
        if not PLACEHOLDER.search(name or link):
            assert any(glob.glob(str(place / (name or link))) for place in places), f"{page} names {name or link}"


@pytest.mark.parametrize("page", pages())
def test_verbs_of_make_that_a_page_names_exist(page: str) -> None:
    verbs = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for verb in re.findall(r"`make ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert verb in verbs, f"{page} names make {verb}"


def test_a_command_that_does_not_exist_is_found() -> None:
    with pytest.raises(SystemExit):
        test_a_command_of_a_page_exists("README.md", "gpulab doctor --quickly")
    with pytest.raises(AssertionError):
        test_a_command_of_a_page_exists("README.md", "make nothing")


def docstrings() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "gpulab").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}", text


def test_examples_of_docstrings_run() -> None:
    """Those that Python's doctest knows; a fence would not be run, so there is none."""
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(verbose=False)
    seen = 0
    for name, text in docstrings():
        seen += 1
        assert "```" not in text, f"{name}: write the example as a doctest (>>>)"
        examples = parser.get_doctest(text, {"gpulab": gpulab}, name, name, 0)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            failed = runner.run(examples, out=said.write).failed
        assert not failed, said.getvalue()
    assert seen > 1000
