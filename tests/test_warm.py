"""Kernels of nbval (tests/warm): one that ends before it answers is started once more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests import warm

ROOT = Path(__file__).resolve().parents[1]


def test_what_fails_once_is_tried_again() -> None:
    tried: list[tuple[int, str]] = []

    def start(seconds: int, kernel: str = "") -> int:
        tried.append((seconds, kernel))
        if len(tried) % 3:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return len(tried)

    with pytest.raises(RuntimeError, match="died"):
        warm.again(start)(60, kernel="warm")
    assert warm.again(start)(5) == 3
    assert tried == [(60, "warm"), (60, "warm"), (5, "")]


@pytest.mark.full
def test_a_notebook_whose_first_kernel_ends_at_once(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1 + 1)")])
    notebook.cells[0].execution_count = 1
    notebook.cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text="2\n")]
    nbformat.write(notebook, tmp_path / "sum.ipynb")
    (tmp_path / "ends.py").write_text(
        "import os, pathlib\n"
        "from ipykernel import kernelapp\n"
        "first = pathlib.Path(__file__).with_name('first')\n"
        "if not first.exists():\n"
        "    first.touch()\n"
        "    os._exit(1)\n"
        "kernelapp.launch_new_instance()\n"
    )
    spec = tmp_path / "jupyter" / "kernels" / "ends" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, str(tmp_path / "ends.py"), "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "ends", "language": "python"}))
    own = ("--noconftest", "-p", "conftest", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"))
    wherever = ("--rootdir", str(ROOT), "--collect-in-virtualenv")  # the folder of temporary files may be within .venv
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            *own,
            *wherever,
            "--nbval",
            "--nbval-kernel-name=ends",
            str(tmp_path / "sum.ipynb"),
        ],
        cwd=ROOT,
        env={**os.environ, "JUPYTER_PATH": str(tmp_path / "jupyter")},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert "1 passed" in ran.stdout, ran.stdout[-2000:] + ran.stderr[-1000:]
    assert (tmp_path / "first").exists()
