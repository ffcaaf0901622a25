"""Imports run downward only: the contracts of ARCHITECTURE.md (in pyproject.toml) hold, and cover every module."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]


def contracts() -> dict[str, dict]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return {contract["id"]: contract for contract in settings["contracts"]}


def test_contracts_hold() -> None:
    """The layers of the top level and of the virtual GPU, who may name the virtual GPU, and what isa may know."""
    found = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    assert f"{len(contracts())} kept, 0 broken" in " ".join(found.stdout.split()), found.stdout


def test_no_circle_hides_behind_type_checking(tmp_path: Path) -> None:
    """Inside the virtual GPU the layers hold for imports that only types need, too."""
    text = (ROOT / "pyproject.toml").read_text()
    counted = text.replace("exclude_type_checking_imports = true", "exclude_type_checking_imports = false")
    assert counted != text
    (tmp_path / "settings.toml").write_text(counted)
    found = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache",
         "--config", str(tmp_path / "settings.toml"), "--contract", "virtual_gpu", "--contract", "runtime",
         "--contract", "machine"],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    assert "3 kept, 0 broken" in " ".join(found.stdout.split()), found.stdout


def test_a_broken_import_is_noticed(tmp_path: Path) -> None:
    """The linter run above would fail for an upward import: the same contract over a copy with one in it."""
    import shutil

    shutil.copytree(ROOT / "gpulab", tmp_path / "gpulab", ignore=shutil.ignore_patterns("__pycache__", "include"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "gpulab" / "records.py").open("a") as file:
        file.write("\n\ndef upward():\n    import gpulab.module\n")
    found = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache",
         "--contract", "layers"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert found.returncode == 1, found.stdout + found.stderr
    assert "gpulab.records is not allowed to import gpulab.module" in found.stdout


def test_every_module_stands_in_a_layer() -> None:
    """No module of these folders is outside the layers (the contracts are exhaustive), and none is invented."""
    for name, folder, ignored in (
        ("layers", ROOT / "gpulab", {"__main__"}),
        ("virtual_gpu", ROOT / "gpulab" / "virtual_gpu", set()),
        ("providers", ROOT / "gpulab" / "providers", set()),
    ):
        contract = contracts()[name]
        assert contract["exhaustive"] is True
        named = {part.strip() for layer in contract["layers"] for part in layer.replace("|", ":").split(":")}
        there = {path.stem for path in folder.glob("*.py")} | {
            path.parent.name for path in folder.glob("*/__init__.py")
        }
        assert named == there - ignored - {"__init__"}


@pytest.mark.parametrize("name", ["libraries", "runtime", "grading"])
def test_layers_without_hidden_circles(name: str) -> None:
    """These layers hold for imports under TYPE_CHECKING, too, which the contracts leave out."""
    graph = grimp.build_graph("gpulab", exclude_type_checking_imports=False, cache_dir=None)
    contract = contracts()[name]
    layers = [grimp.Layer(*(part.strip() for part in layer.split("|"))) for layer in contract["layers"]]
    found = graph.find_illegal_dependencies_for_layers(layers=layers, containers=set(contract["containers"]))
    assert [(one.importer, one.imported) for one in found] == []


def test_importing_gpulab_is_light() -> None:
    """`import gpulab` loads neither numpy, LLVM, IPython, the compiler nor the virtual GPU."""
    code = "import sys, gpulab; print(' '.join(m for m in sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(found.stdout.split())
    heavy = {
        "numpy",
        "llvmlite",
        "IPython",
        "matplotlib",
        "yaml",
        "hip",
        "gpulab.virtual_gpu",
        "gpulab.toolchain.build",
    }
    assert not loaded & heavy
