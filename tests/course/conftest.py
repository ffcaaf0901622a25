"""Makes course/build.py importable as `build`, and keeps tests away from anyone's progress.

Notebooks that tests run find gpulab in this clone, installed or not.
"""

import os
import sys
from pathlib import Path

import pytest

from tests import warm

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "course"))


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("GPULAB_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))


@pytest.fixture
def quick_kernels(monkeypatch):
    """Notebooks that ask for Python get kernels of `tests.warm`."""
    monkeypatch.setenv("JUPYTER_PATH", str(warm.specs().instead))
