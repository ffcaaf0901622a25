"""Begins a new exercise: `make exercise NAME=my-exercise LESSON=06`, or `python course/new.py my-exercise 06`.

It copies course/template, which is a whole exercise with a kernel that works, to course/exercises/NAME. What its author
has to write stands there in «marks»; `python course/check.py` names those that are left. Then it says the next steps.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import build

SUFFIXES = (".md", ".py", ".toml", ".hip")

NEXT = """{folder} is begun: a kernel that works, with two right answers and five wrong ones. Now:

 1. Make it yours, from check.py on. docs/exercises.md lists the fields of an exercise and of wrong.toml.
    Each «mark» is to be replaced; this says what is still missing:
        python course/check.py --only {name} --no-answers
 2. Add it to the list under “## Exercises” in {lesson}:
        - [{name}](../exercises/{name}/{name}.ipynb): «what it is» (10 minutes)
 3. Build its notebooks and the lesson's:
        python course/build.py --only {name} {stem}
 4. Run all its answers: wrong ones must be rejected with their cause, right ones pass.
        python course/check.py --only {name}
"""


class Refused(Exception):
    """The exercise cannot be begun. The text says why and what to do."""


def lesson_named(words: str) -> Path:
    """The source of a lesson by its number ("06", "6") or its stem. Raises Refused if there is none."""
    lessons = sorted((build.COURSE / "lessons").glob("[0-9][0-9]_*.md"))
    found = [path for path in lessons if path.stem == words or path.stem.split("_")[0] == words.zfill(2)]
    if not found:
        raise Refused(
            f"There is no lesson {words!r}. Say LESSON= with one of: {', '.join(path.stem for path in lessons)}"
        )
    return found[0]


def begin(name: str, lesson: str) -> Path:
    """The folder of a new exercise of this lesson, copied from the template. Raises Refused."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise Refused(f"{name!r} is no name for an exercise. Say NAME= with lower case words joined by hyphens.")
    folder = build.COURSE / "exercises" / name
    if folder.exists():
        raise Refused(f"There is a folder {folder} already. Say NAME= with another name.")
    source = lesson_named(lesson)
    names = {"my-exercise": name, "00_lesson": source.stem, "lesson 00": f"lesson {source.stem.split('_')[0]}"}
    shutil.copytree(Path(__file__).resolve().parent / "template", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        if path.suffix in SUFFIXES:
            text = path.read_text(encoding="utf-8")
            for old, new in names.items():
                text = text.replace(old, new)
            path.write_text(text, encoding="utf-8", newline="\n")
    return folder


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Begin a new exercise.")
    parser.add_argument("name", help="lower case words joined by hyphens")
    parser.add_argument("lesson", help="the lesson that it belongs to: 06, or 06_occupancy")
    asked = parser.parse_args(arguments)
    try:
        folder = begin(asked.name, asked.lesson)
    except Refused as refused:
        print(refused)
        return 2
    lesson = lesson_named(asked.lesson)
    where, text = (path.relative_to(build.ROOT).as_posix() for path in (folder, lesson))
    print(NEXT.format(folder=where, name=asked.name, lesson=text, stem=lesson.stem))
    return 0


if __name__ == "__main__":
    sys.exit(main())
