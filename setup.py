"""Puts the course's exercises into wheels, as gpulab/_course; everything else is said in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCourse(build_py):
    """build_py that also copies course/exercises; an editable installation uses the clone's own folder."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "gpulab" / "_course" / "exercises"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(Path("course") / "exercises", target, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": BuildWithCourse})
