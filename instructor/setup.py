"""Puts the solutions, and what a learner's package leaves out of the exercises' definitions, into gpulab/_course."""

import runpy
import shutil
import tomllib
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def learners_setup() -> dict:
    """The names of gpulab's setup.py: what it leaves out is what belongs here."""
    import setuptools

    before, setuptools.setup = setuptools.setup, lambda **_: None
    try:
        return runpy.run_path(str(ROOT / "setup.py"))
    finally:
        setuptools.setup = before


class BuildAnswers(build_py):
    def run(self) -> None:
        names = learners_setup()
        target = Path(self.build_lib) / "gpulab" / "_course"
        shutil.rmtree(self.build_lib, ignore_errors=True)  # of an earlier build
        left_out = shutil.ignore_patterns(*names["LEFT_OUT"])
        shutil.copytree(ROOT / "solutions", target / "solutions", ignore=left_out)
        for folder in sorted((ROOT / "course" / "exercises").iterdir()):
            for name in names["ANSWERS"]:
                path, to = folder / name, target / "exercises" / folder.name / name
                to.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    shutil.copytree(path, to, ignore=left_out)
                elif path.is_file():
                    shutil.copy(path, to)


class WithFiles(Distribution):
    """A distribution without modules of its own that has files to build all the same."""

    def has_pure_modules(self) -> bool:
        return True


setup(
    version=PROJECT["version"],
    install_requires=[f"gpulab=={PROJECT['version']}"],
    python_requires=PROJECT["requires-python"],
    packages=[],
    py_modules=[],
    cmdclass={"build_py": BuildAnswers},
    distclass=WithFiles,
)
