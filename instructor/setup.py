"""Puts the solutions, and the exercises' definitions with their answers, into the folder gpulab_instructor."""

import shutil
import tomllib
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


class BuildAnswers(build_py):
    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)  # of an earlier build
        target = Path(self.build_lib) / "gpulab_instructor"
        left_out = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / "solutions", target / "solutions", ignore=left_out)
        shutil.copytree(ROOT / "course" / "exercises", target / "exercises", ignore=left_out)


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
