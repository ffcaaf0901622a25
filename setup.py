"""Puts the course into wheels, as gpulab/_course; everything else is said in pyproject.toml.

    _course/exercises/      the definitions of exercises, without answers (`ANSWERS`)
    _course/learners/       what learners get: notebooks/, exercises/, docs/, projects/

instructor/setup.py makes a wheel of the answers and the solutions.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ANSWERS = ("right", "wrong.toml", "exercise.md")
LEFT_OUT = ("__pycache__", ".*")


class BuildWithCourse(build_py):
    """build_py that also copies the course; an editable installation uses the clone's own folders."""

    def run(self) -> None:
        if not self.editable_mode:  # what an earlier build left must not come into this wheel
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "gpulab" / "_course"
            without = shutil.ignore_patterns(*LEFT_OUT, *ANSWERS)
            shutil.copytree(Path("course") / "exercises", target / "exercises", ignore=without)
            for part in ("notebooks", "exercises", "docs"):
                shutil.copytree(part, target / "learners" / part, ignore=shutil.ignore_patterns(*LEFT_OUT, "*.gif"))
            without = shutil.ignore_patterns(*LEFT_OUT, "build")
            shutil.copytree(Path("course") / "projects", target / "learners" / "projects", ignore=without)


setup(cmdclass={"build_py": BuildWithCourse})
